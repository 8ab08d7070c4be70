"""A grid of trade-offs λ that is even in what the fits cost, and not in λ."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import sqrt

__all__ = ["grid_in_cost"]

_NEAR = 1.05
"""Neighbours whose ratio is below this are one: the cost jumps between them."""

_TOP = 1e9
_BOTTOM = 1e-9


def grid_in_cost(cost_at: Callable[[float], float], count: int) -> list[float]:
    """λ = 0, a λ at which nothing is bought, and between them those that spread over the costs.

    After 0, λ grows from 1 in steps of √10 until a fit costs nothing. Then the two neighbours that are furthest apart
    in the square root of the cost, as budgets of interest are small ones, get a λ between them (their geometric mean; a
    tenth of the greater beside 0), until there are ``count`` or no two neighbours differ.

    Args:
        cost_at: fits at a λ ≥ 0 and gives what it costs, at least 0; called once for each λ of the grid.
        count: of fits at most, from 2.

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
