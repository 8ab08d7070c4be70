"""Kernels of `AdditiveTrees`: building the lists of tests, and scoring by striking out leaves (see `additive`)."""

from __future__ import annotations

import numba
import numpy as np

from bench_models.trees.flat import NAN_LEFT, NAN_RIGHT, ZERO_LEFT

__all__ = ["lists", "score"]

_ROWS_AT_ONCE = 128
_MOST_LEAVES = 64
_ALL = np.uint64(2**64 - 1)
_ONE = np.uint64(1)

# De Bruijn number: its product with a single bit has top six bits that identify the bit.
_SPREAD = np.uint64(0x03F79D71B4CB0A89)
_TOP = np.uint64(58)
_BIT = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _BIT[((int(_SPREAD) << _bit) & (2**64 - 1)) >> 58] = _bit


@numba.njit(cache=True, nogil=True)
def _lowest(count):  # type: ignore[no-untyped-def]
    """A mask of the lowest `count` bits; `count` is below 64."""
    return (_ONE << np.uint64(count)) - _ONE


@numba.njit(cache=True, nogil=True)
def lists(trees, start, node, keep, leaf_start, leaf, features):  # type: ignore[no-untyped-def]
    """Write the trees' tests and leaves, depth first; returns False at a tree of more than 64 leaves."""
    words = features.shape[1]
    stack = np.empty(_MOST_LEAVES + 1, dtype=np.int64)
    above = np.zeros((_MOST_LEAVES + 1, words), dtype=np.uint64)
    struck = np.empty(_MOST_LEAVES + 1, dtype=np.int64)  # for a right child the test above it; otherwise −1
    tests, leaves = 0, 0
    for tree in range(len(trees.root)):
        first = leaves
        leaf_start[tree] = leaves
        stack[0], struck[0], waiting = trees.root[tree], -1, 1
        above[0, :] = 0
        while waiting:
            waiting -= 1
            at, path = stack[waiting], above[waiting]
            if struck[waiting] >= 0:  # the left leaves of its test are those numbered since the test was visited
                own = struck[waiting]
                keep[own] = keep[own] | ~_lowest(leaves - first)
            if trees.column[at] < 0:
                if leaves - first == _MOST_LEAVES:
                    return False
                leaf[leaves] = at
                for w in range(words):
                    features[leaves, w] = path[w]
                leaves += 1
                continue
            if waiting + 2 > _MOST_LEAVES:
                return False
            node[tests] = at
            keep[tests] = _lowest(leaves - first)
            f = trees.unit_of_column[trees.column[at]]
            path[f // 64] |= _ONE << np.uint64(f % 64)
            stack[waiting], struck[waiting] = trees.left[at] + 1, tests
            stack[waiting + 1], struck[waiting + 1] = trees.left[at], -1
            for w in range(words):
                above[waiting + 1, w] = path[w]
            waiting += 2
            tests += 1
        start[tree + 1] = tests
    return True


@numba.njit(cache=True, nogil=True)
def score(  # type: ignore[no-untyped-def]
    X, start, slot, threshold, missing, keep, leaf_start, value, features, columns, zero, first, last, scores, acquired
):
    """Score trees ``first`` … ``last − 1`` by striking out leaves."""
    rows, outputs, words = len(X), scores.shape[1], features.shape[1]
    block = np.zeros((len(columns), _ROWS_AT_ONCE))
    stays = np.empty(_ROWS_AT_ONCE, dtype=np.uint64)
    read = np.empty((_ROWS_AT_ONCE, words), dtype=np.uint64)
    for begin in range(0, rows, _ROWS_AT_ONCE):
        many = min(_ROWS_AT_ONCE, rows - begin)
        for j in range(len(columns)):
            c = columns[j]
            for r in range(many):
                x = X[begin + r, c]
                block[j, r] = 0.0 if -zero <= x <= zero else x
        read[:] = 0
        for tree in range(first, last):
            stays[:] = _ALL
            for k in range(start[tree], start[tree + 1]):
                x, at, kept, kind = block[slot[k]], threshold[k], keep[k], missing[k]
                if kind == NAN_LEFT:
                    for r in range(_ROWS_AT_ONCE):
                        stays[r] &= kept if x[r] > at else _ALL
                elif kind == NAN_RIGHT:
                    for r in range(_ROWS_AT_ONCE):
                        stays[r] &= _ALL if x[r] <= at else kept
                elif kind == ZERO_LEFT:
                    for r in range(_ROWS_AT_ONCE):
                        stays[r] &= kept if x[r] > at and x[r] != 0.0 else _ALL
                else:
                    for r in range(_ROWS_AT_ONCE):
                        stays[r] &= _ALL if x[r] <= at and x[r] != 0.0 else kept
            output, base = tree % outputs, leaf_start[tree]
            for r in range(many):
                lowest = stays[r] & (~stays[r] + _ONE)
                leaf = base + _BIT[(lowest * _SPREAD) >> _TOP]
                scores[begin + r, output] += value[leaf]
                for w in range(words):
                    read[r, w] |= features[leaf, w]
        for r in range(many):
            for f in range(acquired.shape[1]):
                if (read[r, f // 64] >> np.uint64(f % 64)) & _ONE:
                    acquired[begin + r, f] = True
