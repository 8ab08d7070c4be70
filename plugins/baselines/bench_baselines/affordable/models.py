"""Models of sets of features: fitted with early stopping, blended by the validation part, and judged by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from bench_models.boosting import BoostedModel, fit_boosted
from bench_models.linear import fit_logistic, fit_ridge
from numpy.typing import NDArray

from bench_baselines.affordable.policy import BlendPolicy, Linear, answers
from bench_core import Part, Problem

if TYPE_CHECKING:
    from bench_baselines.affordable.search import Subset

__all__ = ["Models"]

_WEIGHTS = (1.0, 0.75, 0.5, 0.25, 0.0)
_LEAST = 1e-15
"""Probabilities are held above this in a log loss."""
_MOST_PERMUTED = 64
"""Features permuted at most; of more, the trees' own gains are used."""
_PERMUTED_VALUES = 3000
"""Rows are permuted so often that about so many rows are answered for a feature, at least once."""


class Settings(Protocol):
    """The method's parameters that are used here; see `bench_baselines.affordable.method.AffordableSubset`."""

    @property
    def kinds(self) -> tuple[str, ...]: ...
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
        problem: the training part fits, the validation part stops, blends and judges (the training part where there is
            no validation row).
    """

    def __init__(self, method: Settings, problem: Problem) -> None:
        self.method, self.problem = method, problem
        self.judging = problem.validation if len(problem.validation) else problem.train
        self._filled = replace(problem, train=_without_missing(problem.train))
        self._known: dict[tuple[Subset, str], BoostedModel | Linear] = {}

    def boosted(self, features: Subset, rounds: int | None = None) -> BoostedModel:
        """Return LightGBM on a set: stopped early by the validation part, or after so many rounds."""
        own, problem = self.method, self.problem
        return fit_boosted(
            problem, problem.columns_of_set(features), own.n_estimators if rounds is None else rounds,
            own.max_leaf_nodes, own.learning_rate, own.min_samples_leaf, "pointwise",
            patience=own.patience if rounds is None else 0,
        )  # fmt: skip

    def linear(self, features: Subset) -> Linear:
        """Return logistic regression on a set, or ridge regression of values; a missing value counts as 0."""
        columns = self.problem.columns_of_set(features)
        if self.problem.n_classes:
            return fit_logistic(self._filled, columns, self.method.C, tol=1e-6)
        return fit_ridge(self._filled, columns, self.method.C)

    def fitted(self, features: Subset, kind: str) -> BoostedModel | Linear:
        """Return the model of a set, ``lightgbm`` or ``logistic``, fitted once."""
        key = features, kind
        if key not in self._known:
            self._known[key] = self.boosted(features) if kind == "lightgbm" else self.linear(features)
        return self._known[key]

    def loss(self, answer: NDArray[np.float64], y: NDArray[Any]) -> float:
        """Return the mean log loss of probabilities, or the mean squared error of values."""
        if answer.ndim == 1:
            return float(((answer - y) ** 2).mean())
        shares = answer[np.arange(len(y)), np.asarray(y, dtype=np.int64)]
        return float(-np.log(np.maximum(shares, _LEAST)).mean())

    def loss_of(self, features: Subset, kind: str) -> float:
        """Return the loss of a set's model on the judging rows."""
        return self.loss(answers(self.fitted(features, kind), self.judging.X), self.judging.y)

    def gains(self, features: Subset, kind: str) -> dict[Subset, float]:
        """Return how much the loss on the judging rows grows when a feature's values are permuted among them.

        Features that share a group are also permuted together. With many features in use by the trees, the trees' own
        gains take the place of the permutations.

        Source: Breiman, Random forests, 2001, §10 (permutation importance).
        """
        model, part, problem = self.fitted(features, kind), self.judging, self.problem
        units: list[Subset] = [(f,) for f in features]
        groups = problem.costs.groups
        if groups is not None:
            shared = [tuple(f for f in features if groups[f] == g) for g in np.unique(groups[groups >= 0])]
            units += [unit for unit in shared if len(unit) > 1]
        used = dict.fromkeys(units, 1.0)
        if isinstance(model, BoostedModel):
            of_column = np.zeros(problem.train.X.shape[1])
            of_column[model.columns] = model.booster.feature_importance("gain")
            used = {unit: float(of_column[problem.columns_of_set(unit)].sum()) for unit in units}
        permuted = [unit for unit in units if used[unit] > 0]
        if len(permuted) > _MOST_PERMUTED:
            total = sum(used[(f,)] for f in features)
            return {unit: gain / total for unit, gain in used.items()}
        rng, y = problem.rng("permutations"), part.y
        base = self.loss(answers(model, part.X), y)
        times = max(1, _PERMUTED_VALUES // len(y)) if len(y) > 30 else 10
        gained = dict.fromkeys(units, 0.0)
        for order in [rng.permutation(len(y)) for _ in range(min(times, 10))]:
            for unit in permuted:
                columns = problem.columns_of_set(unit)
                X = part.X.copy()
                X[:, columns] = part.X[np.ix_(order, columns)]
                gained[unit] += (self.loss(answers(model, X), y) - base) / min(times, 10)
        return gained

    def order(self, features: Subset) -> list[int]:
        """Return the features by their gain in LightGBM's trees on all of them, greatest first."""
        model = self.fitted(features, "lightgbm")
        assert isinstance(model, BoostedModel)
        of_column = np.zeros(self.problem.train.X.shape[1])
        of_column[model.columns] = model.booster.feature_importance("gain")
        gain = {f: float(of_column[self.problem.columns_of(f)].sum()) for f in features}
        return sorted(features, key=lambda f: (-gain[f], f))

    def blend(self, features: Subset) -> tuple[float, BlendPolicy]:
        """Return the loss on the judging rows and the policy of a set; a blend's weight is the best of five."""
        kinds = self.method.kinds
        part = self.judging
        shown = {kind: answers(self.fitted(features, kind), part.X) for kind in kinds}
        best: tuple[float, float] | None = None
        for weight in _WEIGHTS if len(kinds) > 1 else (1.0 if kinds == ("lightgbm",) else 0.0,):
            mixed: Any = 0.0
            if weight:
                mixed = mixed + weight * shown["lightgbm"]
            if weight < 1:
                mixed = mixed + (1.0 - weight) * shown["logistic"]
            loss = self.loss(mixed, part.y)
            if best is None or loss < best[0]:
                best = loss, weight
        assert best is not None
        boosted = self.fitted(features, "lightgbm") if best[1] else None
        linear = self.fitted(features, "logistic") if best[1] < 1 else None
        return best[0], self.policy(features, boosted, linear, best[1], {})

    def policy(
        self, features: Subset, boosted: Any, linear: Any, weight: float, details: Mapping[str, Any], label: str = ""
    ) -> BlendPolicy:
        """Return a policy of this problem."""
        problem = self.problem
        return BlendPolicy(
            boosted, linear, weight, problem.n_features, features, problem.n_classes > 0, label, dict(details)
        )


def _without_missing(part: Part) -> Part:
    return replace(part, X=np.where(np.isnan(part.X), 0.0, part.X))
