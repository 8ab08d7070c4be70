"""Prices and the bill: the cost of acquired features. Only the core charges it.

Every feature has a price. A feature may belong to an acquisition group, whose price is paid once, with the first of
its features. (The features themselves then often cost nothing: after the first, the group is free.) Every price is a
polynomial of the item's size with non-negative coefficients; a plain price is a polynomial of degree 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.errors import DataError
from bench_core.contract.readonly import frozen

PRICE_ARRAYS = ("prices", "groups", "group_prices", "classes")
"""Names of the arrays of `Costs`."""

MOST_PRICE = 1e12
"""The greatest allowed price or coefficient, so that sums over features and rows, and their squares, stay finite."""


def _polynomials(prices: Any, what: str) -> NDArray[np.float64]:
    """Check prices and return them as float64 (m, degree + 1), lowest power first."""
    try:
        table = np.asarray(prices, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} prices must be numbers or equally long lists of coefficients: {error}") from None
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or table.shape[1] < 1:
        raise DataError(
            f"{what} prices must be a list of numbers or of coefficient lists, not an array of shape {table.shape}"
        )
    bad = ~((table >= 0) & (table <= MOST_PRICE)).all(axis=1)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{what} prices must be from 0 to {MOST_PRICE:g}: number {first} (counted from 0) is "
            f"{np.squeeze(table[first]).tolist()}"
        )
    return table


def _codes(values: Any, features: int, what: str) -> NDArray[np.int64]:
    codes = np.asarray(values, dtype=np.int64)
    if codes.shape != (features,):
        raise DataError(f"{what}: {features} are needed, {codes.size} are given; one entry per feature ({features})")
    return codes


def _at(polynomials: NDArray[np.float64], sizes: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Values of polynomials (m, degree + 1) at sizes (rows,): (rows, m); (1, m) when no size matters."""
    if not polynomials[:, 1:].any():
        return polynomials[:, :1].T
    if sizes is None:
        raise DataError("these prices depend on item size, and the rows have none")
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.polynomial.polynomial.polyval(np.asarray(sizes, dtype=np.float64), polynomials.T)
    high = ~(np.asarray(values) <= MOST_PRICE)
    if high.any():
        first, row = (int(place[0]) for place in np.nonzero(high))
        raise DataError(
            f"price number {first} (counted from 0) is above {MOST_PRICE:g} for an item of size {sizes[row]:g}"
        )
    return np.asarray(values, dtype=np.float64).T


