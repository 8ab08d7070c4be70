"""What a node's test makes a row pay: the feature's own price and its group's, each once per row.

A unit is something paid once per row: a feature with a price of its own, or a group with one. A test pays for at
most two. Units that are free are left out: they never matter.
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
    """The units of a price list, priced for items of these sizes.

    Args:
        costs: prices and groups.
        sizes: float64 (rows,), needed when prices depend on item size.
    """
    own_prices = costs.feature_prices(sizes if costs.depends_on_size else None)
    group_prices = np.zeros((1, 0))
    groups = np.full(costs.n_features, -1)
    if costs.groups is not None and costs.group_prices is not None:
        # Charged as if each group were a feature: the core's own reading of a price polynomial.
        group_prices = Costs(costs.group_prices).feature_prices(sizes if costs.depends_on_size else None)
        groups = costs.groups
    rows = max(len(own_prices), len(group_prices))
    table = np.concatenate([np.broadcast_to(t, (rows, t.shape[1])) for t in (own_prices, group_prices)], axis=1)
    paid = (table > 0).any(axis=0)
    number = np.where(paid, np.cumsum(paid) - 1, -1)
    of_group = np.append(number[costs.n_features :], -1)[groups]
    return Units(number[: costs.n_features], of_group, np.ascontiguousarray(table[:, paid]))


def first_tests(forest: FlatForest, unit_of_feature: NDArray[np.int64]) -> NDArray[np.int32]:
    """The unit a node is the first to need on the way from its root, −1 where it needs none or had it before.

    Args:
        forest: the trees.
        unit_of_feature: int64 (features,), −1 for none.

    Returns:
        int32 (nodes,).
    """
    from bench_models.forest._kernels import first_on_path

    unit = np.where(forest.inner, unit_of_feature[np.maximum(forest.feature, 0)], -1).astype(np.int32)
    return np.asarray(first_on_path(forest.parent, unit), dtype=np.int32)
