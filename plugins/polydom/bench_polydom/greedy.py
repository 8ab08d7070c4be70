"""Greedy, GreedyAcc and GreedyCost: feature sequences built for one item size, used for all sizes (PolyDom, "Greedy").

Offline, for each λ, the feature with the largest Δaccuracy − λ·Δcost at the median item size is added until no feature
is left. GreedyAcc is λ = 0; GreedyCost adds the cheapest feature. Online, the skyline at the median size gives the most
accurate set within the budget. The features of this set's sequence are added one by one, at their cost for the given
item, until the next one would exceed the budget.

Choices where the paper is silent: ties go to the lower feature number; a set found under several λ belongs to the first
of them; if no set fits at the median size, the sequence whose first feature is cheapest is followed (a smaller item may
fit). A set whose model cannot be trained stays in its sequence, but a look-up that ends there uses the longest earlier
set with a model.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates
from bench_polydom.index import NOTHING, Index, checked_query, halvings
from bench_polydom.lattice import Accuracy, Expansion, grown_sets, tried
from bench_polydom.polynomials import AFFORDABLE, evaluate

__all__ = ["LAMBDAS", "GreedyIndex", "grow"]

LAMBDAS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Default values of λ, in accuracy per unit of cost; 0 is accuracy only. The paper's values are not known."""

Curves = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""A function from sets, bit masks (sets,), to their cost curves, coefficients (sets, degree + 1)."""


@dataclass(frozen=True, eq=False)
class GreedySearch:
    """The result of the offline part.

    Attributes:
        sequences: for every λ, the sets (bit masks) from the empty set to all features.
        expansion: all sets whose model was trained.
        size: the item size at which costs were taken.
    """

    sequences: tuple[tuple[int, ...], ...]
    expansion: Expansion
    size: float


@dataclass
class _Trained:
    ask: Accuracy
    accuracies: dict[int, float] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)

    def __call__(self, mask: int) -> float:
        """The accuracy of a set's model; −∞ if it cannot be trained. A set is trained at its first call."""
        if mask not in self.accuracies and mask not in self.failures:
            value = tried(self.ask, mask)
            if isinstance(value, str):
                self.failures[mask] = value
            else:
                self.accuracies[mask] = value
        return self.accuracies.get(mask, -math.inf)


def grow(
    accuracy: Accuracy,
    n_features: int,
    curves: Curves,
    size: float,
    lambdas: Sequence[float] = LAMBDAS,
    by: Literal["gain", "cost"] = "gain",
) -> GreedySearch:
    """Build one feature sequence per λ: the offline part.

    Args:
        accuracy: trains a model on a set of features and returns its accuracy.
        n_features: number d of features.
        curves: returns cost curves of sets.
        size: the item size at which costs are taken (the median).
        lambdas: values of λ, in accuracy per unit of cost; only for ``by = "gain"``.
        by: ``gain`` adds the feature of largest Δaccuracy − λ·Δcost, ``cost`` the cheapest feature.

    Raises:
        ValueError: ``lambdas`` is empty, or a λ is negative or not finite.
    """
    if by == "gain" and (not lambdas or not all(0 <= rate < math.inf for rate in lambdas)):
        raise ValueError(f"lambdas must be a list of finite numbers from 0, not {list(lambdas)}")
    trained = _Trained(accuracy)
    trained(0)

    def best(larger: list[int], rate: float) -> int:
        cost = evaluate(curves(np.array(larger, dtype=np.int64)), size)
        if by == "cost":
            chosen = larger[int(cost.argmin())]
            trained(chosen)
            return chosen
        gains = [trained(mask) for mask in larger]
        return larger[int((np.array(gains) - rate * cost).argmax())]

    rates = lambdas if by == "gain" else (0.0,)
    sequences = tuple(grown_sets(n_features, partial(best, rate=rate)) for rate in rates)
    expansion = Expansion(trained.accuracies, trained.failures, n_features, 0.0)
    return GreedySearch(sequences, expansion, size)


class GreedyIndex(Index):
    """The index of the Greedy family: the sequences, and the skyline of all their sets at one size."""

    def __init__(self, search: GreedySearch, curves: Curves) -> None:
        masks = np.array(sorted(search.expansion.accuracy), dtype=np.int64)
        accuracy = np.array([search.expansion.accuracy[int(mask)] for mask in masks], dtype=np.float64)
        self.candidates = Candidates(masks, accuracy, curves(masks))
        number = {int(mask): i for i, mask in enumerate(masks)}
        self.search = search
        self._paths: list[list[tuple[int, tuple[float, ...]]]] = []
        for sequence in search.sequences:
            steps = np.array(sequence, dtype=np.int64)
            self._paths.append(
                [
                    (number.get(mask, NOTHING), tuple(curve[::-1]))
                    for mask, curve in zip(sequence, curves(steps).tolist(), strict=True)
                ]
            )
        first_path: dict[int, int] = {}
        for p, sequence in enumerate(search.sequences):
            for mask in sequence[1:]:
                if mask in number:
                    first_path.setdefault(mask, p)
        reached = np.array(sorted(first_path), dtype=np.int64)
        cost = evaluate(curves(reached), search.size) if len(reached) else np.zeros(0)
        self._limits: list[float] = []
        self._path_of: list[int] = []
        best = -math.inf
        gains = np.array([search.expansion.accuracy[int(mask)] for mask in reached])
        for at in np.lexsort((-gains, cost)).tolist():
            if gains[at] > best:
                best = gains[at]
                self._limits.append(float(cost[at]))
                self._path_of.append(first_path[int(reached[at])])
        openings = [sequence[1] for sequence in search.sequences if len(sequence) > 1]
        self._cheapest = 0
        if openings:
            self._cheapest = int(evaluate(curves(np.array(openings, dtype=np.int64)), search.size).argmin())

    def saved_fields(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> GreedyIndex:
        index = cls.__new__(cls)
        for name, value in fields.items():
            setattr(index, name, value)
        return index

    def lookup(self, size: float, budget: float) -> int:
        checked_query(size, budget)
        limit = budget * AFFORDABLE
        at = bisect_right(self._limits, limit) - 1
        path = self._paths[self._path_of[at] if at >= 0 else self._cheapest]
        reached = NOTHING
        for candidate, curve in path:
            cost = 0.0
            for coefficient in curve:
                cost = cost * size + coefficient
            if cost > limit:
                break
            if candidate != NOTHING:
                reached = candidate
        return reached

    def priced_at(self, size: float) -> float:
        """The size that the skyline was built for, whatever the item's size."""
        return self.search.size

    @property
    def entries(self) -> int:
        """Number of sets in the distinct sequences, plus those on the skyline (Metric 2)."""
        return sum(len(sequence) for sequence in set(self.search.sequences)) + len(self._limits)

    def steps(self, size: float) -> int:
        return halvings(len(self._limits)) + max(map(len, self._paths), default=0)
