"""Ranking of a generation, sorting by fitness, and choice of the elite (EMSCO §3.2.2 and §3.3), in NumPy.

`_kernels_ranking` has compiled equivalents. Chromosomes with the same objective point have the same rank, norm and
fitness, so these are computed once per distinct point. Choices where the paper is silent: of points with equal fitness,
the one with more conclusive rows (then greater accuracy, then smaller cost) comes first; within a point, the
chromosome with fewer stages, then the older one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_emsco import fitness, pareto
from bench_emsco.pareto import Floats, Ints

UNBOUNDED = np.iinfo(np.int64).max
"""Value of `max_per_point` for no limit."""


class Standing(NamedTuple):
    """Rank and fitness of a generation's distinct points; arrays of shape (D,), goals (D, 3)."""

    goals: Floats
    norm: Floats
    front: Ints
    """t of E_t: 0 for the non-dominated; rank = front.max() - front (Eq. 8)."""
    weight: Floats
    """Fitness divided by gamma^(greatest rank)."""
    base: float
    """gamma"""
    place: Ints
    """Position when the points are sorted by fitness, fittest first."""


def rank_points(conclusive: Ints, accuracy: Floats, cost: NDArray[Any], n_rows: int, epsilon: float) -> Standing:
    """Rank distinct points, given in the order of `pareto.distinct_points`.

    Raises:
        ValueError: as `fitness.objectives`.
    """
    front = pareto.fronts(accuracy, cost)
    goals = fitness.objectives(conclusive, accuracy, cost, n_rows)
    norm = fitness.norms(goals)
    base = fitness.gamma(norm, epsilon)
    weight = fitness.selection_weights(front.max() - front, norm, base)
    place = np.empty_like(front)
    place[np.lexsort((-norm, front))] = np.arange(front.size)
    return Standing(goals, norm, front, weight, base, place)


def sort_chromosomes(
    place: Ints, point: Ints, front: Ints, stages: Ints, at_least: int, max_per_point: int
) -> tuple[Ints, Ints]:
    """Sort the unique chromosomes of a generation, fittest first, and choose the elite (§3.2.2).

    `place` and `front` (D,) are per point, `point` and `stages` (U,) per chromosome. The elite are the first
    max(at_least, size of front 0) chromosomes, where at most `max_per_point` of a point are counted and taken.

    Returns:
        order: (U,): row numbers, fittest first.
        elite: positions of the elite in that order.
    """
    order = np.lexsort((stages, place[point]))
    place_of = place[point][order]
    within = np.arange(order.size) - np.searchsorted(place_of, place_of, side="left")
    chosen = np.flatnonzero(within < max_per_point)
    best = np.count_nonzero(front[point[order[chosen]]] == 0)
    return order, chosen[: max(at_least, best)]
