"""Kernels of the ascent on node weights, see `bench_budgetprune.ascent`; each works on the pairs start..stop."""

from __future__ import annotations

import numba

__all__ = ["spread", "weigh"]


@numba.njit(cache=True, nogil=True)
def weigh(start, stop, pair_start, entry_node, price, weight, part):  # type: ignore[no-untyped-def]
    """Toll per unit of weight at each node: Σ over its pairs of price / total weight of the pair.

    Args:
        weight: float64 (nodes,), above 0.
        part: float64 (nodes,), zeroed and written.
    """
    part[:] = 0.0
    for p in range(start, stop):
        total = 0.0
        for e in range(pair_start[p], pair_start[p + 1]):
            total += weight[entry_node[e]]
        each = price[p] / total
        for e in range(pair_start[p], pair_start[p + 1]):
            part[entry_node[e]] += each


@numba.njit(cache=True, nogil=True)
def spread(start, stop, pair_start, entry_node, price, weight, way):  # type: ignore[no-untyped-def]
    """Squared length of a direction `way` (nodes,): Σ over pairs of price · variance under the pair's shares."""
    length = 0.0
    for p in range(start, stop):
        total, one, two = 0.0, 0.0, 0.0
        for e in range(pair_start[p], pair_start[p + 1]):
            w, x = weight[entry_node[e]], way[entry_node[e]]
            total += w
            one += w * x
            two += w * x * x
        length += price[p] * max(two / total - (one / total) * (one / total), 0.0)
    return length
