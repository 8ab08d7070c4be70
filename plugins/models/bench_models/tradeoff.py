"""A grid of trade-offs λ whose policies are spread evenly over cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bench_core import Policy, Problem

__all__ = ["evenly", "evenly_spaced", "grid_in_cost", "lambdas_in_cost", "spread_in_cost"]

_NEAR = 1.05
"""Neighbours with a ratio below this are not divided further: the cost jumps between them."""

_TOP = 1e9
_BOTTOM = 1e-9


def grid_in_cost(cost_at: Callable[[float], float], count: int) -> list[float]:
    """λ = 0, a λ at which nothing is bought, and λ between them that spread the policies over the costs.

    After 0, λ grows from 1 in steps of √10 until a policy costs nothing. Then a λ is inserted between the two
    neighbours with the largest difference in the square root of the cost (the root, because small budgets are of most
    interest): their geometric mean, or a tenth of the greater one if the other is 0. This ends with ``count`` λ, or
    when no two neighbours differ in cost.

    Args:
        cost_at: returns the cost at a λ ≥ 0, at least 0; called once for each λ of the grid.
        count: maximum number of λ, at least 2.

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


def evenly(costs: Sequence[float], count: int) -> list[int]:
    """At most `count` indices of descending costs, evenly over cost, with the first and the last; 0 takes all."""
    if count == 0 or len(costs) <= count:
        return list(range(len(costs)))
    values = np.array(costs)
    wanted = np.linspace(values[0], values[-1], count)
    return sorted({int(np.abs(values - want).argmin()) for want in wanted[:-1]} | {len(costs) - 1})


def evenly_spaced(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of `count` row numbers, evenly spaced, with the first and the last: int64, ascending.

    A table is often sorted by class or by time, so its first rows do not stand for all.
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def spread_in_cost(cost_at: Callable[[float], float], count: int) -> list[float]:
    """λ = 0, a λ at which nothing is bought, and λ between them at even steps of the square root of the cost.

    The costs are those of `grid_in_cost` with twice as many λ. Where a small change of λ decides whether anything is
    bought at all, several of these cost nothing, and several about the same; only one of each is returned.

    Args:
        cost_at: returns the cost at a λ ≥ 0, at least 0; called once for each λ that is measured.
        count: maximum number of λ, at least 2.

    Returns:
        The λ, ascending.
    """
    costs: dict[float, float] = {}

    def measured(value: float) -> float:
        costs[value] = cost_at(value)
        return costs[value]

    *rising, last = grid_in_cost(measured, 2 * count)
    grid = [value for value in rising if costs[value] > 0] + [last]
    return [grid[place] for place in evenly([sqrt(costs[value]) for value in grid], count)]


def lambdas_in_cost(
    problem: Problem, policy_at: Callable[[float], Policy], unit: float, rows: int, count: int
) -> list[float]:
    """At most `count` λ with six digits whose policies' costs are evenly spread; see `spread_in_cost`.

    A policy's cost is its mean bill on validation rows. Their labels are not used.

    Args:
        problem: prices and the validation part.
        policy_at: returns the policy at a λ.
        unit: a λ above 0 at which little is bought; the search for one at which nothing is bought starts there.
        rows: maximum number of validation rows; they are evenly spaced.
        count: maximum number of λ, at least 2.
    """
    every = problem.validation.rows()
    few = every.take(evenly_spaced(len(every), rows))

    def value(share: float) -> float:
        return float(f"{share * unit:.6g}")

    def cost_at(share: float) -> float:
        return float(problem.costs.bill(policy_at(value(share)).decide(few).acquired, few.sizes).mean())

    return [value(share) for share in spread_in_cost(cost_at, count)]
