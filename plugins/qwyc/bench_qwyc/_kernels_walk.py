"""Running base models: one row, one base model at a time, marking the features that are read on the way."""

from __future__ import annotations

import numba
import numpy as np

__all__ = [
    "count_tests",
    "decide_bins",
    "decide_margins",
    "decide_thresholds",
    "features_of_models",
    "score_models",
]


@numba.njit(cache=True, nogil=True, inline="always")
def _leaf(trees, node, x, feature_of_column, seen):  # type: ignore[no-untyped-def]
    """The leaf of a tree that a row falls into."""
    column = trees.column[node]
    while column >= 0:
        seen[feature_of_column[column]] = True
        value = x[column]
        if np.isnan(value):
            left = trees.missing_left[node]
        else:
            if trees.single:
                value = np.float64(np.float32(value))
            left = value <= trees.threshold[node]
        node = trees.left[node] if left else trees.right[node]
        column = trees.column[node]
    return node


@numba.njit(cache=True, nogil=True, inline="always")
def _network(s, t, x, feature_of_column, seen):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(s.start[t], s.start[t + 1]):
        seen[feature_of_column[s.columns[i]]] = True
    for h in range(s.offset.shape[1]):
        inside = s.offset[t, h]
        for i in range(s.start[t], s.start[t + 1]):
            inside += s.inner[h, i] * x[s.columns[i]]
        total += s.outer[t, h] * np.tanh(inside)
    return total


@numba.njit(cache=True, nogil=True, inline="always")
def _run(packed, t, x, seen, out):  # type: ignore[no-untyped-def]
    """Scores of base model t on a row, into ``out`` (outputs,)."""
    if not packed.is_trees:
        out[0] = _network(packed.subsets, t, x, packed.feature_of_column, seen)
        return
    trees = packed.trees
    if trees.root.shape[1] == len(out):
        for k in range(len(out)):
            out[k] = trees.value[_leaf(trees, trees.root[t, k], x, packed.feature_of_column, seen), 0]
    else:
        leaf = _leaf(trees, trees.root[t, 0], x, packed.feature_of_column, seen)
        for k in range(len(out)):
            out[k] = trees.value[leaf, k]


@numba.njit(cache=True, nogil=True)
def score_models(packed, X, start, stop, out):  # type: ignore[no-untyped-def]
    """Fill ``out[:, start:stop]`` (T, rows, outputs) with the scores of every base model."""
    seen = np.zeros(packed.feature_of_column.max() + 1, dtype=np.bool_)
    for t in range(out.shape[0]):
        for i in range(start, stop):
            _run(packed, t, X[i], seen, out[t, i])


@numba.njit(cache=True, nogil=True)
def features_of_models(packed, out):  # type: ignore[no-untyped-def]
    """Mark in ``out`` (T, features) what every base model may read."""
    trees, s = packed.trees, packed.subsets
    stack = np.empty(len(trees.column) + 1, dtype=np.int64)
    for t in range(out.shape[0]):
        if not packed.is_trees:
            for i in range(s.start[t], s.start[t + 1]):
                out[t, packed.feature_of_column[s.columns[i]]] = True
            continue
        for k in range(trees.root.shape[1]):
            stack[0], height = trees.root[t, k], 1
            while height:
                height -= 1
                node = stack[height]
                if trees.column[node] >= 0:
                    out[t, packed.feature_of_column[trees.column[node]]] = True
                    stack[height], stack[height + 1] = trees.left[node], trees.right[node]
                    height += 2


@numba.njit(cache=True, nogil=True)
def count_tests(packed, models, X):  # type: ignore[no-untyped-def]
    """Mean number of tests of each base model on the rows."""
    trees, s = packed.trees, packed.subsets
    total = np.zeros(models)
    for t in range(models):
        if not packed.is_trees:
            total[t] = (s.start[t + 1] - s.start[t]) * len(X)
            continue
        for k in range(trees.root.shape[1]):
            for i in range(len(X)):
                node = trees.root[t, k]
                while trees.column[node] >= 0:
                    value = X[i, trees.column[node]]
                    if np.isnan(value):
                        left = trees.missing_left[node]
                    else:
                        left = value <= trees.threshold[node]
                    node = trees.left[node] if left else trees.right[node]
                    total[t] += 1
    return total / max(len(X), 1)


