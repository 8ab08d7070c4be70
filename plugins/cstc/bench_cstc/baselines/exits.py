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
    last = partial.shape[1] - 1
    leave = np.full(len(partial), last, dtype=np.int64)
    _, code, sizes = np.unique(query, return_inverse=True, return_counts=True)
    alive = np.flatnonzero(sizes[code] >= k)
    table, line, place = _lines(code[alive])
    count = len(alive)
    for i in range(last):
        if len(alive) < count // 2:
            (table, line, place), count = _lines(code[alive]), len(alive)
        if not len(alive):
            break
        score = partial[alive, i]
        table[line, place] = score
        kth = table.shape[1] - k
        best = np.partition(table, kth, axis=1)[line, kth]
        out = (score < best) & (best - score >= limits[i])
        if out.any():
            leave[alive[out]] = i
            table[line[out], place[out]] = -np.inf
            alive, line, place = alive[~out], line[~out], place[~out]
    return leave


def _lines(code: Ints) -> tuple[Floats, Ints, Ints]:
    """A table of one line per query, −inf where it has no more documents, and each document's line and place."""
    _, line, sizes = np.unique(code, return_inverse=True, return_counts=True)
    order = np.argsort(line, kind="stable")
    place = np.empty(len(code), dtype=np.int64)
    place[order] = np.arange(len(code)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.full((len(sizes), sizes.max(initial=0)), -np.inf), line, place


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
