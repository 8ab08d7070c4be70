"""Early exits by proximity threshold (Cambazoglu et al. 2010; CSTC §6.2): the sentinel at which each document leaves.

At the i-th of m sentinels a document leaves if its score so far is at least ``s · (m − i) / (m − 1)`` below the k-th
best of its query's documents that are still scored. With m = 300 and k = 5 this is the paper's rule, "at least (300 −
i)/299 · s lower than the fifth best input". From a query with fewer than k documents none leaves, and the k-th best
itself never leaves (by the paper's last threshold, 0, it would).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["exit_by_level", "exit_by_query", "kth_best", "sentinels", "thresholds"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def sentinels(trees: int, exits: int) -> Ints:
    """The numbers of trees before each of m = min(exits, trees) sentinels: even, the last after all trees; int64."""
    count = min(exits, trees)
    return np.arange(1, count + 1) * trees // max(count, 1)


def thresholds(s: float, count: int) -> Floats:
    """The distance below the k-th best at which documents leave, at each of ``count`` sentinels; float64 (count,)."""
    if count <= 1:
        return np.full(count, float(s))
    return float(s) * np.arange(count - 1, -1, -1) / (count - 1)


def kth_best(scores: Floats, k: int) -> Floats:
    """The k-th best of each column of float64 (rows, sentinels), rows ≥ k; float64 (sentinels,)."""
    return np.asarray(np.partition(scores, len(scores) - k, axis=0)[len(scores) - k])


def exit_by_query(partial: Floats, query: NDArray[np.generic], k: int, limits: Floats) -> Ints:
    """The sentinel at which each document leaves, compared with the documents of its query.

    Args:
        partial: float64 (rows, sentinels): scores so far.
        query: (rows,): query ids.
        k: number of documents shown per query.
        limits: float64 (sentinels,): thresholds.

    Returns:
        int64 (rows,): number of the sentinel, from 0; the last one for documents that are scored to the end.
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
    """A table with one line per query, padded with −inf, and each document's line and position."""
    _, line, sizes = np.unique(code, return_inverse=True, return_counts=True)
    order = np.argsort(line, kind="stable")
    place = np.empty(len(code), dtype=np.int64)
    place[order] = np.arange(len(code)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.full((len(sizes), sizes.max(initial=0)), -np.inf), line, place


def exit_by_level(partial: Floats, levels: Floats, limits: Floats) -> Ints:
    """The sentinel at which each document leaves, compared with one fixed score per sentinel.

    Args:
        partial: float64 (rows, sentinels).
        levels: float64 (sentinels,); with −inf no document leaves.
        limits: float64 (sentinels,).

    Returns:
        int64 (rows,), as `exit_by_query`.
    """
    last = partial.shape[1] - 1
    out = (levels - partial >= limits) & (partial < levels)
    out[:, last] = True
    return np.asarray(out.argmax(axis=1), dtype=np.int64)
