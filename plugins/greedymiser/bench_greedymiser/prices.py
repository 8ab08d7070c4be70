"""Prices that splits pay: a feature's own price and its group's, each at first use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bench_models.prices import MeanPrices
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["Penalties", "mean_prices"]


@dataclass(frozen=True, eq=False)
class Penalties:
    """Prices in the form that the tree grower uses, in any unit.

    Attributes:
        feature: float64 (features,): each feature's own price.
        group_of: int64 (features,): its acquisition group; −1 for none.
        group: float64 (groups,): price of each group, paid with its first feature; has at least one entry.
    """

    feature: NDArray[np.float64]
    group_of: NDArray[np.int64]
    group: NDArray[np.float64]

    def times(self, factor: float) -> Penalties:
        """All prices multiplied by a factor."""
        return Penalties(self.feature * factor, self.group_of, self.group * factor)

    @property
    def total(self) -> float:
        """Price of all features; groups without a member do not count."""
        named = np.unique(self.group_of[self.group_of >= 0])
        return float(self.feature.sum() + self.group[named].sum())

    def of(self, used: NDArray[np.bool_]) -> float:
        """Price of a set of features, given as bool (features,)."""
        named = np.unique(self.group_of[used & (self.group_of >= 0)])
        return float(self.feature[used].sum() + self.group[named].sum())


def mean_prices(problem: Problem) -> Penalties:
    """Prices of a problem; prices that grow with item size are averaged over the training rows."""
    mean = MeanPrices.of(problem)
    return Penalties(mean.own, mean.group, mean.group_price if len(mean.group_price) else np.zeros(1))
