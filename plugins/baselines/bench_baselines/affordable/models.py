"""Models of sets of features: fitted with early stopping, and evaluated on rows that they did not see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from bench_models.boosting import BoostedModel, fit_boosted
from bench_models.folds import folds, taking
from bench_models.linear import fit_logistic, fit_ridge
from numpy.typing import NDArray

from bench_baselines.affordable.policy import Linear, answers
from bench_core import Part, Problem

if TYPE_CHECKING:
    from bench_baselines.affordable.search import Subset

__all__ = ["Models"]

_FOLDS = 3
_ENOUGH_ROWS = 400
"""Number of validation rows from which these evaluate models. With fewer, accuracy has a standard error above 2.5
points, so folds of the training part are used, which has about three times as many rows but needs three times as many
fits."""
_TOLERANCE, _NEWTON_UP_TO = 1e-5, 150
"""Largest number of coefficients of logistic regression for Newton's method; above it, a Hessian costs more than it
saves."""
_LEAST = 1e-15
"""Lower bound of probabilities in a log loss."""
_MOST_PERMUTED = 64
"""Maximum number of features to permute; with more, the trees' own gains are used."""
_PERMUTED_VALUES, _MOST_TIMES = 1000, 10
"""Target number of permuted rows per feature: permutations are repeated at least once and at most ten times."""
_MOST_VALUES = 4_000_000
"""Number of values given to a model at a time."""


