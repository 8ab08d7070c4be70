"""The path over λ: the family of prunings, monotone in λ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance
from bench_budgetprune.solve import Pruning, Solver

__all__ = ["lambda_grid", "solve_path"]


def lambda_grid(
    instance: Instance, opened: NDArray[np.bool_], count: int, low: float, high: float
) -> list[float]:
    """λ in geometric steps around the λ at which the whole forest and no forest are equally good.

    Args:
        instance: (IP).
        opened: bool (nodes,): the unpruned forest.
        count: how many.
        low, high: the ends, as multiples of that λ.

    Returns:
        Rising λ; a single 1.0 when the forest costs nothing or teaches nothing.
    """
    none = np.zeros(instance.nodes, dtype=np.bool_)
    gain = instance.leaf_error(none) - instance.leaf_error(opened)
    cost = instance.cost(opened)
    if not (gain > 0 and cost > 0):
        return [1.0]
    return [float(x) for x in gain / cost * np.geomspace(low, high, count)]


def solve_path(
    instance: Instance,
    unpruned: NDArray[np.bool_],
    lambdas: Sequence[float],
    gap: float,
    max_iterations: int,
    threads: int = 1,
) -> list[Pruning]:
    """Solve (IP) for every λ, in rising order, each from the duals and the pruning of the one before.

    In the end every λ takes the best of all prunings found for any λ, ties to the cheaper: so cost never rises
    and training error never falls along the path, also where the gap is not zero.

    Args:
        instance: (IP).
        unpruned: bool (nodes,): the forest as it is.
        lambdas: λ ≥ 0, in any order.
        gap, max_iterations: see `Solver.solve`.
        threads: how many threads to use; no influence on the result.

    Returns:
        One pruning per λ, rising; λ = 0 keeps the forest as it is where nothing is better.
    """
    solver = Solver(instance, threads)
    none = np.zeros(instance.nodes, dtype=np.bool_)
    pool = [unpruned, none]
    solved: list[Pruning] = []
    for lam in sorted(lambdas):
        if lam > 0:
            solved.append(solver.solve(lam, gap, max_iterations, starts=pool[-1:]))
            pool.append(solved[-1].opened)
        else:
            solved.append(_free(instance, unpruned))
            pool.append(solved[-1].opened)
    points = np.array([[instance.leaf_error(opened), instance.cost(opened)] for opened in pool])
    chosen = []
    for one in solved:
        values = points[:, 0] + one.lam * points[:, 1]
        near = np.flatnonzero(values <= values.min() * (1 + 1e-12))
        at = near[np.argmin(points[near, 1])] if one.lam > 0 else near[0]
        chosen.append(
            Pruning(
                one.lam,
                pool[at],
                float(values[at]),
                min(one.bound, float(values[at])),
                one.bounds,
                one.objectives,
            )
        )
    return chosen


def _free(instance: Instance, unpruned: NDArray[np.bool_]) -> Pruning:
    """λ = 0: each tree by itself; the forest as it is unless pruning makes fewer training errors."""
    from bench_budgetprune import _solve_kernels as kernels

    value, opened = np.zeros(instance.nodes), np.zeros(instance.nodes, dtype=np.bool_)
    bound = kernels.prune_trees(
        instance.left,
        instance.right,
        instance.parent,
        instance.error,
        np.zeros(instance.nodes),
        value,
        opened,
    )
    own = instance.leaf_error(unpruned)
    best = unpruned if own <= bound * (1 + 1e-12) + 1e-15 else opened
    return Pruning(0.0, best, instance.leaf_error(best), min(bound, instance.leaf_error(best)))