@numba.njit(cache=True, nogil=True)
def _natural_sum(scores, models, bias, total):  # type: ignore[no-untyped-def]
    """The full score, added in the natural order: the reference's own rounding."""
    for k in range(len(total)):
        total[k] = bias[k]
    for t in range(models):
        for k in range(len(total)):
            total[k] += scores[t, k]


@numba.njit(cache=True, nogil=True)
def decide_thresholds(packed, X, order, low, high, bias, beta, start, stop, seen, runs, score, positive):  # type: ignore[no-untyped-def]
    """Run base models in order until the sum is below ``low`` or above ``high``; at the end the full score decides.

    ``seen`` (rows, features), ``runs``, ``score`` and ``positive`` (rows,) are results.
    """
    models = len(order)
    kept, total = np.empty((models, 1), dtype=bias.dtype), np.empty(1, dtype=bias.dtype)
    for i in range(start, stop):
        g = bias[0]
        done = 0
        for r in range(models):
            _run(packed, order[r], X[i], seen[i], kept[order[r]])
            g += kept[order[r], 0]
            if r < models - 1 and (g < low[r] or g > high[r]):
                runs[i], score[i], positive[i], done = r + 1, g, g > high[r], 1
                break
        if not done:
            _natural_sum(kept, models, bias, total)
            runs[i], score[i], positive[i] = models, total[0], total[0] >= beta


@numba.njit(cache=True, nogil=True)
def decide_margins(packed, X, order, limits, bias, start, stop, seen, runs, score, label):  # type: ignore[no-untyped-def]
    """The same for several classes: stop when the lead over the second class exceeds a limit."""
    models, outputs = len(order), len(bias)
    kept, g = np.empty((models, outputs), dtype=bias.dtype), np.empty(outputs, dtype=bias.dtype)
    for i in range(start, stop):
        g[:] = bias
        done = 0
        for r in range(models):
            _run(packed, order[r], X[i], seen[i], kept[order[r]])
            best, second, label[i] = bias.dtype.type(-np.inf), bias.dtype.type(-np.inf), 0
            for k in range(outputs):
                g[k] += kept[order[r], k]
                if g[k] > best:
                    best, second, label[i] = g[k], best, k
                elif g[k] > second:
                    second = g[k]
            if r < models - 1 and best - second > limits[r]:
                runs[i], done = r + 1, 1
                break
        if not done:
            _natural_sum(kept, models, bias, g)
            runs[i], label[i] = models, g.argmax()
        score[i] = g


@numba.njit(cache=True, nogil=True)
def decide_bins(  # type: ignore[no-untyped-def]
    packed, X, order, width, first, bins, mean, spread, gamma, two_sided, bias, beta,
    start, stop, seen, runs, score, positive,
):  # fmt: skip
    """Fan's stopping: thresholds of the bin that the sum falls into; an unseen bin means full evaluation.

    Bins of position r are ``bins[first[r]:first[r + 1]]``, ascending, with ``mean`` and ``spread`` beside them.
    """
    models = len(order)
    kept, total = np.empty((models, 1), dtype=bias.dtype), np.empty(1, dtype=bias.dtype)
    for i in range(start, stop):
        g = bias[0]
        done, watched = 0, True
        for r in range(models):
            _run(packed, order[r], X[i], seen[i], kept[order[r]])
            g += kept[order[r], 0]
            if not watched or r == models - 1:
                continue
            low, high = first[r], first[r + 1]
            wanted = np.floor(np.float64(g) / width)
            while low < high:
                middle = (low + high) // 2
                if bins[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low == first[r + 1] or bins[low] != wanted:
                watched = False
                continue
            above = g > beta + (mean[low] + gamma * spread[low])
            below = g < beta + (mean[low] - gamma * spread[low])
            if below or (above and two_sided):
                runs[i], score[i], positive[i], done = r + 1, g, above, 1
                break
        if not done:
            _natural_sum(kept, models, bias, total)
            runs[i], score[i], positive[i] = models, total[0], total[0] >= beta