class Settings(Protocol):
    """The method's parameters that are used here; see `bench_baselines.affordable.method.AffordableSubset`."""

    @property
    def n_estimators(self) -> int: ...
    @property
    def patience(self) -> int: ...
    @property
    def max_leaf_nodes(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def min_samples_leaf(self) -> int: ...
    @property
    def C(self) -> float: ...


class Models:
    """The models of one problem.

    Args:
        method: its settings.
        problem: the training part fits, the validation part stops boosting. Models are evaluated out of fold on thirds
            of the training part, or on the validation part if it has many rows.

    Attributes:
        y: the true values of the evaluation rows, in the order of `shown`.
    """

    def __init__(self, method: Settings, problem: Problem) -> None:
        self.method, self.problem = method, problem
        self._known: dict[tuple[Subset, str], tuple[BoostedModel | Linear, ...]] = {}
        self._shown: dict[tuple[Subset, str], NDArray[np.float64]] = {}
        self._losses: dict[tuple[Subset, str], float] = {}
        every = np.arange(len(problem.train))
        parts = folds(problem, _FOLDS) if len(problem.validation) < _ENOUGH_ROWS and len(every) > 1 else []
        if len(parts) > 1:
            self._folds = [(taking(problem, np.setdiff1d(every, rows)), taking(problem, rows).train) for rows in parts]
        else:
            self._folds = [(problem, problem.validation if len(problem.validation) else problem.train)]
        self.y = np.concatenate([part.y for _, part in self._folds])

    def fit(self, features: Subset, kind: str, problem: Problem, rounds: int | None = None) -> BoostedModel | Linear:
        """Return the model of a set, fitted on a problem.

        Args:
            features: the set.
            kind: ``lightgbm`` (stopped early by the validation part), or ``logistic`` (ridge regression for values; a
                missing value counts as 0).
            problem: this one, with other training rows.
            rounds: rounds of LightGBM; None: stopped early.
        """
        own, columns = self.method, problem.columns_of_set(features)
        if kind == "lightgbm":
            return fit_boosted(
                problem, columns, own.n_estimators if rounds is None else rounds, own.max_leaf_nodes,
                own.learning_rate, own.min_samples_leaf, "pointwise", patience=own.patience if rounds is None else 0,
            )  # fmt: skip
        filled = replace(problem, train=_without_missing(problem.train))
        return (
            fit_logistic(filled, columns, own.C, tol=1e-6) if problem.n_classes else fit_ridge(filled, columns, own.C)
        )

    def final(self, features: Subset, kind: str) -> BoostedModel | Linear:
        """Return the model of a set on the complete training part."""
        return self.fit(features, kind, self.problem) if len(self._folds) > 1 else self._of_folds(features, kind)[0]

    def _of_folds(self, features: Subset, kind: str) -> tuple[BoostedModel | Linear, ...]:
        key = features, kind
        if key not in self._known:
            self._known[key] = tuple(self.fit(features, kind, others) for others, _ in self._folds)
        return self._known[key]

    def shown(self, features: Subset, kind: str) -> NDArray[np.float64]:
        """Return a set's answers for the evaluation rows, from models that did not see them."""
        key = features, kind
        if key not in self._shown:
            models = zip(self._of_folds(features, kind), self._folds, strict=True)
            self._shown[key] = np.concatenate([answers(model, part.X) for model, (_, part) in models])
        return self._shown[key]

    def loss(self, answer: NDArray[np.float64], y: NDArray[Any] | None = None) -> float:
        """Return the mean log loss of probabilities, or the mean squared error of values, on the evaluation rows."""
        y = self.y if y is None else y
        if answer.ndim == 1:
            return float(((answer - y) ** 2).mean())
        shares = answer[np.arange(len(y)), np.asarray(y, dtype=np.int64)]
        return float(-np.log(np.maximum(shares, _LEAST)).mean())

    def loss_of(self, features: Subset, kind: str) -> float:
        """Return the loss of a set's models on the evaluation rows."""
        key = features, kind
        if key not in self._losses:
            self._losses[key] = self.loss(self.shown(features, kind))
        return self._losses[key]

    def gains(self, features: Subset, kind: str) -> dict[Subset, float]:
        """Return the growth of the loss on the evaluation rows when a feature's values are permuted among them.

        Features that share a group are also permuted together. If the trees use many features, the trees' own gains
        replace the permutations.

        Source: Breiman, Random forests, 2001, §10 (permutation importance).
        """
        problem = self.problem
        units: list[Subset] = [(f,) for f in features]
        groups = problem.costs.groups
        if groups is not None:
            shared = [tuple(f for f in features if groups[f] == g) for g in np.unique(groups[groups >= 0])]
            units += [unit for unit in shared if len(unit) > 1]
        permuted = units
        if kind == "lightgbm":
            own = self._own_gains(features)
            used = {unit: float(own[list(unit)].sum()) for unit in units}
            permuted = [unit for unit in units if used[unit] > 0]
            if len(permuted) > _MOST_PERMUTED:
                total = float(own.sum())
                return {unit: gain / total for unit, gain in used.items()}
        rng = problem.rng("permutations")
        times = min(max(1, _PERMUTED_VALUES // len(self.y)), _MOST_TIMES)
        gained = dict.fromkeys(units, 0.0)
        for model, (_, part) in zip(self._of_folds(features, kind), self._folds, strict=True):
            intact, share = self.loss(answers(model, part.X), part.y), len(part) / len(self.y)
            at_once = max(1, _MOST_VALUES // max(part.X.size, 1))
            for order in [rng.permutation(len(part)) for _ in range(times)]:
                for start in range(0, len(permuted), at_once):
                    chunk = permuted[start : start + at_once]
                    X = np.tile(part.X, (len(chunk), 1, 1))
                    for place, unit in enumerate(chunk):
                        columns = problem.columns_of_set(unit)
                        X[place][:, columns] = part.X[np.ix_(order, columns)]
                    shown = np.split(answers(model, X.reshape(-1, X.shape[-1])), len(chunk))
                    for unit, answer in zip(chunk, shown, strict=True):
                        gained[unit] += share * (self.loss(answer, part.y) - intact) / times
        return gained

    def order(self, features: Subset) -> list[int]:
        """Return the features by their gain in LightGBM's trees on all of them, greatest first."""
        gain = self._own_gains(features)
        return sorted(features, key=lambda f: (-gain[f], f))

    def _own_gains(self, features: Subset) -> NDArray[np.float64]:
        """Return the gain of each feature in LightGBM's trees on a set, float64 (features,)."""
        total = np.zeros(self.problem.n_features)
        for model in self._of_folds(features, "lightgbm"):
            assert isinstance(model, BoostedModel)
            gain = model.booster.feature_importance("gain")
            np.add.at(total, self.problem.feature_of_column[model.columns], gain)
        return total


def _without_missing(part: Part) -> Part:
    return replace(part, X=np.where(np.isnan(part.X), 0.0, part.X))
