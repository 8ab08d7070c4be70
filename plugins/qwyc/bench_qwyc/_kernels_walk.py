"""Kernels of decisions: a block of rows runs through the base models in order; rows that stop leave the block."""

from __future__ import annotations

import numba
import numpy as np
from bench_models.trees.kernels import blocked_at

from bench_qwyc._kernels_models import BLOCK, run_model

__all__ = ["decide_bins", "decide_margins", "decide_thresholds", "next_of_trees"]


@numba.njit(cache=True, nogil=True)
def _load(packed, X, rows, count, columns):  # type: ignore[no-untyped-def]
    """Copy rows to columns, as small networks read them."""
    if not packed.is_trees:
        for c in range(X.shape[1]):
            for i in range(count):
                columns[c, i] = X[rows[i], c]


@numba.njit(cache=True, nogil=True)
def _shrink(packed, X, rows, slots, count, columns, g, ids, seen, wide):  # type: ignore[no-untyped-def]
    """Move active rows to the front once a quarter of the places is unused; return the number of places in use."""
    if 4 * count > 3 * wide:
        return wide
    for a in range(count):
        place = slots[a]
        rows[a], ids[a] = rows[place], ids[place]
        g[a] = g[place]
        seen[a] = seen[place]
        slots[a] = a
    _load(packed, X, rows, count, columns)
    return count


@numba.njit(cache=True, nogil=True)
def _natural_sum(outputs, models, bias, total):  # type: ignore[no-untyped-def]
    """The full score of one row, summed in the natural order, so that it rounds as the full ensemble's does."""
    total[:] = bias
    for t in range(models):
        for k in range(len(total)):
            total[k] += outputs[t, k]


@numba.njit(cache=True, nogil=True)
def _decide_in_full(slots, ids, rows, outputs_of, bias, beta, marks, seen, runs, score, positive):  # type: ignore[no-untyped-def]
    """Decide the rows at ``slots``, which ran through all base models, by their full score."""
    models, full = outputs_of.shape[1], np.empty(1, bias.dtype)
    for place in slots:
        row = rows[place]
        _natural_sum(outputs_of[ids[place]], models, bias, full)
        runs[row], score[row], positive[row] = models, full[0], full[0] >= beta
        seen[row] = marks[place]


@numba.njit(cache=True, nogil=True)
def decide_thresholds(packed, X, order, low, high, bias, beta, start, stop, seen, runs, score, positive):  # type: ignore[no-untyped-def]
    """Run base models in order until the sum is below ``low`` or above ``high``; else the full score decides.

    Results are written to ``seen`` (rows, features), ``runs``, ``score`` and ``positive`` (rows,).
    """
    models = len(order)
    outputs_of = np.empty((BLOCK, models, 1), dtype=bias.dtype)
    out, g = np.empty((BLOCK, 1), bias.dtype), np.empty(BLOCK, bias.dtype)
    columns = np.empty((X.shape[1], BLOCK))
    inside, total = np.empty(BLOCK), np.empty(BLOCK)
    marks = np.empty((BLOCK, seen.shape[1]), dtype=np.bool_)
    for begin in range(start, stop, BLOCK):
        count = min(BLOCK, stop - begin)
        slots, ids = np.arange(BLOCK), np.arange(BLOCK)
        rows, wide = begin + ids, count
        g[:], marks[:] = bias[0], False
        _load(packed, X, rows, count, columns)
        for r in range(models):
            t = order[r]
            run_model(packed, t, X, columns, wide, slots, rows, count, marks, inside, total, out)
            stay = 0
            for a in range(count):
                place = slots[a]
                outputs_of[ids[place], t, 0] = out[place, 0]
                g[place] += out[place, 0]
                if r < models - 1 and (g[place] < low[r] or g[place] > high[r]):
                    row = rows[place]
                    runs[row], score[row], positive[row] = r + 1, g[place], g[place] > high[r]
                    seen[row] = marks[place]
                else:
                    slots[stay] = place
                    stay += 1
            count = stay
            if count == 0:
                break
            wide = _shrink(packed, X, rows, slots, count, columns, g, ids, marks, wide)
        _decide_in_full(slots[:count], ids, rows, outputs_of, bias, beta, marks, seen, runs, score, positive)


