"""The price of a node's test: the feature's own price and its group's, each paid once per row.

A unit is something that a row pays once: a feature with a price of its own, or a group with a price. A test needs at
most two units. Free units are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs
from bench_models.forest.flat import FlatForest

__all__ = ["Units", "first_tests", "price_units"]


@dataclass(frozen=True, eq=False)
class Units:
    """Units of payment.

    Attributes:
        own: int64 (features,): the unit of the feature's own price, −1 when that is zero.
        group: int64 (features,): the unit of the price of the feature's group, −1 without one.
        prices: float64 (rows, units), or (1, units) when prices do not depend on item size.
    """

    own: NDArray[np.int64]
    group: NDArray[np.int64]
    prices: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Number of units."""
        return int(self.prices.shape[1])


def price_units(costs: Costs, sizes: NDArray[np.float64] | None = None) -> Units:
    """The units of payment under some prices, for items of the given sizes.

    Args:
        costs: prices and groups.
        sizes: float64 (rows,), needed if prices depend on item size.
    """
    own_prices = costs.feature_prices(sizes if costs.depends_on_size else None)
    group_prices = np.zeros((1, 0))
    groups = np.full(costs.n_features, -1)
    if costs.groups is not None and costs.group_prices is not None:
        # Charge as if each group were a feature, so that the core evaluates the price polynomials.
        group_prices = Costs(costs.group_prices).feature_prices(sizes if costs.depends_on_size else None)
        groups = costs.groups
    rows = max(len(own_prices), len(group_prices))
    table = np.concatenate([np.broadcast_to(t, (rows, t.shape[1])) for t in (own_prices, group_prices)], axis=1)
    paid = (table > 0).any(axis=0)
    number = np.where(paid, np.cumsum(paid) - 1, -1)
    of_group = np.append(number[costs.n_features :], -1)[groups]
    return Units(number[: costs.n_features], of_group, np.ascontiguousarray(table[:, paid]))


def first_tests(forest: FlatForest, unit_of_feature: NDArray[np.int64]) -> NDArray[np.int32]:
    """The unit that each node needs first on the path from its root; −1 if it needs none or an ancestor needed it.

    Args:
        forest: the trees.
        unit_of_feature: int64 (features,), −1 for none.

    Returns:
        int32 (nodes,).
    """
    from bench_models.forest._kernels import first_on_path

    unit = np.where(forest.inner, unit_of_feature[np.maximum(forest.feature, 0)], -1).astype(np.int32)
    return np.asarray(first_on_path(forest.parent, unit), dtype=np.int32)
