"""A decision tree as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree"]


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree with its nodes in breadth-first order; node 0 is the root.

    Attributes:
        column: int64 (nodes,): the tested column of X; −1 for a leaf.
        threshold: float64 (nodes,): rows with a value ≤ threshold go left.
        missing_left: bool (nodes,): whether rows with a missing value go left.
        left: int64 (nodes,): the left child; the right child is the next node; −1 for a leaf.
        counts: int64 (nodes, classes): number of training rows of each class.
    """

    column: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.column)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most frequent class of each node, the first among equals; int64 (nodes,)."""
        best: NDArray[np.int64] = self.counts.argmax(axis=1)
        return best

    @property
    def errors(self) -> NDArray[np.int64]:
        """Number of training rows of each node whose class is not its label; int64 (nodes,)."""
        wrong: NDArray[np.int64] = self.counts.sum(axis=1) - self.counts.max(axis=1)
        return wrong

    def ended(self, leaf: NDArray[np.bool_]) -> Tree:
        """A copy in which the marked nodes, bool (nodes,), are leaves; unreachable nodes stay in the arrays."""
        return replace(self, column=np.where(leaf, -1, self.column), left=np.where(leaf, -1, self.left))

    def cut(self, leaf: NDArray[np.bool_]) -> Tree:
        """A copy in which the marked nodes, bool (nodes,), are leaves, without unreachable nodes."""
        remaining = np.zeros(len(self), dtype=bool)
        remaining[0] = True
        for node in range(len(self)):
            if remaining[node] and not leaf[node] and self.left[node] >= 0:
                remaining[self.left[node] : self.left[node] + 2] = True
        number = np.cumsum(remaining) - 1
        ends = leaf | (self.left < 0)
        left = np.where(ends, -1, number[self.left])
        column = np.where(ends, -1, self.column)
        return Tree(
            column[remaining],
            self.threshold[remaining],
            self.missing_left[remaining],
            left[remaining],
            self.counts[remaining],
        )

    def next_column(self, X: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The column of the first test on each row's path whose value is not known.

        Args:
            X: float64 (rows, columns); unknown values are not read.
            known: bool (rows, columns).

        Returns:
            int64 (rows,); −1 for a row that reaches a leaf.
        """
        node = np.zeros(len(X), dtype=np.int64)
        rows = np.arange(len(X))
        while len(rows):
            column = self.column[node[rows]]
            passes = (column >= 0) & known[rows, column]
            rows, column = rows[passes], column[passes]
            at, values = node[rows], X[rows, column]
            left = np.where(np.isnan(values), self.missing_left[at], values <= self.threshold[at])
            node[rows] = self.left[at] + ~left
        return np.asarray(self.column[node])

    def route(self, X: NDArray[np.float64]) -> tuple[NDArray[np.int64], list[tuple[NDArray[np.int64], int]]]:
        """Send rows down the tree.

        Args:
            X: float64 (rows, columns).

        Returns:
            The leaf of each row, int64 (rows,), and for every test that rows reach: the indices of these rows and
            the tested column.
        """
        leaf = np.zeros(len(X), dtype=np.int64)
        met: list[tuple[NDArray[np.int64], int]] = []
        todo = [(0, np.arange(len(X)))]
        while todo:
            node, rows = todo.pop()
            leaf[rows] = node
            column = int(self.column[node])
            if column < 0 or not len(rows):
                continue
            met.append((rows, column))
            values = X[rows, column]
            left = np.where(np.isnan(values), self.missing_left[node], values <= self.threshold[node])
            todo += [(int(self.left[node]), rows[left]), (int(self.left[node]) + 1, rows[~left])]
        return leaf, met
