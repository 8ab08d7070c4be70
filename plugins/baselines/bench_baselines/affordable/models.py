"""Models of sets of features, evaluated on rows that they did not see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from bench_models.boosting import BoostedModel, fit_boosted
from bench_models.folds import folds, others, taking
from bench_models.linear import fit_logistic, fit_ridge
from numpy.typing import NDArray

from bench_baselines.affordable.policy import Linear, answers
from bench_core import Part, Problem

if TYPE_CHECKING:
    from bench_baselines.forward_selection.search import Subset

__all__ = ["Models", "fit_model", "gains_of"]

_FOLDS, _LEAST_COLUMNS = 3, 2
_ENOUGH_ROWS = 400
"""From this many validation rows on, models are evaluated on them, which saves two of three fits. With fewer, accuracy
has a standard error above 2.5 points, so folds of the training part, about three times as large, are used."""


class Settings(Protocol):
    """The method's parameters that are used here; see `bench_baselines.affordable.method.AffordableSubset`."""

    @property
    def n_estimators(self) -> int: ...
    @property
    def max_leaf_nodes(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def min_samples_leaf(self) -> int: ...
    @property
    def row_share(self) -> float: ...
    @property
    def column_share(self) -> float: ...
    @property
    def C(self) -> float: ...


def fit_model(method: Settings, problem: Problem, features: Subset, kind: str) -> BoostedModel | Linear:
    """Return the model of a set of features, fitted on the training part.

    Args:
        method: its settings.
        problem: the problem.
        features: the set.
        kind: ``lightgbm``, or ``logistic`` (ridge regression for values; a missing value counts as 0).
    """
    columns = problem.columns_of_set(features)
    if kind == "lightgbm":
        # A tree that is grown on a single column has no interaction of features.
        column_share = max(method.column_share, min(1.0, _LEAST_COLUMNS / len(columns)))
        return fit_boosted(
            problem, columns, method.n_estimators, method.max_leaf_nodes, method.learning_rate,
            method.min_samples_leaf, "pointwise", row_share=method.row_share, column_share=column_share,
        )  # fmt: skip
    train = replace(problem.train, X=np.where(np.isnan(problem.train.X), 0.0, problem.train.X))
    filled = replace(problem, train=train)
    if problem.n_classes:
        return fit_logistic(filled, columns, method.C, tol=1e-6)
    return fit_ridge(filled, columns, method.C)


def gains_of(method: Settings, problem: Problem) -> dict[int, float]:
    """Return the total gain of each feature in LightGBM's trees on all features of the training part."""
    total = np.zeros(problem.n_features)
    model = fit_model(method, problem, tuple(range(problem.n_features)), "lightgbm")
    assert isinstance(model, BoostedModel)
    np.add.at(total, problem.feature_of_column[model.columns], model.booster.feature_importance("gain"))
    return dict(enumerate(total.tolist()))


class Models:
    """The models of one problem.

    Args:
        method: its settings.
        problem: models are fitted on its training part. They are evaluated out of fold on thirds of it, or on the
            validation part if that has many rows.

    Attributes:
        y: the true values of the evaluation rows, in the order of `shown`.
        searched, judging: bool (rows,): the halves of these rows on which sets of features are searched, and compared,
            since the loss on the rows of the search is too low. With a single row, both are that row.
    """

    def __init__(self, method: Settings, problem: Problem) -> None:
        self.method, self.problem = method, problem
        self._shown: dict[tuple[Subset, str], NDArray[np.float64]] = {}
        self._fitted: dict[tuple[Subset, str], BoostedModel | Linear] = {}
        self._losses: dict[tuple[Subset, str], float] = {}
        parts = folds(problem, _FOLDS) if len(problem.validation) < _ENOUGH_ROWS and len(problem.train) > 1 else []
        self._folds = [(taking(problem, others(problem, rows)), taking(problem, rows).train) for rows in parts]
        if len(parts) < 2:
            self._folds = [(problem, problem.validation if len(problem.validation) else problem.train)]
        self.y = np.concatenate([part.y for _, part in self._folds])
        self.searched = np.concatenate([_half(part) for _, part in self._folds])
        self.judging = self.searched if self.searched.all() else ~self.searched

    def fitted(self, features: Subset, kind: str) -> BoostedModel | Linear:
        """Return the model of a set on the complete training part; it is fitted at the first call."""
        key = features, kind
        if key not in self._fitted:
            self._fitted[key] = fit_model(self.method, self.problem, features, kind)
        return self._fitted[key]

    def shown(self, features: Subset, kind: str) -> NDArray[np.float64]:
        """Return a set's answers for the evaluation rows, from models that did not see them."""
        key = features, kind
        if key not in self._shown:
            if len(self._folds) == 1:
                models = [self.fitted(features, kind)]
            else:
                models = [fit_model(self.method, others, features, kind) for others, _ in self._folds]
            parts = zip(models, self._folds, strict=True)
            self._shown[key] = np.concatenate([answers(model, part.X) for model, (_, part) in parts])
        return self._shown[key]

    def losses(self, answer: NDArray[np.float64], rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the squared error of values, or of probabilities (Brier score), on some of the evaluation rows.

        Args:
            answer: as from `shown`, on all rows.
            rows: bool (evaluation rows,).
        """
        answer, y = answer[rows], self.y[rows]
        if answer.ndim == 1:
            return np.asarray((answer - y) ** 2)
        true = np.arange(answer.shape[1]) == np.asarray(y, dtype=np.int64)[:, None]
        return np.asarray(((answer - true) ** 2).sum(axis=1))

    def loss_of(self, features: Subset, kind: str) -> float:
        """Return the mean loss of a set's models on the searched rows."""
        key = features, kind
        if key not in self._losses:
            self._losses[key] = float(self.losses(self.shown(features, kind), self.searched).mean())
        return self._losses[key]


def _half(part: Part) -> NDArray[np.bool_]:
    """Return every second row in the order of its label, at least one: bool (rows,)."""
    y: NDArray[Any] = part.y
    half = np.zeros(len(y), dtype=bool)
    half[np.argsort(y, kind="stable")[::2]] = True
    return half
