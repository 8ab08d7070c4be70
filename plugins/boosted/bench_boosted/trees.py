"""Boosted trees as flat arrays: a row's scores, and the features on its own paths.

A row's leaf is not walked to but left over: every tree numbers its leaves from left to right, each test that sends
the row right strikes out the leaves on its left, and the lowest leaf that remains is the row's (QuickScorer,
Lucchese et al., SIGIR 2015). All tests are made, but without a branch, many rows at a time; what a row pays for are
the features above its leaf. Trees of more than 64 leaves are walked. Scores add up in the trees' order either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_boosted.missing import NAN_LEFT, NAN_RIGHT, ZERO_LEFT, ZERO_RIGHT

__all__ = ["NAN_LEFT", "NAN_RIGHT", "ZERO_LEFT", "ZERO_RIGHT", "AdditiveTrees", "walk_plain"]


class Tests(NamedTuple):
    """Trees as lists of tests, see `AdditiveTrees.tests`.

    Attributes:
        start: int64 (trees + 1,): tests of each tree.
        slot: int64 (tests,): which of `columns` is tested.
        threshold, missing: of the tests.
        keep: uint64 (tests,): the leaves that stay when a row goes right.
        leaf_start: int64 (trees,).
        value: float64 (leaves,).
        features: uint64 (leaves, words): the features above a leaf, as bits.
        columns: int64 (slots,): the columns that are tested at all.
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
    """Trees whose leaves add to scores; tree ``t`` belongs to output ``t % outputs``.

    Attributes:
        outputs: trees of one round: 1, or the number of classes.
        roots: int64 (trees,): root node of each tree.
        column: int32 (nodes,): column tested, −1 at a leaf.
        threshold: float64 (nodes,): a value ≤ this goes left.
        missing: int8 (nodes,): where missing values go: ``NAN_LEFT``, ``NAN_RIGHT``, ``ZERO_LEFT``, ``ZERO_RIGHT``.
        left, right: int32 (nodes,): children.
        value: float64 (nodes,): what a leaf adds.
        feature_of_column: int64 (columns,).
        n_features: number of features.
        zero: a value within this distance of 0 is 0.
    """

    outputs: int
    roots: NDArray[np.int64]
    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing: NDArray[np.int8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]
    feature_of_column: NDArray[np.int64]
    n_features: int
    zero: float = 0.0

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @cached_property
    def tests(self) -> Tests | None:
        """The trees as lists of tests; None when one has more than 64 leaves."""
        from bench_boosted._kernels import lists

        columns = np.unique(self.column[self.column >= 0]).astype(np.int64)
        slot = np.zeros(len(self.feature_of_column), dtype=np.int64)
        slot[columns] = np.arange(len(columns))
        words = max(1, -(-self.n_features // 64))
        tests, leaves = int((self.column >= 0).sum()), int((self.column < 0).sum())
        start, leaf_start = np.zeros(self.trees + 1, dtype=np.int64), np.zeros(self.trees, dtype=np.int64)
        node, keep = np.zeros(tests, dtype=np.int64), np.zeros(tests, dtype=np.uint64)
        leaf, features = np.zeros(leaves, dtype=np.int64), np.zeros((leaves, words), dtype=np.uint64)
        if not lists(
            self.roots, self.column, self.left, self.right, self.feature_of_column,
            start, node, keep, leaf_start, leaf, features,
        ):  # fmt: skip
            return None
        return Tests(
            start, slot[self.column[node]], self.threshold[node], self.missing[node], keep,
            leaf_start, self.value[leaf], features, columns,
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
        self,
        X: NDArray[np.float64],
        first: int,
        last: int,
        scores: NDArray[np.float64],
        acquired: NDArray[np.bool_],
    ) -> None:
        """Run trees ``first`` … ``last − 1``: add to the scores and mark what each row's paths read, in place.

        Args:
            X: float64 (rows, columns).
            first, last: trees.
            scores: float64 (rows, outputs), C-contiguous.
            acquired: bool (rows, features), C-contiguous.

        Raises:
            ValueError: the rows have other columns than the trees were grown on.
        """
        from bench_boosted import _kernels as kernels

        columns = len(self.feature_of_column)
        if X.ndim != 2 or X.shape[1] != columns:
            said = f"{X.shape[1]} columns" if X.ndim == 2 else f"shape {X.shape}"
            raise ValueError(f"the rows have {said}, the trees were grown on {columns} columns")
        if last <= first or not len(X):
            return
        X = np.ascontiguousarray(X, dtype=np.float64)
        if self.tests is not None:
            kernels.score(X, *self.tests, self.zero, first, last, scores, acquired)
            return
        kernels.walk(
            X, self.roots, self.column, self.threshold, self.missing, self.left, self.right, self.value,
            self.feature_of_column, self.zero, first, last, scores, acquired,
        )  # fmt: skip


def walk_plain(trees: AdditiveTrees, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What all trees give, in plain Python: the reference for the kernels."""
    scores, acquired = trees.empty(len(X))
    for row, x in enumerate(X):
        for tree, root in enumerate(trees.roots):
            at = int(root)
            while trees.column[at] >= 0:
                value, missing = float(x[trees.column[at]]), trees.missing[at]
                acquired[row, trees.feature_of_column[trees.column[at]]] = True
                if abs(value) <= trees.zero:
                    value = 0.0
                gone = np.isnan(value) or (missing in (ZERO_LEFT, ZERO_RIGHT) and value == 0.0)
                goes_left = missing in (NAN_LEFT, ZERO_LEFT) if gone else value <= trees.threshold[at]
                at = int(trees.left[at] if goes_left else trees.right[at])
            scores[row, tree % trees.outputs] += trees.value[at]
    return scores, acquired
