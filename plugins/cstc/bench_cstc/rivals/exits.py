"""Early exits by proximity threshold (Cambazoglu et al. 2010; CSTC §6.2): who is let go at which sentinel.

At the i-th of m sentinels a document leaves whose score so far is at least ``s · (m − i) / (m − 1)`` below the
k-th best of its query's documents that are still being scored. With m = 300 and k = 5 this is the text's rule,
"at least (300 − i)/299 · s lower than the fifth best input". A query of fewer than k documents lets none go, and
the k-th best itself never leaves (the text's last threshold, 0, would let it).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["exit_by_level", "exit_by_query", "kth_best", "sentinels", "thresholds"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def sentinels(trees: int, exits: int) -> Ints:
    """After how many trees the sentinels stand: m = min(exits, trees) of them, evenly, the last after all; int64."""
    count = min(exits, trees)
    return np.arange(1, count + 1) * trees // max(count, 1)


def thresholds(s: float, count: int) -> Floats:
    """How far below the k-th best a document may be at each of ``count`` sentinels; float64 (count,)."""
    if count <= 1:
        return np.full(count, float(s))
    return float(s) * np.arange(count - 1, -1, -1) / (count - 1)


def kth_best(scores: Floats, k: int) -> Floats:
    """The k-th best of each column of float64 (rows, sentinels), rows ≥ k; float64 (sentinels,)."""
    return np.asarray(np.partition(scores, len(scores) - k, axis=0)[len(scores) - k])


def exit_by_query(partial: Floats, query: NDArray[np.generic], k: int, limits: Floats) -> Ints:
    """At which sentinel each document leaves, its own query's documents beside it.

    Args:
        partial: float64 (rows, sentinels): scores so far.
        query: (rows,): query ids.
        k: how many documents a query shows.
        limits: float64 (sentinels,): thresholds.

    Returns:
        int64 (rows,): number of the sentinel, from 0; the last when it is scored to the end.
    """
    rows, sentinels = partial.shape
    leave = np.full(rows, sentinels - 1, dtype=np.int64)
    if not rows:
        return leave
    _, code, sizes = np.unique(query, return_inverse=True, return_counts=True)
    order = np.argsort(code, kind="stable")
    column = np.empty(rows, dtype=np.int64)
    column[order] = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # One line per query that has a k-th best, filled up with -inf; who has left is -inf too.
    large = np.flatnonzero(sizes[code] >= k)
    line = np.cumsum(sizes >= k)[code[large]] - 1
    if not len(large):
        return leave
    table = np.full((line.max() + 1, sizes.max()), -np.inf)
    place, alive = column[large], np.ones(len(large), dtype=bool)
    kth = table.shape[1] - k
    for i in range(sentinels - 1):
        score = np.where(alive, partial[large, i], -np.inf)
        table[line, place] = score
        best = np.partition(table, kth, axis=1)[line, kth]
        out = alive & (score < best)
        out[out] = best[out] - score[out] >= limits[i]
        leave[large[out]] = i
        alive &= ~out
    return leave


def exit_by_level(partial: Floats, levels: Floats, limits: Floats) -> Ints:
    """The same against fixed scores, one per sentinel, in the place of the k-th best of the query.

    Args:
        partial: float64 (rows, sentinels).
        levels: float64 (sentinels,); −inf lets no one go.
        limits: float64 (sentinels,).

    Returns:
        int64 (rows,), as `exit_by_query`.
    """
    last = partial.shape[1] - 1
    out = (levels - partial >= limits) & (partial < levels)
    out[:, last] = True
    return np.asarray(out.argmax(axis=1), dtype=np.int64)
