"""Prices of tests: for a first test, after another test of the same group, and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["Prices", "mean_prices"]


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices of the features.

    Attributes:
        first: float64 (features,): own price plus the price of the feature's group.
        later: float64 (features,): own price, due after another test of the group; equals ``first`` without a group.
        group: int64 (features,): acquisition group; −1 for none.
    """

    first: NDArray[np.float64]
    later: NDArray[np.float64]
    group: NDArray[np.int64]

    @property
    def total(self) -> float:
        """The price of all features."""
        return self.of_path(range(len(self.first)))

    def of_path(self, features: Sequence[int]) -> float:
        """Price of a sequence of tests; repeated tests are free."""
        total = 0.0
        paid: set[int] = set()
        opened: set[int] = set()
        for feature in features:
            group = int(self.group[feature])
            if feature not in paid:
                total += float(self.later[feature] if group in opened else self.first[feature])
            paid.add(feature)
            if group >= 0:
                opened.add(group)
        return total


def mean_prices(problem: Problem) -> Prices:
    """Prices of a problem; prices that grow with item size are averaged over the training rows."""
    costs, sizes = problem.costs, problem.train.sizes
    own = costs.feature_prices(sizes).mean(axis=0)
    if costs.groups is None:
        return Prices(own, own, np.full(problem.n_features, -1, dtype=np.int64))
    shared = costs.group_prices_at(sizes).mean(axis=0)
    opening = np.where(costs.groups >= 0, shared[np.maximum(costs.groups, 0)], 0.0)
    return Prices(own + opening, own, np.array(costs.groups, dtype=np.int64))
