"""Prices of features and of sets of them, averaged over rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs, Problem

__all__ = ["MeanPrices"]


@dataclass(frozen=True, eq=False)
class MeanPrices:
    """Mean prices over rows; a bill is a sum of prices, so its mean is the sum of these.

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
        """The mean over the training rows."""
        return cls.at(problem.costs, problem.train.sizes)

    @classmethod
    def at(cls, costs: Costs, sizes: NDArray[np.float64] | None) -> MeanPrices:
        """The mean over rows of these sizes, float64 (rows,); None if there are none."""
        group = np.full(costs.n_features, -1, dtype=np.int64) if costs.groups is None else np.array(costs.groups)
        return cls(costs.feature_prices(sizes).mean(axis=0), group, costs.group_prices_at(sizes).mean(axis=0))

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.own)

    @property
    def opening(self) -> NDArray[np.float64]:
        """What each feature's group costs with its first feature: float64 (features,); 0 without a group."""
        return np.asarray(np.append(self.group_price, 0.0)[self.group])

    @property
    def split(self) -> NDArray[np.float64]:
        """Prices with each group's divided among its members, float64 (features,)."""
        members = np.bincount(self.group[self.group >= 0], minlength=len(self.group_price))
        return np.asarray(self.own + self.opening / np.maximum(np.append(members, 1)[self.group], 1))

    @property
    def full(self) -> float:
        """The price of everything."""
        return self.of_set(range(self.features))

    def of_set(self, features: Iterable[int]) -> float:
        """The price of a set, added in the features' order."""
        chosen = sorted(set(features))
        opened = sorted({int(self.group[f]) for f in chosen if self.group[f] >= 0})
        return float(sum(float(self.own[f]) for f in chosen) + sum(float(self.group_price[g]) for g in opened))
