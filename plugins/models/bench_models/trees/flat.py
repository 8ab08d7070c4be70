"""Trees as flat arrays with one entry per node, for every method that decides by trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NAN_LEFT",
    "NAN_RIGHT",
    "NO_ZERO",
    "ZERO_LEFT",
    "ZERO_RIGHT",
    "FlatTrees",
    "checked_rows",
    "sibling_order",
    "walk_plain",
]

NAN_LEFT, NAN_RIGHT, ZERO_LEFT, ZERO_RIGHT = range(4)
"""Directions of missing values at a test: NaN to the left or right; NaN and 0 together to the left or right."""

NO_ZERO = -1.0
"""`FlatTrees.zero` of trees that treat 0 as any other number."""


class FlatTrees(NamedTuple):
    """Binary trees; a row goes left where its value is at most the threshold.

    Node numbers run through all trees, in any order. It is a named tuple, so that compiled code can take it as one
    argument.

    Attributes:
        root: int64 (trees,): root node of each tree.
        column: int32 (nodes,): column that a node tests; −1 for a leaf.
        threshold: float64 (nodes,).
        left: int32 (nodes,): the left child; the right child is the next node.
        missing: int8 (nodes,): ``NAN_LEFT``, ``NAN_RIGHT``, ``ZERO_LEFT`` or ``ZERO_RIGHT``.
        value: float (nodes, width): values of a leaf.
        unit_of_column: int64 (columns,): the unit (the feature) that is acquired when a column is tested. Writable, as
            numba compiles once more for read-only arrays.
        zero: values within this distance of 0 count as 0; ``NO_ZERO``: no such rule, and no test is ``ZERO_LEFT`` or
            ``ZERO_RIGHT``.
        single: whether values are compared as float32, as in scikit-learn's trees; `checked_rows` rounds them once.
    """

    root: NDArray[np.int64]
    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    missing: NDArray[np.int8]
    value: NDArray[Any]
    unit_of_column: NDArray[np.int64]
    zero: float = NO_ZERO
    single: bool = False

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.root)

    @property
    def inner(self) -> NDArray[np.bool_]:
        """Whether a node tests a column: bool (nodes,)."""
        return np.asarray(self.column >= 0)

    def depth(self) -> NDArray[np.int64]:
        """Number of tests above each node: int64 (nodes,)."""
        depth, at, level = np.zeros(len(self.column), dtype=np.int64), self.root, 0
        while len(at):
            depth[at] = level
            left = self.left[at[self.column[at] >= 0]].astype(np.int64)
            at, level = np.concatenate([left, left + 1]), level + 1
        return depth


def sibling_order(
    root: NDArray[np.int64], column: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order of a forest's nodes in which a right child follows its sibling, as `FlatTrees` needs it.

    Args:
        root: int64 (trees,).
        column: int32 (nodes,), −1 for a leaf.
        left, right: int32 (nodes,): children; every node but a root is the child of one node.

    Returns:
        int64 (nodes,): the node at each new place; int64 (nodes,): the new place of each node.
    """
    inner = np.flatnonzero(column >= 0)
    order = np.concatenate([root, np.column_stack([left[inner], right[inner]]).ravel()]).astype(np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return order, place


def checked_rows(trees: FlatTrees, X: NDArray[Any]) -> NDArray[np.float64]:
    """The rows in the form that compiled walks read: C-contiguous float64, rounded if the trees compare float32.

    They are read-only, like the core's arrays, so that kernels are compiled for one type only.

    Raises:
        ValueError: the rows have other columns than the trees were grown on.
    """
    columns = len(trees.unit_of_column)
    if X.ndim != 2 or X.shape[1] != columns:
        given = f"{X.shape[1]} columns" if X.ndim == 2 else f"shape {X.shape}"
        raise ValueError(f"the rows have {given}, the trees were grown on {columns} columns")
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(X.astype(np.float32) if trees.single else X, dtype=np.float64).view()
    rows.flags.writeable = False
    return rows


def walk_plain(trees: FlatTrees, x: NDArray[np.float64]) -> tuple[list[int], set[int]]:
    """Reference for the compiled walks, one row in plain Python: its leaf in each tree, and the units acquired."""
    leaves, units = [], set()
    for root in trees.root:
        node = int(root)
        while trees.column[node] >= 0:
            column = int(trees.column[node])
            units.add(int(trees.unit_of_column[column]))
            value, missing = float(np.float32(x[column]) if trees.single else x[column]), int(trees.missing[node])
            if abs(value) <= trees.zero:
                value = 0.0
            gone = np.isnan(value) or (missing in (ZERO_LEFT, ZERO_RIGHT) and value == 0.0)
            goes_left = missing in (NAN_LEFT, ZERO_LEFT) if gone else value <= trees.threshold[node]
            node = int(trees.left[node]) + (not goes_left)
        leaves.append(node)
    return leaves, units
