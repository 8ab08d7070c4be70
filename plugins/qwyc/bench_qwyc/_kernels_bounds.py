"""Kernels of the bounds on how many examples a candidate stops, see `bounds`.

Numbers of negatives are mirrored (multiplied by −1), so that both classes are treated alike: ε⁻ lies among the smallest
sums of the positives, ε⁺ among the smallest mirrored sums of the negatives. Columns are divided into blocks. The
extremes of a block's partial sums and of a candidate's scores there bound the candidate's sums, so that most blocks
need not be read.
"""

from __future__ import annotations

import numba
import numpy as np

from bench_qwyc._kernels_select import kth_smallest

__all__ = ["BLOCK", "GONE", "active_extremes", "block_extremes", "bound_exits", "round_scores", "round_sums", "squeeze"]

BLOCK = 128
"""Number of columns in a block."""
GONE = 2**30
"""The sum of columns without an active example: above all others."""


@numba.njit(cache=True, nogil=True)
def round_scores(scores, rows, columns, split, units, out):  # type: ignore[no-untyped-def]
    """Write to ``out`` scores in units, rounded down, those of negatives then mirrored.

    Args:
        scores: (models, examples).
        rows: int64 (rows,): the models.
        columns: the example of each column.
        split: number of columns of positives.
        units: see `bounds`.
        out: int16 (rows, columns).
    """
    for t in range(len(rows)):
        row = scores[rows[t]]
        for i in range(split):
            out[t, i] = np.int16(np.floor(row[columns[i]] * units))
        for i in range(split, len(columns)):
            out[t, i] = -np.int16(np.floor(row[columns[i]] * units))


@numba.njit(cache=True, nogil=True)
def block_extremes(table, lows, highs):  # type: ignore[no-untyped-def]
    """Write the least and the greatest number of every block: (rows, blocks)."""
    for t in range(len(table)):
        row = table[t]
        for b in range(lows.shape[1]):
            low = high = row[b * BLOCK]
            for i in range(b * BLOCK, b * BLOCK + BLOCK):
                low, high = min(low, row[i]), max(high, row[i])
            lows[t, b], highs[t, b] = low, high


@numba.njit(cache=True, nogil=True)
def active_extremes(base):  # type: ignore[no-untyped-def]
    """The least and the greatest sum of the active examples in each block, and their number: int32 (blocks,) each."""
    blocks = len(base) // BLOCK
    least, greatest = np.full(blocks, GONE, dtype=np.int32), np.full(blocks, -GONE, dtype=np.int32)
    active = np.zeros(blocks, dtype=np.int32)
    for i in range(len(base)):
        if base[i] != GONE:
            b = i // BLOCK
            least[b], greatest[b] = min(least[b], base[i]), max(greatest[b], base[i])
            active[b] += 1
    return least, greatest, active


@numba.njit(cache=True, nogil=True)
def round_sums(places, sums, units, sign, out):  # type: ignore[no-untyped-def]
    """Write the partial sums to their places in ``out``, in units, rounded down, then multiplied by ``sign``."""
    for j in range(len(places)):
        out[places[j]] = sign * np.int32(np.floor(sums[j] * units))


@numba.njit(cache=True, nogil=True)
def squeeze(flat, width, rows, places):  # type: ignore[no-untyped-def]
    """Move rows and columns of a matrix to the front of its memory, as a contiguous matrix.

    Args:
        flat: the matrix, row by row; changed.
        width: number of its columns.
        rows: ascending, so that no row is written over before it is read.
        places: the columns to keep, in their new order; not more than there are columns.
    """
    at, row = 0, np.empty(width, dtype=flat.dtype)
    for r in range(len(rows)):
        for k in range(width):
            row[k] = flat[rows[r] * width + k]
        for i in range(len(places)):
            flat[at] = row[places[i]]
            at += 1


@numba.njit(cache=True, nogil=True)
def _block(values, b):  # type: ignore[no-untyped-def]
    """The values of a block; loops over it have a constant length, so that they are vectorised."""
    return values[b * BLOCK : b * BLOCK + BLOCK]


