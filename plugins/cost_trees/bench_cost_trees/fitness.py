"""The cost of a tree on rows: its tests and its errors (Turney 1995, §2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_cost_trees.induction import Grower
from bench_cost_trees.prices import Prices
from bench_cost_trees.tree import Tree

__all__ = ["mean_cost", "mean_cost_plain"]


def mean_cost_plain(tree: Tree, grower: Grower, rows: NDArray[np.int64], prices: Prices, error_cost: float) -> float:
    """Mean over rows of the price of the tests plus the cost of a wrong label.

    As in the core's bill, a row pays once per feature, and pays a group's price once, with the group's first feature.

    Args:
        tree: the tree.
        grower: the table that holds the rows.
        rows: int64 (n,): indices of the rows; at least one.
        prices: prices of the tests.
        error_cost: cost of a wrong label, in the unit of the prices.
    """
    total = 0.0
    for row in rows.tolist():
        node, path = 0, []
        while tree.left[node] >= 0:
            column = int(tree.column[node])
            path.append(int(grower.feature_of_column[column]))
            value = grower.X[row, column]
            left = tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]
            node = int(tree.left[node]) + (0 if left else 1)
        total += prices.of_path(path)
        if tree.labels[node] != grower.y[row]:
            total += error_cost
    return total / len(rows)


def mean_cost(tree: Tree, grower: Grower, rows: NDArray[np.int64], prices: Prices, error_cost: float) -> float:
    """Compiled `mean_cost_plain`."""
    from bench_cost_trees import _kernels_grown

    return float(
        _kernels_grown.mean_cost(
            grower.X,
            grower.y,
            np.asarray(rows, dtype=np.int64),
            tree.column,
            tree.threshold,
            tree.missing_left,
            tree.left,
            tree.labels,
            grower.feature_of_column,
            prices.first,
            prices.later,
            prices.group,
            float(error_cost),
        )
    )
