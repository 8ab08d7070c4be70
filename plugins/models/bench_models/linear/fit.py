"""Fits l2 logistic regression and ridge regression on some columns with scikit-learn, to a tight tolerance.

With default tolerances, errors in the probabilities can move rows across a confidence threshold. Here, if Newton's
method is used, the gradient's largest entry is below 1e-10 (mean-loss scale).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_models.linear.model import ClassModel, ScoreModel, missing_message

__all__ = ["column_names", "constant_model", "fit_logistic", "fit_ridge", "refuse_missing"]

_NEWTON_PARAMETERS = 1500
"""Number of coefficients up to which the Hessian is built and factorised; above it, L-BFGS is used."""


def column_names(problem: Problem, columns: NDArray[np.int64]) -> tuple[str, ...]:
    """The feature that each of the columns belongs to, by name."""
    return tuple(problem.feature_names[feature] for feature in problem.feature_of_column[columns])


def refuse_missing(problem: Problem) -> None:
    """Refuse a problem with missing values, which a linear model cannot read.

    Raises:
        ValueError: features have NaN in the training or validation part; the message names them.
    """
    for part in (problem.train, problem.validation):
        holes = np.flatnonzero(np.isnan(part.X).any(axis=0))
        if len(holes):
            raise ValueError(missing_message(list(column_names(problem, holes))))


def constant_model(y: NDArray[Any], n_classes: int) -> ClassModel:
    """The model that reads nothing: class frequencies of ``y``, exactly (uniform when ``y`` is empty)."""
    counts = np.bincount(np.asarray(y, dtype=np.int64), minlength=n_classes).astype(np.float64)
    shares = counts / counts.sum() if counts.sum() > 0 else np.full(n_classes, 1.0 / n_classes)
    nothing = np.zeros(0, dtype=np.int64)
    return ClassModel(nothing, np.zeros((1, 0)), np.zeros(1), np.flatnonzero(counts), n_classes, (), constant=shares)


def fit_logistic(
    problem: Problem,
    columns: NDArray[np.int64],
    C: float = 1.0,
    tol: float = 1e-10,
    max_iter: int = 1000,
    newton_up_to: int = _NEWTON_PARAMETERS,
) -> ClassModel:
    """l2 logistic regression on some columns of the training part; multinomial for more than two classes.

    Minimises ``Σ loss + ‖β‖² / (2C)`` with an unpenalised intercept, as scikit-learn's LogisticRegression does. A class
    that the training part lacks gets probability 0; a single class, or no columns, gives a constant.

    Args:
        problem: a classification problem.
        columns: int64 (c,), ascending: the columns that the model may read.
        C: inverse strength of the penalty, on the sum-of-losses scale.
        tol: bound on the gradient's largest entry, mean-loss scale (Newton; L-BFGS may stop above it).
        max_iter: maximum number of iterations.
        newton_up_to: number of coefficients up to which Newton's method is used, and L-BFGS above.

    Raises:
        ValueError: a column holds NaN.
    """
    y = np.asarray(problem.train.y, dtype=np.int64)
    X = np.ascontiguousarray(problem.train.X[:, columns])
    _refuse_missing_columns(problem, X, columns)
    classes = np.unique(y)
    if len(classes) < 2 or not len(columns):
        return constant_model(y, problem.n_classes)
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    outputs = 1 if len(classes) == 2 else len(classes)
    newton = outputs * (len(columns) + 1) <= newton_up_to
    learner = LogisticRegression(C=C, solver="newton-cholesky" if newton else "lbfgs", tol=tol, max_iter=max_iter)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(X, y)
    return ClassModel(
        columns=columns,
        coef=np.ascontiguousarray(learner.coef_, dtype=np.float64),
        intercept=np.asarray(learner.intercept_, dtype=np.float64),
        classes=classes,
        n_classes=problem.n_classes,
        names=column_names(problem, columns),
        iterations=int(np.max(learner.n_iter_)),
        converged=not any(issubclass(warning.category, ConvergenceWarning) for warning in caught),
    )


def fit_ridge(problem: Problem, columns: NDArray[np.int64], C: float = 1.0) -> ScoreModel:
    """Ridge regression of the target (a value, or a ranking grade) on some columns of the training part.

    Minimises ``Σ (y − βx − b)² + ‖β‖² / C`` with an unpenalised intercept, by singular value decomposition.

    Raises:
        ValueError: a column holds NaN.
    """
    X = np.ascontiguousarray(problem.train.X[:, columns])
    _refuse_missing_columns(problem, X, columns)
    y = np.asarray(problem.train.y, dtype=np.float64)
    names = column_names(problem, columns)
    if not len(columns) or not len(y):
        return ScoreModel(columns, np.zeros(len(columns)), float(y.mean()) if len(y) else 0.0, names)
    from sklearn.linear_model import Ridge

    learner = Ridge(alpha=1.0 / C, solver="svd").fit(X, y)
    return ScoreModel(columns, np.asarray(learner.coef_, dtype=np.float64), float(learner.intercept_), names)


def _refuse_missing_columns(problem: Problem, X: NDArray[np.float64], columns: NDArray[np.int64]) -> None:
    holes = np.isnan(X).any(axis=0)
    if holes.any():
        raise ValueError(missing_message(list(column_names(problem, columns[holes]))))
