"""Walks through a forest, compiled and in a few threads: routing rows, and deciding with acquired features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_models.threads import run_ranges
from bench_models.trees import FlatTrees, checked_rows

__all__ = ["decide", "route"]

_BLOCK = 2048
"""Number of rows that a thread takes at a time."""


def decide(
    trees: FlatTrees, X: NDArray[Any], features: int, threads: int = 1
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Walk every row through every tree.

    Args:
        trees: the trees of a forest, from `FlatForest.walked`.
        X: (rows, columns).
        features: number of features of the problem.
        threads: number of threads.

    Returns:
        Features acquired, bool (rows, features); mean leaf distribution, float64 (rows, classes).

    Raises:
        ValueError: the number of columns of X is not that of the training rows.
    """
    from bench_models.trees.kernels import add_trees

    X = checked_rows(trees, X)
    acquired = np.zeros((len(X), features), dtype=np.bool_)
    total = np.zeros((len(X), trees.value.shape[1]))

    def work(start: int, stop: int) -> None:
        add_trees(trees, X[start:stop], 0, trees.trees, total[start:stop], acquired[start:stop])

    run_ranges(work, len(X), threads, _BLOCK)
    total /= trees.trees
    return acquired, total


def route(trees: FlatTrees, number: NDArray[np.int32], X: NDArray[Any], threads: int = 1) -> NDArray[np.int32]:
    """The leaf of each row in each tree, given as ``number[leaf]``: int32 (rows, trees)."""
    from bench_models.trees.kernels import route_rows

    X = checked_rows(trees, X)
    leaf = np.zeros((len(X), trees.trees), dtype=np.int32)
    run_ranges(lambda start, stop: route_rows(trees, number, X[start:stop], leaf[start:stop]), len(X), threads, _BLOCK)
    return leaf
