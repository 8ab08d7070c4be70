"""A grid of trade-offs λ whose fits are spread evenly over cost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import sqrt

__all__ = ["grid_in_cost"]

_NEAR = 1.05
"""Neighbours with a ratio below this are not divided further: the cost jumps between them."""

_TOP = 1e9
_BOTTOM = 1e-9


def grid_in_cost(cost_at: Callable[[float], float], count: int) -> list[float]:
    """λ = 0, a λ at which nothing is bought, and λ between them that spread the fits over the costs.

    After 0, λ grows from 1 in steps of √10 until a fit costs nothing. Then a λ is inserted between the two neighbours
    with the largest difference in the square root of the cost (the root, because small budgets are of most interest):
    their geometric mean, or a tenth of the greater one if the other is 0. This ends with ``count`` λ, or when no two
    neighbours differ in cost.

    Args:
        cost_at: fits at a λ ≥ 0 and returns the cost, at least 0; called once for each λ of the grid.
        count: maximum number of fits, at least 2.

    Returns:
        The grid, ascending.
    """
    costs = {0.0: cost_at(0.0)}
    top = 1.0
    while len(costs) < count and costs[max(costs)] > 0 and top < _TOP:
        costs[top] = cost_at(top)
        top *= sqrt(10)
    while len(costs) < count:
        pairs = [
            (abs(sqrt(costs[a]) - sqrt(costs[b])), a, b)
            for a, b in pairwise(sorted(costs))
            if (b > a * _NEAR if a > 0 else b > _BOTTOM)
        ]
        gap, a, b = max(pairs, default=(0.0, 0.0, 0.0))
        if gap <= 0:
            break
        between = sqrt(a * b) if a > 0 else b / 10
        costs[between] = cost_at(between)
    return sorted(costs)
