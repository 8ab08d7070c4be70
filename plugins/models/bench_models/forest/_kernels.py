"""Kernels that need a forest but no data."""

from __future__ import annotations

import numba

__all__ = ["first_on_path"]


@numba.njit(cache=True)
def first_on_path(parent, unit):  # type: ignore[no-untyped-def]
    """The unit of each node, −1 where an ancestor has the same unit (or the node has none); int32 (nodes,)."""
    first = unit.copy()
    for node in range(len(unit)):
        if unit[node] < 0:
            continue
        above = parent[node]
        while above >= 0:
            if unit[above] == unit[node]:
                first[node] = -1
                break
            above = parent[above]
    return first
