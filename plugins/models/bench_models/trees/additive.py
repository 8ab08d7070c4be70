"""Boosted trees: a row's scores, and the features on its paths.

Trees of at most 64 leaves are not walked. The leaves of a tree are numbered from left to right; each test that sends
the row right strikes out the leaves on its left, and the lowest remaining leaf is the row's (QuickScorer, Lucchese et
al., SIGIR 2015). All tests are evaluated, but without branches and for many rows at a time; a row pays only for the
features above its leaf. Larger trees are walked. In both cases scores are summed in the trees' order.

The lists of tests are a second form of the same `FlatTrees`, built at the first run. They score blocks of rows through
all given trees and cannot stop a row in between; pruned forests and early exits use the walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_models.trees.flat import FlatTrees, checked_rows

__all__ = ["AdditiveTrees"]


class Tests(NamedTuple):
    """Trees as lists of tests, see `AdditiveTrees.tests`.

    Attributes:
        start: int64 (trees + 1,): tree t has the tests ``start[t]:start[t + 1]``.
        slot: int64 (tests,): index in `columns` of the tested column.
        threshold, missing: threshold and kind of missing values of each test.
        keep: uint64 (tests,): the leaves that remain if a row goes right.
        leaf_start: int64 (trees,): index of each tree's first leaf.
        value: float64 (leaves,): value of each leaf.
        features: uint64 (leaves, words): the features above a leaf, as bits.
        columns: int64 (slots,): the columns that some test reads.
    """

    start: NDArray[np.int64]
    slot: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing: NDArray[np.int8]
    keep: NDArray[np.uint64]
    leaf_start: NDArray[np.int64]
    value: NDArray[np.float64]
    features: NDArray[np.uint64]
    columns: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AdditiveTrees:
    """Trees whose leaves are summed to scores; tree ``t`` belongs to output ``t % outputs``.

    Attributes:
        flat: the trees; each leaf has one value, float64, and values are compared as float64.
        outputs: number of trees of a round: 1, or the number of classes.
        n_features: number of features; the trees' units are features.
    """

    flat: FlatTrees
    outputs: int
    n_features: int

    @property
    def trees(self) -> int:
        """Number of trees."""
        return self.flat.trees

    @cached_property
    def tests(self) -> Tests | None:
        """The trees as lists of tests; None if a tree has more than 64 leaves."""
        from bench_models.trees._kernels_strike import lists

        flat = self.flat
        columns = np.unique(flat.column[flat.inner]).astype(np.int64)
        slot = np.zeros(len(flat.unit_of_column), dtype=np.int64)
        slot[columns] = np.arange(len(columns))
        words = max(1, -(-self.n_features // 64))
        tests, leaves = int(flat.inner.sum()), int((~flat.inner).sum())
        start, leaf_start = np.zeros(self.trees + 1, dtype=np.int64), np.zeros(self.trees, dtype=np.int64)
        node, keep = np.zeros(tests, dtype=np.int64), np.zeros(tests, dtype=np.uint64)
        leaf, features = np.zeros(leaves, dtype=np.int64), np.zeros((leaves, words), dtype=np.uint64)
        if not lists(flat, start, node, keep, leaf_start, leaf, features):
            return None
        return Tests(
            start, slot[flat.column[node]], flat.threshold[node], flat.missing[node], keep,
            leaf_start, flat.value[leaf, 0], features, columns,
        )  # fmt: skip

    def empty(self, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Scores of 0 (rows, outputs), and nothing acquired (rows, features)."""
        return np.zeros((rows, self.outputs)), np.zeros((rows, self.n_features), dtype=bool)

    def run(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Scores (rows, outputs) of all trees, and the features on each row's paths (rows, features).

        Raises:
            ValueError: the rows have other columns than the trees were grown on.
        """
        scores, acquired = self.empty(len(X))
        self.advance(X, 0, self.trees, scores, acquired)
        return scores, acquired

    def advance(
        self, X: NDArray[np.float64], first: int, last: int, scores: NDArray[np.float64], acquired: NDArray[np.bool_]
    ) -> None:
        """Run trees ``first`` … ``last − 1``: add to the scores and mark the features on each row's paths, in place.

        Args:
            X: float64 (rows, columns).
            first, last: range of trees.
            scores: float64 (rows, outputs), C-contiguous.
            acquired: bool (rows, features), C-contiguous.

        Raises:
            ValueError: the rows have other columns than the trees were grown on.
        """
        X = checked_rows(self.flat, X)
        if last <= first or not len(X):
            return
        if self.tests is not None:
            from bench_models.trees._kernels_strike import score

            score(X, *self.tests, max(self.flat.zero, 0.0), first, last, scores, acquired)
            return
        from bench_models.trees.kernels import add_trees

        add_trees(self.flat, X, first, last, scores, acquired)
