"""Kernels of the bounds on how many examples a candidate stops, see `bounds`."""

from __future__ import annotations

import numba
import numpy as np

from bench_qwyc._kernels_select import kth_smallest

__all__ = ["bound_exits", "reach", "round_scores", "round_sums", "squeeze"]

ABOVE = 2**31 - 1
"""A number above all sums."""
BLOCK = 256
"""Number of comparisons counted in a small integer before it is added to the total, since vectors hold many small
integers."""


@numba.njit(cache=True, nogil=True)
def reach(scores, bias):  # type: ignore[no-untyped-def]
    """The lowest and the highest partial sum that any order can give, and the largest absolute score."""
    low = np.full(scores.shape[1], bias, dtype=np.float64)
    high = low.copy()
    largest = 0.0
    for t in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            value = np.float64(scores[t, i])
            low[i] += min(value, 0.0)
            high[i] += max(value, 0.0)
            largest = max(largest, abs(value))
    return low.min(), high.max(), largest


@numba.njit(cache=True, nogil=True)
def round_scores(scores, start, stop, columns, units, out):  # type: ignore[no-untyped-def]
    """Write to ``out`` the scores of the rows start..stop in these columns, in units, rounded down."""
    for t in range(start, stop):
        row = scores[t]
        for i in range(len(columns)):
            out[t, i] = np.int16(np.floor(row[columns[i]] * units))


@numba.njit(cache=True, nogil=True)
def round_sums(columns, index, sums, units, gone, out):  # type: ignore[no-untyped-def]
    """Write to ``out`` the partial sums in units, rounded down; ``gone`` for examples that have stopped.

    Args:
        columns: uint32: examples, ascending; one for each entry of `out`.
        index: those of them that are active, ascending.
        sums: their partial sums.
    """
    j = 0
    for i in range(len(columns)):
        if j < len(index) and index[j] == columns[i]:
            out[i] = np.int32(np.floor(sums[j] * units))
            j += 1
        else:
            out[i] = gone


@numba.njit(cache=True, nogil=True)
def squeeze(flat, width, rows, places):  # type: ignore[no-untyped-def]
    """Move rows and columns of a matrix to the front of its memory, as a contiguous matrix.

    Args:
        flat: the matrix, row by row; changed.
        width: number of its columns.
        rows, places: ascending, so that nothing is written over before it is read.
    """
    at = 0
    for r in range(len(rows)):
        start = rows[r] * width
        for i in range(len(places)):
            flat[at] = flat[start + places[i]]
            at += 1


@numba.njit(cache=True, nogil=True)
def _not_above(values, count, limit):  # type: ignore[no-untyped-def]
    """The number of values among the first ``count`` that are at most ``limit``."""
    bound = np.int32(limit)
    total, start = np.int64(0), 0
    while start + BLOCK <= count:
        hits = np.uint16(0)
        for j in range(start, start + BLOCK):
            hits = np.uint16(hits + np.uint16(values[j] <= bound))
        total += np.int64(hits)
        start += BLOCK
    for j in range(start, count):
        total += values[j] <= bound
    return total


@numba.njit(cache=True, nogil=True)
def _least(base, row):  # type: ignore[no-untyped-def]
    """The least of the sums; 2^31 − 1 if there are none."""
    least = np.int32(2**31 - 1)
    for i in range(len(base)):
        least = min(least, np.int32(base[i] + row[i]))
    return np.int64(least)


@numba.njit(cache=True, nogil=True)
def _greatest(base, row):  # type: ignore[no-untyped-def]
    """The greatest of the sums; −2^31 if there are none."""
    greatest = np.int32(-(2**31))
    for i in range(len(base)):
        greatest = max(greatest, np.int32(base[i] + row[i]))
    return np.int64(greatest)


@numba.njit(cache=True, nogil=True)
def _more_above(base, row, limit, other):  # type: ignore[no-untyped-def]
    """The number of sums above one limit minus the number above another."""
    first, second = np.int32(limit), np.int32(other)
    total, start, count = np.int64(0), 0, len(base)
    while start + BLOCK <= count:
        more = np.int16(0)
        for j in range(start, start + BLOCK):
            value = np.int32(base[j] + row[j])
            more = np.int16(more + np.int16(value > first) - np.int16(value > second))
        total += np.int64(more)
        start += BLOCK
    for j in range(start, count):
        value = np.int32(base[j] + row[j])
        total += np.int64(value > first) - np.int64(value > second)
    return total


@numba.njit(cache=True, nogil=True)
def bound_exits(rows, scores, base, split, positives, negatives, budget, both, exits):  # type: ignore[no-untyped-def]
    """Upper bounds on the exits that `_kernels_optimise.scan_binary` finds.

    In units, a sum is between t − 0.4 and t + 2.4: t is the sum of two numbers rounded down, and 0.4 is more than the
    sum's own rounding error. So one sum can be smaller than another only if its t is at most 2 above the other's, and
    surely is smaller if its t is at least 3 below.

    Args:
        rows: int64 (candidates,): rows of ``scores``.
        scores: int16 (models, columns): rounded scores, of positives first.
        base: int32 (columns,): rounded partial sums; stopped examples are beyond all others, on their class's side.
        split: number of columns that are positives.
        positives, negatives: how many of each are active.
        budget, both: see `scan_binary`.
        exits: int64 (candidates,): result.
    """
    others = len(base) - split
    up, down = np.empty(split, dtype=np.int32), np.empty(others, dtype=np.int32)
    heap = np.empty(max(split, others, 1), dtype=np.int32)
    active = positives + negatives
    for c in range(len(rows)):
        if positives <= budget:
            exits[c] = active
            continue
        row = scores[rows[c]]
        if budget == 0:
            low = _least(base[:split], row[:split])
            high = max(low, _greatest(base[split:], row[split:])) if both else np.int64(ABOVE)
            more = _more_above(base[split:], row[split:], high - 3, low + 2)
            if both:
                more += positives - split + _more_above(base[:split], row[:split], high - 3, ABOVE)
            exits[c] = min(negatives + more, active)
            continue
        for i in range(split):
            up[i] = base[i] + row[i]
        for i in range(others):
            down[i] = -(base[split + i] + row[split + i])
        low = np.int64(kth_smallest(up, split, budget + 1, heap)[0])
        # At most `budget` positives are below ε⁻; of negatives, as many as possible.
        most = budget + negatives - _not_above(down, others, -(low + 3))
        if both:
            left = budget - _not_above(up, split, low - 3)
            high = low
            if negatives > left:
                high = max(high, -np.int64(kth_smallest(down, others, left + 1, heap)[0]))
            most += _not_above(down, others, -(high - 2)) + positives - _not_above(up, split, high - 3)
        exits[c] = min(most, active)