@numba.njit(cache=True, nogil=True)
def _below(base, row, lows, highs, active, blocks, limit):  # type: ignore[no-untyped-def]
    """The number of active examples in some blocks whose sum is below a limit."""
    bound, total = np.int32(limit), np.int64(0)
    for b in blocks:
        if highs[b] < bound:
            total += active[b]
        elif lows[b] < bound:
            hits, sums, scores = np.int16(0), _block(base, b), _block(row, b)
            for i in range(BLOCK):
                hits = np.int16(hits + np.int16(np.int32(sums[i] + scores[i]) < bound))
            total += hits
    return total


@numba.njit(cache=True, nogil=True)
def _smallest(base, row, lows, highs, active, blocks, k, out, heap):  # type: ignore[no-untyped-def]
    """The k-th smallest of the sums in some blocks, which have at least k active examples.

    The first blocks with k active examples give an upper limit; blocks beyond it are not read. Few are read if the sums
    ascend.
    """
    limit, found = np.int32(-GONE), 0
    for b in blocks:
        if found >= k:
            break
        if active[b]:
            limit = max(limit, highs[b])
            found += active[b]
    count = 0
    for b in blocks:
        if lows[b] > limit:
            continue
        sums, scores = _block(base, b), _block(row, b)
        if k == 1:
            for i in range(BLOCK):
                limit = min(limit, np.int32(sums[i] + scores[i]))
        else:
            some = out[count : count + BLOCK]
            for i in range(BLOCK):
                some[i] = sums[i] + scores[i]
            count += BLOCK
    return np.int64(limit if k == 1 else kth_smallest(out, count, k, heap)[0])


@numba.njit(cache=True, nogil=True)
def bound_exits(rows, scores, spread, base, extremes, split, budget, both, exits):  # type: ignore[no-untyped-def]
    """Upper bounds on the exits that `_kernels_optimise.scan_binary` finds.

    In units, a sum is between t − 0.4 and t + 2.4: t is the sum of two numbers rounded down, and 0.4 is more than the
    sum's own rounding error. So one sum can be smaller than another only if its t is at most 2 above the other's, and
    surely is smaller if its t is at least 3 below.

    Args:
        rows: int64 (candidates,): rows of ``scores``.
        scores: int16 (models, columns): rounded scores, those of positives first.
        spread: int16 (models, blocks), twice: from `block_extremes`.
        base: int32 (columns,): rounded partial sums, or `GONE`.
        extremes: of ``base``, from `active_extremes`.
        split: number of blocks of positives.
        budget, both: see `scan_binary`.
        exits: int64 (candidates,): result.
    """
    least, greatest, active = extremes
    pos, neg = range(split), range(split, len(active))
    positives, negatives = active[:split].sum(), active[split:].sum()
    lows, highs = np.empty_like(least), np.empty_like(greatest)
    out, heap = np.empty(len(base), dtype=np.int32), np.empty(len(base), dtype=np.int32)
    for c in range(len(rows)):
        if positives <= budget:
            exits[c] = positives + negatives
            continue
        row, low_scores, high_scores = scores[rows[c]], spread[0][rows[c]], spread[1][rows[c]]
        for b in range(len(active)):
            lows[b], highs[b] = least[b] + low_scores[b], greatest[b] + high_scores[b]
        low = _smallest(base, row, lows, highs, active, pos, budget + 1, out, heap)
        # At most `budget` positives are below ε⁻; of negatives, as many as possible.
        most = budget + negatives - _below(base, row, lows, highs, active, neg, -low - 2)
        if both:
            left = budget - (_below(base, row, lows, highs, active, pos, low - 2) if budget else 0)
            high = low
            if negatives > left:
                high = max(high, -_smallest(base, row, lows, highs, active, neg, left + 1, out, heap))
            most += _below(base, row, lows, highs, active, neg, 3 - high)
            most += positives - _below(base, row, lows, highs, active, pos, high - 2)
        exits[c] = min(most, positives + negatives)