@numba.njit(cache=True, nogil=True)
def decide_margins(packed, X, order, limits, bias, start, stop, seen, runs, score, label):  # type: ignore[no-untyped-def]
    """`decide_thresholds` for several classes: stop when the lead over the second class exceeds a limit."""
    models, outputs = len(order), len(bias)
    infinity = bias.dtype.type(np.inf)
    outputs_of = np.empty((BLOCK, models, outputs), dtype=bias.dtype)
    out, g = np.empty((BLOCK, outputs), bias.dtype), np.empty((BLOCK, outputs), bias.dtype)
    columns = np.empty((0, BLOCK))
    inside, total = np.empty(BLOCK), np.empty(BLOCK)
    marks = np.empty((BLOCK, seen.shape[1]), dtype=np.bool_)
    for begin in range(start, stop, BLOCK):
        count = min(BLOCK, stop - begin)
        slots, rows = np.arange(BLOCK), begin + np.arange(BLOCK)
        g[:], marks[:] = bias, False
        for r in range(models):
            t = order[r]
            run_model(packed, t, X, columns, count, slots, rows, count, marks, inside, total, out)
            stay = 0
            for a in range(count):
                place = slots[a]
                best, second, first = -infinity, -infinity, 0
                for k in range(outputs):
                    outputs_of[place, t, k] = out[place, k]
                    g[place, k] += out[place, k]
                    if g[place, k] > best:
                        best, second, first = g[place, k], best, k
                    elif g[place, k] > second:
                        second = g[place, k]
                if r < models - 1 and best - second > limits[r]:
                    row = rows[place]
                    runs[row], label[row], score[row], seen[row] = r + 1, first, g[place], marks[place]
                else:
                    slots[stay] = place
                    stay += 1
            count = stay
            if count == 0:
                break
        for a in range(count):
            place = slots[a]
            row = rows[place]
            _natural_sum(outputs_of[place], models, bias, score[row])
            runs[row], label[row], seen[row] = models, score[row].argmax(), marks[place]


@numba.njit(cache=True, nogil=True)
def decide_bins(  # type: ignore[no-untyped-def]
    packed, X, order, width, first, bins, mean, spread, gamma, two_sided, bias, beta,
    start, stop, seen, runs, score, positive,
):  # fmt: skip
    """Fan's rule: stop by the thresholds of the bin that the sum falls into; rows in an unknown bin are run in full.

    The loop repeats that of `decide_thresholds`, because only the stopping rule differs. Passing the rule to numba as a
    function would compile the loop again in every process, without caching it on disk.

    Bins of position r are ``bins[first[r]:first[r + 1]]``, ascending, with ``mean`` and ``spread`` beside them.
    """
    models = len(order)
    outputs_of = np.empty((BLOCK, models, 1), dtype=bias.dtype)
    out, g = np.empty((BLOCK, 1), bias.dtype), np.empty(BLOCK, bias.dtype)
    columns = np.empty((X.shape[1], BLOCK))
    inside, total = np.empty(BLOCK), np.empty(BLOCK)
    marks = np.empty((BLOCK, seen.shape[1]), dtype=np.bool_)
    watched = np.empty(BLOCK, dtype=np.bool_)  # by a row's first place in the block
    for begin in range(start, stop, BLOCK):
        count = min(BLOCK, stop - begin)
        slots, ids = np.arange(BLOCK), np.arange(BLOCK)
        rows, wide = begin + ids, count
        g[:], marks[:], watched[:] = bias[0], False, True
        _load(packed, X, rows, count, columns)
        for r in range(models):
            t = order[r]
            run_model(packed, t, X, columns, wide, slots, rows, count, marks, inside, total, out)
            stay = 0
            for a in range(count):
                place = slots[a]
                outputs_of[ids[place], t, 0] = out[place, 0]
                g[place] += out[place, 0]
                above, below = False, False
                if r < models - 1 and watched[ids[place]]:
                    at = _find(bins, first[r], first[r + 1], np.floor(np.float64(g[place]) / width))
                    if at < 0:
                        watched[ids[place]] = False
                    else:
                        above = g[place] > beta + (mean[at] + gamma * spread[at])
                        below = g[place] < beta + (mean[at] - gamma * spread[at])
                if below or (above and two_sided):
                    row = rows[place]
                    runs[row], score[row], positive[row] = r + 1, g[place], above
                    seen[row] = marks[place]
                else:
                    slots[stay] = place
                    stay += 1
            count = stay
            if count == 0:
                break
            wide = _shrink(packed, X, rows, slots, count, columns, g, ids, marks, wide)
        _decide_in_full(slots[:count], ids, rows, outputs_of, bias, beta, marks, seen, runs, score, positive)


@numba.njit(cache=True, nogil=True, inline="always")
def _find(bins, low, high, wanted):  # type: ignore[no-untyped-def]
    """Index of a value in ``bins[low:high]``, which ascends; −1 if it is not there."""
    length = high - low
    while length > 1:
        half = length // 2
        low += half if bins[low + half] <= wanted else 0
        length -= half
    return low if length == 1 and bins[low] == wanted else -1


@numba.njit(cache=True, nogil=True)
def next_of_trees(packed, X, order, runs, known, wanted):  # type: ignore[no-untyped-def]
    """Mark in ``wanted``, bool (rows, features), the unknown features that a row's next base model needs first.

    ``runs`` (rows,) is the number of base models that a row runs with arbitrary values for unknown features. It is
    correct if none of these base models needs an unknown feature.
    """
    trees, width = packed.trees, packed.trees_per_model
    for i in range(len(X)):
        asks = False
        for r in range(runs[i]):
            for k in range(width):
                unit = blocked_at(trees, trees.root[order[r] * width + k], X, i, known)
                if unit >= 0:
                    wanted[i, unit] = True
                    asks = True
            if asks:
                break
