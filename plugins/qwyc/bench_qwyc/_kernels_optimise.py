"""Kernels of the optimiser: thresholds of every candidate for a position, and the step to the next position.

Active examples are kept in two lists, by the full ensemble's decision, because only positives among the lowest sums
and negatives among the highest sums can become errors.
"""

from __future__ import annotations

import numba
import numpy as np

from bench_qwyc._kernels_select import kth_smallest

__all__ = ["scan_binary", "scan_margins", "step_binary", "step_margins", "sum_scores"]


@numba.njit(cache=True, nogil=True)
def _count_below(values, count, limit):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(count):
        total += values[i] < limit
    return total


@numba.njit(cache=True, nogil=True)
def _sums(row, index, base, sign, out):  # type: ignore[no-untyped-def]
    """Write ``sign * (base + row[index])`` to ``out``; negation is exact."""
    if sign > 0:
        for i in range(len(index)):
            out[i] = base[i] + row[index[i]]
    else:
        for i in range(len(index)):
            out[i] = -(base[i] + row[index[i]])


@numba.njit(cache=True, nogil=True)
def _candidate(row, pos, neg, g_pos, g_neg, budget, both, up, down, heap):  # type: ignore[no-untyped-def]
    """Algorithm 2 for one candidate: (exits, ε⁻, ε⁺). ``up``, ``down``, ``heap`` are scratch."""
    positives, negatives = len(pos), len(neg)
    infinity = up.dtype.type(np.inf)
    if positives <= budget:
        return positives + negatives, infinity, infinity
    _sums(row, pos, g_pos, 1, up)
    low, errors = kth_smallest(up, positives, budget + 1, heap)
    _sums(row, neg, g_neg, -1, down)
    # In negated sums, the negatives that stay active are those ≤ -low, and the smallest become errors first.
    mirrored = -low
    stay = _count_not_above(down, negatives, mirrored)
    exits = errors + negatives - stay
    if not both:
        return exits, low, infinity
    left = budget - errors
    high, over = low, -1
    if stay > left:
        worst, over = kth_smallest(down, negatives, left + 1, heap)
        if -worst > low:
            high = -worst
        else:
            over = -1
    if over < 0:
        over = _count_below(down, negatives, mirrored)
    exits += over + positives - _count_not_above(up, positives, high)
    return exits, low, high


@numba.njit(cache=True, nogil=True)
def _count_not_above(values, count, limit):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(count):
        total += values[i] <= limit
    return total


@numba.njit(cache=True, nogil=True)
def scan_binary(scores, rows, pos, neg, g_pos, g_neg, budget, both, exits, lows, highs):  # type: ignore[no-untyped-def]
    """Thresholds of several candidates at one position.

    Args:
        scores: (models, examples): base scores.
        rows: int64 (candidates,): base models.
        pos: uint32: columns of ``scores`` of the active examples that the full ensemble decides as positive.
        neg: uint32: those that it decides as negative.
        g_pos: partial sums of ``pos``.
        g_neg: partial sums of ``neg``.
        budget: number of errors still allowed.
        both: whether positives may stop early.
        exits: (candidates,): result, the number of examples that stop.
        lows: (candidates,): result, ε⁻.
        highs: (candidates,): result, ε⁺.
    """
    up, down = np.empty_like(g_pos), np.empty_like(g_neg)
    heap = np.empty(max(len(pos), len(neg), 1), dtype=g_pos.dtype)
    for c in range(len(rows)):
        exits[c], lows[c], highs[c] = _candidate(scores[rows[c]], pos, neg, g_pos, g_neg, budget, both, up, down, heap)


@numba.njit(cache=True, nogil=True)
def step_binary(row, index, sums, low, high):  # type: ignore[no-untyped-def]
    """Add a base model's scores and drop the examples that stop.

    Returns:
        Columns and sums of the examples that remain active, and the numbers that stopped below ``low`` and above
        ``high``.
    """
    left, left_sums = np.empty_like(index), np.empty_like(sums)
    stay, below, above = 0, 0, 0
    for i in range(len(index)):
        value = sums[i] + row[index[i]]
        if value < low:
            below += 1
        elif value > high:
            above += 1
        else:
            left[stay], left_sums[stay] = index[i], value
            stay += 1
    return left[:stay].copy(), left_sums[:stay].copy(), below, above


@numba.njit(cache=True, nogil=True)
def sum_scores(scores, bias):  # type: ignore[no-untyped-def]
    """Full scores, summed in the natural order: (examples,)."""
    total = np.full(scores.shape[1], bias, dtype=scores.dtype)
    for t in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            total[i] += scores[t, i]
    return total


@numba.njit(cache=True, nogil=True)
def _margin(row, sums):  # type: ignore[no-untyped-def]
    """The best class (the first among equals) of ``sums + row`` and its lead over the second."""
    infinity = sums.dtype.type(np.inf)
    best, second, label = -infinity, -infinity, 0
    for k in range(len(sums)):
        value = sums[k] + row[k]
        if value > best:
            best, second, label = value, best, k
        elif value > second:
            second = value
    return best - second, label


@numba.njit(cache=True, nogil=True)
def scan_margins(scores, rows, index, labels, sums, budget, exits, limits):  # type: ignore[no-untyped-def]
    """`scan_binary` for several classes: an example stops if its best class leads by more than the limit.

    Args:
        scores: (models, examples, classes): base scores.
        rows: int64 (candidates,): rows of ``scores``.
        index: columns of ``scores`` of the active examples.
        labels: (active,): their full decisions.
        sums: (active, classes): their partial sums.
        budget: number of errors still allowed.
        exits: (candidates,): result, the number of examples that stop.
        limits: (candidates,): result, the lead above which an example stops.
    """
    count = len(index)
    margins, wrong = np.empty(count, dtype=sums.dtype), np.empty(count, dtype=sums.dtype)
    heap = np.empty(max(count, 1), dtype=sums.dtype)
    for c in range(len(rows)):
        bad = 0
        for i in range(count):
            margins[i], label = _margin(scores[rows[c], index[i]], sums[i])
            wrong[bad] = -margins[i]
            bad += label != labels[i]
        if bad <= budget:
            limits[c], exits[c] = -np.inf, count
            continue
        worst, _ = kth_smallest(wrong, bad, budget + 1, heap)
        limits[c] = -worst
        exits[c] = count - _count_not_above(margins, count, limits[c])


@numba.njit(cache=True, nogil=True)
def step_margins(scores, row, index, labels, sums, limit):  # type: ignore[no-untyped-def]
    """`step_binary` for several classes.

    Returns:
        Columns, labels and sums of the examples that remain active, and the number that stopped with a wrong decision.
    """
    left = np.empty_like(index)
    stay, errors = 0, 0
    for i in range(len(index)):
        margin, label = _margin(scores[row, index[i]], sums[i])
        if margin > limit:
            errors += label != labels[i]
        else:
            left[stay] = i
            stay += 1
    left = left[:stay]
    columns = index[left]
    after = sums[left].copy()
    for i in range(stay):
        for k in range(sums.shape[1]):
            after[i, k] += scores[row, columns[i], k]
    return columns, labels[left], after, errors
