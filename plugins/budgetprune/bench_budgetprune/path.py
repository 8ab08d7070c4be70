"""The path over λ: the family of prunings, monotone in λ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.flow import supplies
from bench_budgetprune.instance import Instance
from bench_budgetprune.solve import Between, Kind, Pruning, Solver

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
    kind: Kind = "flow",
) -> list[Pruning]:
    """Solve (IP) for every λ.

    Opening nodes never adds training errors, and never takes off cost: so (IP) is submodular with modular gains
    that fall, beside the cost, as λ grows, and the optima are nested (Gallo, Grigoriadis, Tarjan 1989). A pruning
    within δ of the optimum of its λ bounds those of all other λ at a loss of δ at most. The middle λ comes first;
    each half then has the nodes that it settles left out. Where the losses would not let the gap close, or
    training errors are no such thing (other weights than the tree's own), a λ is solved by itself.

    In the end every λ takes the best of all prunings found for any λ, ties to the cheaper: so cost never rises
    and training error never falls along the path, also where the gap is not zero.

    Args:
        instance: (IP).
        unpruned: bool (nodes,): the forest as it is.
        lambdas: λ ≥ 0, in any order.
        gap, max_iterations: see `Solver.solve`.
        threads, kind: see `Solver`; threads have no influence on the result.

    Returns:
        One pruning per λ, rising; λ = 0 keeps the forest as it is where nothing is better.
    """
    solver = Solver(instance, threads, kind)
    rising = sorted(lambdas)
    none = np.zeros(instance.nodes, dtype=np.bool_)
    solved: dict[int, Pruning] = {k: _free(instance, unpruned) for k, lam in enumerate(rising) if lam == 0}
    nested = kind == "flow" and supplies(instance, 0.0).min(initial=0.0) >= -1e-12
    for k, below, above in _halves(len(solved), len(rising)):
        near = [solved[j] for j in (below, above) if j in solved]
        # Loss passes on from λ to λ: those that others rely on are solved closer.
        relied_on = nested and above - below > 2
        between = None
        if nested and near:
            core = solved[above].opened if above in solved else none
            within = solved[below].opened if below in solved else instance.left >= 0
            between = Between(core, within | core, sum(max(one.objective - one.bound, 0.0) for one in near))
        starts = [one.opened for one in near]
        found = solver.solve(rising[k], gap / 8 if relied_on else gap, max_iterations, starts, between)
        if found.gap > gap and between is not None:
            alone = solver.solve(rising[k], gap, max_iterations, [*starts, found.opened])
            found = alone if alone.gap < found.gap else found
        solved[k] = found
    pool = [unpruned, *(solved[k].opened for k in range(len(rising))), none]
    points = np.array([[instance.leaf_error(opened), instance.cost(opened)] for opened in pool])
    chosen = []
    for k in range(len(rising)):
        one = solved[k]
        values = points[:, 0] + one.lam * points[:, 1]
        near_best = np.flatnonzero(values <= values.min() * (1 + 1e-12))
        at = near_best[np.argmin(points[near_best, 1])] if one.lam > 0 else near_best[0]
        value = float(values[at])
        chosen.append(Pruning(one.lam, pool[at], value, min(one.bound, value), one.bounds, one.objectives))
    return chosen


def _halves(first: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The numbers first..end − 1, middles before halves, each with its solved neighbours (or first − 1, end)."""
    waiting = [(first - 1, end)]
    while waiting:
        below, above = waiting.pop(0)
        if above - below > 1:
            middle = (below + above) // 2
            yield middle, below, above
            waiting += [(below, middle), (middle, above)]


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
