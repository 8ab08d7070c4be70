"""Pareto fronts and hypervolume, by moocore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["REFERENCE_POINT", "hull", "hypervolume", "non_dominated", "step_front"]

REFERENCE_POINT = (0.0, 0.0, 0.0)
"""The worst possible coverage, accuracy and inverse cost (1 − cost share)."""


def non_dominated(points: NDArray[Any], maximise: bool | Sequence[bool] = True) -> NDArray[np.bool_]:
    """Which points no other point dominates: bool (points,). Equal points do not dominate each other.

    Args:
        points: finite float64 (points, objectives).
        maximise: for all objectives, or for each.
    """
    if len(points) < 2:
        return np.ones(len(points), dtype=bool)
    from moocore import is_nondominated

    table = np.ascontiguousarray(points, dtype=np.float64)
    return np.asarray(is_nondominated(table, maximise=maximise, keep_weakly=True), dtype=bool)


def hypervolume(points: NDArray[Any], reference: Sequence[float] = REFERENCE_POINT) -> float:
    """Volume that the points dominate above a reference point; every objective is maximised.

    A point that is not better than the reference in every objective adds nothing.

    Args:
        points: finite float64 (points, objectives).
        reference: float (objectives,).
    """
    table = np.ascontiguousarray(points, dtype=np.float64)
    if len(table) == 0:
        return 0.0
    if len(table) == 1:
        return float(np.prod(np.maximum(table[0] - np.asarray(reference), 0.0)))
    from moocore import hypervolume as measured

    return float(measured(table, ref=list(reference), maximise=True))


def hull(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """The vertices of the upper hull of points, from the least x to the greatest (Andrew 1979).

    Args:
        x: float64 (points,), strictly ascending.
        y: float64 (points,); for a lower hull give −y.

    Returns:
        int64 positions, ascending; points on an edge are left out.
    """
    vertices: list[int] = []
    for i in range(len(x)):
        while len(vertices) > 1:
            a, b = vertices[-2], vertices[-1]
            if (x[b] - x[a]) * (y[i] - y[a]) < (y[b] - y[a]) * (x[i] - x[a]):
                break
            vertices.pop()
        vertices.append(i)
    return np.array(vertices, dtype=np.int64)


def step_front(groups: NDArray[np.int64], cost: NDArray[np.float64], quality: NDArray[np.float64]) -> NDArray[np.int64]:
    """The policies of each group that are better than all others of at most their cost, cheapest first.

    Of equal policies (same cost, same quality) the earliest is kept.

    Args:
        groups: int64 (policies,) group of each policy, from 0.
        cost: float64 (policies,): less is better.
        quality: float64 (policies,): more is better.

    Returns:
        int64 positions, by group, then by rising cost and strictly rising quality.
    """
    if len(groups) == 0:
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((np.arange(len(groups)), -quality, cost, groups))
    _, level = np.unique(quality, return_inverse=True)
    # One running maximum serves all groups: a later group's keys all exceed an earlier group's.
    key = groups[order] * (int(level.max()) + 1) + level[order]
    best = np.maximum.accumulate(key)
    first = np.ones(len(order), dtype=bool)
    first[1:] = groups[order][1:] != groups[order][:-1]
    unbeaten = first.copy()
    unbeaten[1:] |= key[1:] > best[:-1]
    return order[unbeaten]
