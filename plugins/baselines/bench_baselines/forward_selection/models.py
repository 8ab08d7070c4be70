"""Models of sets of features, and their loss out of fold on the training part; each set is fitted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench_models.boosting import BoostedModel, fit_boosted
from bench_models.folds import folds, others, taking
from bench_models.linear import ClassModel, ScoreModel, fit_logistic, fit_ridge, refuse_missing
from numpy.typing import NDArray

from bench_core import Problem

if TYPE_CHECKING:
    from bench_baselines.forward_selection.search import Subset

__all__ = ["Model", "SubsetModels", "mean_loss"]

Model = BoostedModel | ClassModel | ScoreModel
_FOLDS = 3
_LEAST = 1e-15
"""Lower bound of probabilities in a log loss."""


def mean_loss(model: Model, X: NDArray[np.float64], y: NDArray[Any]) -> float:
    """Mean log loss of class probabilities, or mean squared error; 0 without a row."""
    if not len(X):
        return 0.0
    if not isinstance(model, ClassModel) and (isinstance(model, ScoreModel) or not model.n_classes):
        return float(((model.score(X) - y) ** 2).mean())
    shares = model.probabilities(X)[np.arange(len(X)), np.asarray(y, dtype=np.int64)]
    return float(-np.log(np.maximum(shares, _LEAST)).mean())


class SubsetModels:
    """Models of sets of features of one problem.

    Args:
        problem: its training part is used, with thirds for out-of-fold losses. The validation part, which selects, is
            not used.
        model: ``logistic`` (ridge for values and grades) or ``lightgbm``.
        C: inverse strength of the logistic regression's l2 penalty.
        trees: LightGBM's ``n_estimators``, ``max_leaf_nodes``, ``learning_rate``, ``min_samples_leaf``.

    Attributes:
        tried: number of sets fitted.

    Raises:
        ValueError: features have missing values with ``logistic``.
    """

    def __init__(self, problem: Problem, model: str, C: float, trees: tuple[int, int, float, int]) -> None:
        self.problem, self.model, self.C, self.trees, self.tried = problem, model, C, trees, 0
        self._losses: dict[Subset, float] = {}
        if model == "logistic":
            refuse_missing(problem)
        parts = folds(problem, _FOLDS) if len(problem.train) > 1 else []
        self._folds = [(taking(problem, others(problem, rows)), taking(problem, rows).train) for rows in parts]

    def fitted(self, features: Subset) -> Model:
        """The model of a set, fitted on the training part with the columns of its features."""
        return self._fit(features, self.problem)

    def _fit(self, features: Subset, problem: Problem) -> Model:
        columns = problem.columns_of_set(features)
        if self.model == "lightgbm" and len(columns):
            return fit_boosted(problem, columns, *self.trees, ranking="pointwise")
        if problem.n_classes:
            return fit_logistic(problem, columns, self.C)
        return fit_ridge(problem, columns, self.C)

    def loss(self, features: Subset) -> float:
        """The loss of a set's models on the training rows that they were not fitted on, see `mean_loss`."""
        if features not in self._losses:
            self.tried += 1
            total = sum(
                len(part) * mean_loss(self._fit(features, others), part.X, part.y) for others, part in self._folds
            )
            self._losses[features] = total / max(len(self.problem.train), 1)
        return self._losses[features]
