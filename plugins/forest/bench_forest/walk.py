"""Compiled walks through a forest: routing rows, deciding while features are acquired.

Rows are taken in blocks so that a block stays in cache while every tree passes over it; a row's sum over trees
is always taken in the trees' order, so that neither the batch nor the number of threads changes a result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bench_forest.flat import FlatForest

__all__ = ["decide", "first_on_path", "route"]

BLOCK = 512
"""Rows in a block."""


@numba.njit(cache=True, nogil=True)
def _decide(  # type: ignore[no-untyped-def]
    X, offsets, column, threshold, left, right, missing_left, feature_of_column, distribution, acquired, total
):
    trees = len(offsets) - 1
    classes = distribution.shape[1]
    for start in range(0, len(X), BLOCK):
        stop = min(start + BLOCK, len(X))
        for tree in range(trees):
            root = offsets[tree]
            for i in range(start, stop):
                node = root
                split = column[node]
                while split >= 0:
                    acquired[i, feature_of_column[split]] = True
                    value = X[i, split]
                    if np.isnan(value):
                        node = left[node] if missing_left[node] else right[node]
                    elif np.float32(value) <= threshold[node]:
                        node = left[node]
                    else:
                        node = right[node]
                    split = column[node]
                for c in range(classes):
                    total[i, c] += distribution[node, c]
        for i in range(start, stop):
            for c in range(classes):
                total[i, c] /= trees


@numba.njit(cache=True, nogil=True)
def _route(X, offsets, column, threshold, left, right, missing_left, leaf):  # type: ignore[no-untyped-def]
    trees = len(offsets) - 1
    for start in range(0, len(X), BLOCK):
        stop = min(start + BLOCK, len(X))
        for tree in range(trees):
            for i in range(start, stop):
                node = offsets[tree]
                split = column[node]
                while split >= 0:
                    value = X[i, split]
                    if np.isnan(value):
                        node = left[node] if missing_left[node] else right[node]
                    elif np.float32(value) <= threshold[node]:
                        node = left[node]
                    else:
                        node = right[node]
                    split = column[node]
                leaf[i, tree] = node


@numba.njit(cache=True)
def first_on_path(parent, unit):  # type: ignore[no-untyped-def]
    """The unit of each node, −1 where an ancestor has the same unit (or the node has none); int32 (nodes,)."""
    first = unit.copy()
    for node in range(len(unit)):
        if unit[node] < 0:
            continue
        above = parent[node]
        while above >= 0:
            if unit[above] == unit[node]:
                first[node] = -1
                break
            above = parent[above]
    return first


def _checked(forest: FlatForest, X: NDArray[Any]) -> NDArray[np.float64]:
    columns = len(forest.feature_of_column)
    if X.ndim != 2 or X.shape[1] != columns:
        raise ValueError(f"the forest was grown on {columns} columns, these rows have shape {X.shape}")
    return np.ascontiguousarray(X, dtype=np.float64)


def _spread(work: Any, rows: int, threads: int) -> None:
    """Call ``work(start, stop)`` on even shares of the rows, each in a thread of its own."""
    if threads <= 1 or rows < 4 * BLOCK:
        work(0, rows)
        return
    cuts = np.linspace(0, rows, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))


def decide(
    forest: FlatForest, X: NDArray[Any], features: int, threads: int = 1
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Walk every row through every tree.

    Args:
        forest: the trees.
        X: (rows, columns).
        features: number of features of the problem.
        threads: how many threads to use.

    Returns:
        Features acquired, bool (rows, features); mean leaf distribution, float64 (rows, classes).
    """
    X = _checked(forest, X)
    acquired = np.zeros((len(X), features), dtype=np.bool_)
    total = np.zeros((len(X), forest.classes))

    def work(start: int, stop: int) -> None:
        _decide(
            X[start:stop], forest.offsets, forest.column, forest.threshold, forest.left, forest.right,
            forest.missing_left, forest.feature_of_column, forest.distribution, acquired[start:stop],
            total[start:stop],
        )  # fmt: skip

    _spread(work, len(X), threads)
    return acquired, total


def route(forest: FlatForest, X: NDArray[Any], threads: int = 1) -> NDArray[np.int32]:
    """The leaf of each row in each tree; int32 (rows, trees)."""
    X = _checked(forest, X)
    leaf = np.zeros((len(X), forest.trees), dtype=np.int32)

    def work(start: int, stop: int) -> None:
        _route(
            X[start:stop], forest.offsets, forest.column, forest.threshold, forest.left, forest.right,
            forest.missing_left, leaf[start:stop],
        )  # fmt: skip

    _spread(work, len(X), threads)
    return leaf
