"""Exact costs of feature subsets (EMSCO, sections 2 and 2.2.3).

The price of a subset is the sum of its features' prices, plus the price of each group with at least one member in the
subset. Decimal prices are scaled to integers by a common factor (0.1 counts as one tenth, not as the nearest double),
so that chains of equal cost compare equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from bench_models.subsets.sets import check_sets, from_flags
from numpy.typing import ArrayLike, NDArray

__all__ = ["SubsetPrices"]

_EXACT = 1 << 53
_TABLE_FEATURES = 24


class SubsetPrices:
    """Costs of subsets in integer units (int64), or in floats where that is impossible.

    Args:
        feature_prices: price of each feature, finite and >= 0; numbers, Decimal or Fraction. A float counts as the
            decimal number it prints as.
        groups: features of each group; a feature may be in several groups.
        group_prices: price of each group.
        rows: number of rows of a total; integers are used only if units * rows stays below 2**53.

    Attributes:
        exact: whether costs are int64, with exact ties. Otherwise they are float64 in the unit of the prices: sums are
            rounded, and two chains whose costs differ only by rounding count as different.
        scale: units per unit of price (a Fraction, 1 if not exact): cost = units / scale.
        n_features: number of features.

    Raises:
        ValueError: a price is negative or not finite, a group names a feature that does not exist, or lengths differ.
    """

    def __init__(
        self,
        feature_prices: Iterable[Any],
        groups: Sequence[Sequence[int]] | None = None,
        group_prices: Iterable[Any] | None = None,
        *,
        rows: int = 1,
    ) -> None:
        features = [_fraction("feature_prices", price) for price in feature_prices]
        members = [sorted({int(feature) for feature in group}) for group in groups or ()]
        shared = [_fraction("group_prices", price) for price in (() if group_prices is None else group_prices)]
        if len(members) != len(shared):
            raise ValueError(f"groups has {len(members)} entries, group_prices {len(shared)}")
        for group in members:
            if group and not (group[0] >= 0 and group[-1] < len(features)):
                raise ValueError(f"groups: {group} names a feature outside 0..{len(features) - 1}")
        if rows < 1:
            raise ValueError(f"rows must be at least 1, got {rows}")
        self.n_features = len(features)
        flags = np.zeros((len(members), self.n_features), dtype=bool)
        for flag, group in zip(flags, members, strict=True):
            flag[group] = True
        self._groups = from_flags(flags)
        everything = [*features, *shared]
        denominator = lcm(*(price.denominator for price in everything)) if everything else 1
        units = [int(price * denominator) for price in everything]
        divisor = gcd(*units) or 1
        self.exact = sum(units) // divisor * rows < _EXACT
        self.scale = Fraction(denominator, divisor) if self.exact else Fraction(1)
        values = [unit // divisor for unit in units] if self.exact else [float(price) for price in everything]
        self._dtype = np.int64 if self.exact else np.float64
        self._features = np.array(values[: self.n_features], dtype=self._dtype)
        self._shared = np.array(values[self.n_features :], dtype=self._dtype)

    def costs_of(self, masks: ArrayLike) -> NDArray[Any]:
        """Cost in units of each of m subsets, (m,). Raises ValueError for a feature that has no price."""
        subsets = check_sets(masks, self.n_features)
        total = np.zeros(len(subsets), dtype=self._dtype)
        for feature, price in enumerate(self._features):
            words = subsets if subsets.ndim == 1 else subsets[:, feature // 64]
            total += price * ((words >> np.uint64(feature % 64)) & np.uint64(1)).astype(self._dtype)
        for group, price in zip(self._groups, self._shared, strict=True):
            met = (subsets & group) != 0
            total += price * (met if met.ndim == 1 else met.any(axis=1)).astype(self._dtype)
        return total

    def subset_cost_table(self) -> NDArray[Any]:
        """Cost in units of all 2**n subsets, index = subset. Raises ValueError above 24 features."""
        if self.n_features > _TABLE_FEATURES:
            raise ValueError(f"a table of all subsets is for at most {_TABLE_FEATURES} features, not {self.n_features}")
        return self.costs_of(np.arange(1 << self.n_features, dtype=np.uint64))

    def in_price(self, units: ArrayLike) -> NDArray[np.float64]:
        """Units (or sums or means of them) in the unit of the prices given, as float64."""
        return np.asarray(units, dtype=np.float64) * self.scale.denominator / self.scale.numerator


def _fraction(name: str, price: Any) -> Fraction:
    if isinstance(price, (Fraction, Decimal, int)) and not isinstance(price, bool):
        finite = not isinstance(price, Decimal) or price.is_finite()
        value = Fraction(price) if finite else None
    else:
        number = float(price)
        value = Fraction(Decimal(repr(number))) if np.isfinite(number) else None
    if value is None or value < 0:
        raise ValueError(f"{name}: a price must be finite and not negative, got {price!r}")
    return value
