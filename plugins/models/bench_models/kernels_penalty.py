"""The compiled kernel of prices that columns share; its reference implementation is its ``.py_func``."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["group_excess"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def group_excess(pull: Floats, prices: Floats, ptr: Ints, rows: Ints) -> Floats:
    """`bench_models.penalty.Penalty.excess` by block-coordinate ascent in the dual problem.

    Groups of few columns come first, so that one round suffices where groups are nested.

    Args:
        pull: float64 (columns,), at least 0.
        prices: float64 (groups,).
        ptr, rows: groups of each column.
    """
    count = np.zeros(len(prices) + 1, dtype=np.int64)
    for r in rows:
        count[r + 1] += 1
    first = np.cumsum(count)
    place, columns = first[:-1].copy(), np.empty(len(rows), dtype=np.int64)
    for t in range(len(pull)):
        for e in range(ptr[t], ptr[t + 1]):
            columns[place[rows[e]]] = t
            place[rows[e]] += 1
    order = np.argsort(count[1:], kind="mergesort")
    left, taken = pull.copy(), np.zeros(len(rows))
    greatest = pull.max() if len(pull) else 0.0
    for _ in range(200):
        change = 0.0
        for r in order:
            if prices[r] <= 0.0:
                continue
            norm = 0.0
            for e in range(first[r], first[r + 1]):
                norm += (left[columns[e]] + taken[e]) ** 2
            norm = np.sqrt(norm)
            share = 1.0 if norm <= prices[r] else prices[r] / norm
            for e in range(first[r], first[r + 1]):
                whole = left[columns[e]] + taken[e]
                change = max(change, abs(share * whole - taken[e]))
                taken[e] = share * whole
                left[columns[e]] = whole - taken[e]
        if change <= 1e-9 * greatest:
            break
    return left
