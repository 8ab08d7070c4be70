"""The inputs of networks: masked, standardised values and the mask; and the units that rows buy, with prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bench_models.columns import divisors
from bench_models.prices import MeanPrices
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["FREE", "Units", "View", "view_of"]

FREE = 1e-3
"""Least price of a unit in ratios, as a share of the mean price of a unit, so that ratios of free units are finite."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of purchase: a feature, or a group whose members have no prices besides the group's.

    Prices are means over the training rows if they depend on item size.

    Attributes:
        of_feature: int64 (features,): the unit of each feature.
        own: float64 (units,): prices without the shared price of a group.
        group: int64 (units,): the group whose price a unit shares with others; −1 for none.
        group_price: float64 (groups,): paid with the first unit of a group.
        scale: mean price of a unit as the first purchase; 1 if everything is free.
    """

    of_feature: NDArray[np.int64]
    own: NDArray[np.float64]
    group: NDArray[np.int64]
    group_price: NDArray[np.float64]
    scale: float

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.own)

    def prices(self, known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Price of each unit as the next purchase of a row: float64 (rows, units); `known` is bool (rows, units)."""
        prices = np.repeat(self.own[None, :], len(known), axis=0)
        for group, price in enumerate(self.group_price):
            members = self.group == group
            if members.any():
                closed = np.asarray(~known[:, members].any(axis=1))
                prices[:, members] += price * closed[:, None]
        return prices

    def spent(self, known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The price of the known units: float64 (rows,)."""
        total = np.einsum("ij,j->i", known, self.own)
        for group, price in enumerate(self.group_price):
            members = self.group == group
            if members.any():
                total = total + price * known[:, members].any(axis=1)
        return np.asarray(total)

    def ratio_prices(self, known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """`prices` in units of `scale`, with a small price for free units, for use as a divisor."""
        return np.asarray(np.maximum(self.prices(known) / self.scale, FREE))

    @property
    def full(self) -> float:
        """Price of all units."""
        return float(self.spent(np.ones((1, self.count), dtype=bool))[0])


@dataclass(frozen=True, eq=False)
class View:
    """The inputs of every network.

    A row's values are its standardised columns, then one flag for every column with missing values in the training
    part. A missing value is 0, and its flag 1. Networks get the values of known units (0 for others), then the mask of
    known units.

    Attributes:
        mean, spread: float64 (columns,): mean and standard deviation in the training part (1 for a constant column).
        missing: int64: the columns with a flag.
        unit_of_value: int64 (values,): the unit that a value belongs to.
        units: what is bought.
    """

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    missing: NDArray[np.int64]
    unit_of_value: NDArray[np.int64]
    units: Units

    def values(self, X: NDArray[np.float64]) -> NDArray[np.float32]:
        """The values of rows: float32 (rows, values)."""
        standard = (X - self.mean) / self.spread
        absent = np.isnan(X)
        values = np.concatenate([np.where(absent, 0.0, standard), absent[:, self.missing]], axis=1)
        return np.asarray(values, dtype=np.float32)

    def inputs(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The inputs of a network: float32 (rows, values + units)."""
        shown = np.where(known[:, self.unit_of_value], values, np.float32(0.0))
        joined: NDArray[np.float32] = np.ascontiguousarray(np.concatenate([shown, known], axis=1, dtype=np.float32))
        return joined

    def known_units(self, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The units of which all features are known: bool (rows, units); `known` is bool (rows, features)."""
        units = np.ones((len(known), self.units.count), dtype=bool)
        for feature, unit in enumerate(self.units.of_feature):
            units[:, unit] &= known[:, feature]
        return units

    @property
    def spread_units(self) -> NDArray[np.float32]:
        """float32 (units, values): 1 where a value belongs to a unit."""
        return np.asarray(np.arange(self.units.count)[:, None] == self.unit_of_value[None, :], dtype=np.float32)


def view_of(problem: Problem) -> View:
    """Learn the standardisation on the training part, and form the units."""
    X = problem.train.X
    counts = np.maximum((~np.isnan(X)).sum(axis=0), 1)
    mean = np.nansum(X, axis=0) / counts
    spread = np.sqrt(np.nansum((X - mean) ** 2, axis=0) / counts)
    missing = np.flatnonzero(np.isnan(X).any(axis=0))
    units = _units_of(problem)
    unit_of_column = units.of_feature[problem.feature_of_column]
    return View(mean, divisors(mean, spread), missing, np.concatenate([unit_of_column, unit_of_column[missing]]), units)


def _units_of(problem: Problem) -> Units:
    n, prices = problem.n_features, MeanPrices.of(problem)
    own, group, shared = prices.own, prices.group, prices.group_price
    of_feature = np.zeros(n, dtype=np.int64)
    unit_own: list[float] = []
    unit_group: list[int] = []
    group_unit: dict[int, int] = {}  # groups that are one unit → the unit
    for feature in range(n):
        at = int(group[feature])
        if at in group_unit:
            of_feature[feature] = group_unit[at]
            continue
        of_feature[feature] = len(unit_own)
        if at >= 0 and not own[group == at].any():
            group_unit[at] = len(unit_own)
            unit_own.append(float(shared[at]))
            unit_group.append(-1)
        else:
            unit_own.append(float(own[feature]))
            unit_group.append(at)
    units = Units(of_feature, np.array(unit_own), np.array(unit_group), shared, 1.0)
    first = units.prices(np.zeros((1, units.count), dtype=bool)).mean()
    return Units(of_feature, units.own, units.group, shared, float(first) if first > 0 else 1.0)
