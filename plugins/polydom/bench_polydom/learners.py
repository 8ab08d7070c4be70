"""The learners that a suite can name, and their class probabilities."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["LearnerName", "class_probabilities", "make_learner"]

LearnerName = Literal["logistic", "linear-sgd", "tree"]


def make_learner(name: LearnerName, strength: float, seed: int) -> Any:
    """Create a scikit-learn classifier.

    Args:
        name: ``logistic`` (standardised, l2), ``linear-sgd`` (the paper's: standardised, linear, stochastic gradient
            descent, hinge loss, l1 penalty) or ``tree`` (depth ``strength``, at least 1).
        strength: inverse strength C of the penalty on the sum of losses; for ``linear-sgd``, alpha is
            1e-4 / strength.
        seed: seed of the classifier's randomness.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1000, tol=1e-8))
    if name == "linear-sgd":
        from sklearn.linear_model import SGDClassifier

        sgd = SGDClassifier(loss="hinge", penalty="l1", alpha=1e-4 / strength, random_state=seed)
        return make_pipeline(StandardScaler(), sgd)
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=max(1, round(strength)), random_state=seed)


def class_probabilities(model: Any, X: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Class probabilities of a fitted classifier: float64 (rows, n_classes).

    For a classifier without probabilities (hinge loss) they are computed from its scores: by the logistic function for
    two classes, by softmax for more. They are not calibrated; the most probable class is the classifier's prediction.

    Args:
        model: classifier fitted on class codes; classes that were not in its training rows have probability 0.
        X: float64 (rows, columns), with the model's columns.
        n_classes: number of classes of the problem.
    """
    table = np.zeros((len(X), n_classes))
    if not len(X):
        return table
    codes = np.asarray(model.classes if hasattr(model, "shares") else model.classes_, dtype=np.int64)
    if hasattr(model, "steps") and hasattr(model[-1], "coef_"):
        scores = _linear_scores(model, X)
    elif hasattr(model, "predict_proba"):
        table[:, codes] = model.predict_proba(X)
        return table
    else:
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        scores = scores[:, None] if scores.ndim == 1 else scores
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(X)), scores[:, 0]])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    table[:, codes] = weights / weights.sum(axis=1, keepdims=True)
    return table


def _linear_scores(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of a linear classifier after a scaler: float64 (rows, 1 or classes).

    They are summed column by column, without BLAS, so that equal rows get bit-identical scores anywhere in a batch.
    """
    last = model[-1]
    scores = np.tile(np.asarray(last.intercept_, dtype=np.float64), (len(X), 1))
    for column, weights in zip(model[:-1].transform(X).T, np.asarray(last.coef_).T, strict=True):
        scores += column[:, None] * weights
    return scores
