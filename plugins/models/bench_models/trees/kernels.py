"""The compiled walk from a root to the row's leaf, which marks the units acquired on the path.

Kernels of other plugins may use `leaf_of`. Every row is computed on its own, and its sum runs over the trees in their
order, so bits depend on neither batches nor blocks.
"""

from __future__ import annotations

import numba
import numpy as np

from bench_models.trees.flat import ZERO_LEFT

__all__ = ["add_trees", "blocked_at", "count_tests", "leaf_of", "mark_blocked", "route_rows"]

_ROWS_AT_ONCE = 512


@numba.njit(cache=True, nogil=True, inline="always")
def child_of(trees, node, value):  # type: ignore[no-untyped-def]
    """The child of ``node`` to which a row with this value in the node's column goes."""
    right = not value <= trees.threshold[node]
    if not abs(value) > trees.zero:  # missing, or nearly 0 if the trees have a rule for zeros
        kind = trees.missing[node]
        right = kind & 1 == 1 if value != value or kind >= ZERO_LEFT else not trees.threshold[node] >= 0.0
    return np.uintp(trees.left[node]) + np.uintp(right)


@numba.njit(cache=True, nogil=True, inline="always")
def leaf_of(trees, node, X, row, acquired, place):  # type: ignore[no-untyped-def]
    """The leaf below ``node`` that row ``row`` of ``X`` reaches; marks ``acquired[place, unit]`` on the path.

    ``X`` is as `bench_models.trees.checked_rows` gives it.
    """
    # Unsigned indices save numba's test for negative ones at every access.
    node, row, place = np.uintp(node), np.uintp(row), np.uintp(place)
    column = trees.column[node]
    while column >= 0:
        acquired[place, np.uintp(trees.unit_of_column[np.uintp(column)])] = True
        node = child_of(trees, node, X[row, np.uintp(column)])
        column = trees.column[node]
    return node


@numba.njit(cache=True, nogil=True)
def blocked_at(trees, node, X, row, known):  # type: ignore[no-untyped-def]
    """The unit of the first test below ``node`` on the path of row ``row`` that is not known; −1 if there is none.

    ``known`` is bool (rows, units); values of other units are not read. Otherwise as `leaf_of`.
    """
    node, row = np.uintp(node), np.uintp(row)
    column = trees.column[node]
    while column >= 0:
        unit = trees.unit_of_column[np.uintp(column)]
        if not known[row, np.uintp(unit)]:
            return unit
        node = child_of(trees, node, X[row, np.uintp(column)])
        column = trees.column[node]
    return -1


@numba.njit(cache=True, nogil=True)
def mark_blocked(trees, X, known, last, wanted):  # type: ignore[no-untyped-def]
    """Mark in ``wanted`` (rows, units) the first unknown unit on each row's path in each of the first ``last``
    trees."""
    for start in range(0, len(X), _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(X))
        for tree in range(last):
            for i in range(start, stop):
                unit = blocked_at(trees, trees.root[tree], X, i, known)
                if unit >= 0:
                    wanted[i, unit] = True


@numba.njit(cache=True, nogil=True)
def add_trees(trees, X, first, last, scores, acquired):  # type: ignore[no-untyped-def]
    """Add the leaves of trees ``first`` … ``last − 1`` to ``scores`` (rows, outputs); mark ``acquired`` (rows, units).

    A leaf with several values adds one to each output; a leaf with one value adds it to output ``tree % outputs``.
    """
    outputs, width = scores.shape[1], trees.value.shape[1]
    for start in range(0, len(X), _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(X))
        for tree in range(first, last):
            root, output = trees.root[tree], tree % outputs
            for i in range(start, stop):
                leaf = leaf_of(trees, root, X, i, acquired, i)
                if width == 1:
                    scores[i, output] += trees.value[leaf, 0]
                else:
                    for c in range(width):
                        scores[i, c] += trees.value[leaf, c]


@numba.njit(cache=True, nogil=True)
def route_rows(trees, number, X, leaf):  # type: ignore[no-untyped-def]
    """Write the leaf of every row in every tree, given as its ``number``, to ``leaf`` (rows, trees)."""
    ignored = np.zeros((1, trees.unit_of_column.max() + 1), dtype=np.bool_)
    for start in range(0, len(X), _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(X))
        for tree in range(len(trees.root)):
            for i in range(start, stop):
                leaf[i, tree] = number[leaf_of(trees, trees.root[tree], X, i, ignored, 0)]


@numba.njit(cache=True, nogil=True)
def count_tests(trees, depth, X, total):  # type: ignore[no-untyped-def]
    """Write to ``total`` the number of tests on all rows' paths in each of the first ``len(total)`` trees; ``depth``
    holds the depth of each node."""
    ignored = np.zeros((1, trees.unit_of_column.max() + 1), dtype=np.bool_)
    for tree in range(len(total)):
        met = 0
        for i in range(len(X)):
            met += depth[leaf_of(trees, trees.root[tree], X, i, ignored, 0)]
        total[tree] = met