@dataclass(frozen=True, eq=False)
class Costs:
    """Prices of a data set's features. Its arrays are read-only copies.

    Attributes:
        prices: float64 (features, degree + 1): coefficients of each feature's price, lowest power of the item
            size first; a 1-D array of plain prices is accepted.
        groups: int64 (features,): the acquisition group of each feature, −1 for none.
        group_prices: float64 (groups, degree + 1): paid once per row, with the group's first feature.
        classes: int64 (features,): the cost class behind each price, where a scheme has classes.
        evaluation: price of running one base model (0: only features cost).

    Raises:
        DataError: a price is negative, NaN or above `MOST_PRICE`, or a length is wrong.
    """

    prices: NDArray[np.float64]
    groups: NDArray[np.int64] | None = None
    group_prices: NDArray[np.float64] | None = None
    classes: NDArray[np.int64] | None = None
    evaluation: float = 0.0

    def __post_init__(self) -> None:
        prices = _polynomials(self.prices, "feature")
        object.__setattr__(self, "prices", frozen(prices))
        if self.groups is not None:
            groups = _codes(self.groups, len(prices), "groups")
            count = int(groups.max(initial=-1)) + 1
            if groups.min(initial=0) < -1:
                raise DataError("groups: entries are group numbers from 0, or -1 for no group")
            table = _polynomials(np.zeros(count) if self.group_prices is None else self.group_prices, "group")
            if len(table) < count:
                raise DataError(f"group prices: {count} groups are named, {len(table)} prices are given")
            object.__setattr__(self, "groups", frozen(groups))
            object.__setattr__(self, "group_prices", frozen(table))
        elif self.group_prices is not None:
            raise DataError("group prices are given, but no feature is in a group")
        if self.classes is not None:
            object.__setattr__(self, "classes", frozen(_codes(self.classes, len(prices), "cost classes")))
        if not 0 <= self.evaluation <= MOST_PRICE:
            raise DataError(f"the price of an evaluation must be from 0 to {MOST_PRICE:g}, not {self.evaluation}")

    @property
    def n_features(self) -> int:
        """Number of features priced."""
        return len(self.prices)

    @property
    def depends_on_size(self) -> bool:
        """Whether any price grows with the item's size."""
        return any(table is not None and bool(table[:, 1:].any()) for table in (self.prices, self.group_prices))

    def feature_prices(self, sizes: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Prices of features without group prices: (rows, features), or (1, features) if no price depends on size."""
        return _at(self.prices, sizes)

    def group_prices_at(self, sizes: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Prices of groups: (rows, groups), or (1, groups) if no price depends on size; no columns without groups."""
        return np.zeros((1, 0)) if self.group_prices is None else _at(self.group_prices, sizes)

    def bill(self, acquired: NDArray[np.bool_], sizes: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Compute the cost of the acquired features of each row.

        Args:
            acquired: bool (rows, features).
            sizes: float64 (rows,), needed when `depends_on_size`.

        Returns:
            float64 (rows,).

        Raises:
            DataError: prices depend on size and no sizes are given, or a price exceeds `MOST_PRICE`.
        """
        total = self._charge(acquired, self.prices, sizes)
        if self.groups is not None and self.group_prices is not None:
            opened = np.zeros((len(acquired), len(self.group_prices)), dtype=bool)
            for group in range(len(self.group_prices)):
                opened[:, group] = acquired[:, self.groups == group].any(axis=1)
            total = total + self._charge(opened, self.group_prices, sizes)
        return total

    @staticmethod
    def _charge(
        acquired: NDArray[np.bool_], polynomials: NDArray[np.float64], sizes: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        if not polynomials[:, 1:].any():
            # einsum, not BLAS: the order of the sum must not depend on the machine.
            return np.asarray(np.einsum("ij,j->i", acquired, polynomials[:, 0]))
        return np.asarray(np.einsum("ij,ij->i", acquired, np.broadcast_to(_at(polynomials, sizes), acquired.shape)))

    def total(self, rows: int, sizes: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The cost of acquiring every feature, for each row: float64 (rows,)."""
        if not self.depends_on_size:
            return np.repeat(self.bill(np.ones((1, self.n_features), dtype=bool)), rows)
        return self.bill(np.ones((rows, self.n_features), dtype=bool), sizes)

    def cost_of(self, features: Sequence[int], size: float | None = None) -> float:
        """The price of a set of features (indices) for one item."""
        acquired = np.zeros((1, self.n_features), dtype=bool)
        acquired[0, list(features)] = True
        return float(self.bill(acquired, None if size is None else np.array([size]))[0])

    def as_plain(self) -> dict[str, Any]:
        """Return the prices as plain JSON values; `from_plain` is the inverse."""
        arrays = {name: getattr(self, name) for name in PRICE_ARRAYS}
        listed = {name: None if array is None else array.tolist() for name, array in arrays.items()}
        return {**listed, "evaluation": float(self.evaluation)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Costs:
        """Make prices from the values that `as_plain` returned."""
        return cls(**{key: plain[key] for key in PRICE_ARRAYS}, evaluation=float(plain["evaluation"]))


def count_units(costs: Costs) -> int:
    """Return the number of units of acquisition: groups with at least one feature, and features without a group."""
    if costs.groups is None:
        return costs.n_features
    return int((costs.groups < 0).sum()) + len(np.unique(costs.groups[costs.groups >= 0]))
