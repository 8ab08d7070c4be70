"""Prices of sets of features, averaged over the training rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["MeanPrices", "limit_of"]

_SLACK = 1e-12


def limit_of(budget: float) -> float:
    """Return the most that a set for a budget may cost: slightly more, since prices are sums of rounded numbers."""
    return budget * (1 + _SLACK)


@dataclass(frozen=True, eq=False)
class MeanPrices:
    """Mean prices over training rows; a bill is a sum of prices, so its mean is the sum of these.

    Attributes:
        own: float64 (features,).
        group: int64 (features,): −1 for none.
        group_price: float64 (groups,): paid once, with the group's first feature.
    """

    own: NDArray[np.float64]
    group: NDArray[np.int64]
    group_price: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem) -> MeanPrices:
        """The prices of a problem."""
        costs = problem.costs
        sizes = problem.train.sizes if costs.depends_on_size else None
        groups = np.full(costs.n_features, -1, dtype=np.int64) if costs.groups is None else costs.groups
        return cls(costs.feature_prices(sizes).mean(axis=0), groups, costs.group_prices_at(sizes).mean(axis=0))

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.own)

    @property
    def full(self) -> float:
        """The price of everything."""
        return self.of_set(range(self.features))

    def of_set(self, features: Iterable[int]) -> float:
        """The price of a set, added in the features' order."""
        chosen = sorted(set(features))
        opened = sorted({int(self.group[f]) for f in chosen if self.group[f] >= 0})
        return float(sum(float(self.own[f]) for f in chosen) + sum(float(self.group_price[g]) for g in opened))
