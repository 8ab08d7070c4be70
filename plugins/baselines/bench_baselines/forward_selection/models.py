"""Models of sets of features, and their loss on the validation part; each set is fitted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench_models.boosting import BoostedModel, fit_boosted
from bench_models.linear import ClassModel, ScoreModel, fit_logistic, fit_ridge, refuse_missing
from numpy.typing import NDArray

from bench_core import Problem

if TYPE_CHECKING:
    from bench_baselines.forward_selection.method import ForwardSelection
    from bench_baselines.forward_selection.search import Subset

__all__ = ["Model", "SubsetModels", "mean_loss"]

Model = BoostedModel | ClassModel | ScoreModel
_LEAST = 1e-15
"""Probabilities are held above this in a log loss."""


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
        method: what to fit.
        problem: where. Its validation part judges; its training part where there is none.

    Attributes:
        tried: number of sets fitted.

    Raises:
        ValueError: missing values and a logistic regression.
    """

    def __init__(self, method: ForwardSelection, problem: Problem) -> None:
        self.method, self.problem, self.tried = method, problem, 0
        self._losses: dict[Subset, float] = {}
        if method.model == "logistic":
            refuse_missing(problem)

    def fitted(self, features: Subset) -> Model:
        """The model of a set: on the training part, with the columns of its features."""
        own, problem = self.method, self.problem
        columns = problem.columns_of_set(features)
        if own.model == "lightgbm" and len(columns):
            return fit_boosted(
                problem, columns, own.n_estimators, own.max_leaf_nodes, own.learning_rate, own.min_samples_leaf,
                ranking="pointwise",
            )  # fmt: skip
        if problem.n_classes:
            return fit_logistic(problem, columns, own.C)
        return fit_ridge(problem, columns, own.C)

    def loss(self, features: Subset) -> float:
        """The loss of a set's model on validation, see `mean_loss`."""
        if features not in self._losses:
            part = self.problem.validation if len(self.problem.validation) else self.problem.train
            model = self.fitted(features)
            self.tried += 1
            self._losses[features] = mean_loss(model, part.X, part.y)
        return self._losses[features]
