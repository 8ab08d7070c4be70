"""The path over λ: the family of prunings, monotone in λ."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.flow import supplies
from bench_budgetprune.instance import Instance
from bench_budgetprune.pruning import Between, Kind, Pruning
from bench_budgetprune.solve import Solver

__all__ = ["Path", "lambda_grid", "solve_path"]


def lambda_grid(instance: Instance, opened: NDArray[np.bool_], count: int, low: float, high: float) -> list[float]:
    """λ in geometric steps around the λ at which the unpruned forest and the empty pruning are equally good.

    Args:
        instance: (IP).
        opened: bool (nodes,): the unpruned forest.
        count: number of λ.
        low, high: the ends, as multiples of that λ.

    Returns:
        Ascending λ; a single 1.0 if the forest costs nothing or does not lower the training error.
    """
    none = np.zeros(instance.nodes, dtype=np.bool_)
    gain = instance.leaf_error(none) - instance.leaf_error(opened)
    cost = instance.cost(opened)
    if not (gain > 0 and cost > 0):
        return [1.0]
    return [float(x) for x in gain / cost * np.geomspace(low, high, count)]


class Path:
    """Solutions of (IP) along λ, each computed between its neighbours.

    Opening nodes never adds training errors and never lowers the cost. So (IP) is submodular, with modular gains whose
    weight relative to the cost falls as λ grows, and the optima are nested (Gallo, Grigoriadis, Tarjan 1989). A pruning
    within δ of the optimum for its λ bounds the optima for all other λ, with a loss of at most δ. A λ is solved without
    such bounds if the losses would keep the gap from closing, or if opening a node can add training errors (with
    weights other than the tree's own).

    Args:
        instance: (IP).
        unpruned: bool (nodes,): the tests of the unpruned forest.
        gap, max_iter: see `Solver.solve`.
        threads, kind: see `Solver`; threads have no influence on the result.
    """

    def __init__(
        self,
        instance: Instance,
        unpruned: NDArray[np.bool_],
        gap: float,
        max_iter: int,
        threads: int = 1,
        kind: Kind = "flow",
    ) -> None:
        self.instance, self.unpruned = instance, unpruned
        self.gap, self.max_iter = gap, max_iter
        self.solver = Solver(instance, threads, kind)
        self.nested = kind == "flow" and supplies(instance, 0.0).min(initial=0.0) >= -1e-12
        self.none = np.zeros(instance.nodes, dtype=np.bool_)
        self.solved: list[Pruning] = []
        """The solutions so far, by ascending λ."""

    def solve(self, lambda_: float, relied_on: bool) -> Pruning:
        """Solve for a λ, to a smaller gap if other λ will rely on it, since losses accumulate from λ to λ."""
        if lambda_ == 0:
            solution = _free(self.instance, self.unpruned)
            insort(self.solved, solution, key=_by_lambda)
            return solution
        at = bisect_left(self.solved, lambda_, key=_by_lambda)
        below, above = self.solved[:at][-1:], self.solved[at:][:1]
        between = None
        if self.nested and (below or above):
            core = above[0].opened if above else self.none
            within = below[0].opened if below else self.instance.left >= 0
            loss = sum(max(pruning.objective - pruning.bound, 0.0) for pruning in (*below, *above))
            between = Between(core, within | core, loss)
        starts = [pruning.opened for pruning in (*below, *above)]
        asked = self.gap / 8 if self.nested and relied_on else self.gap
        solution = self.solver.solve(lambda_, asked, self.max_iter, starts, between)
        if solution.gap > self.gap and between is not None:
            alone = self.solver.solve(lambda_, self.gap, self.max_iter, [*starts, solution.opened])
            solution = alone if alone.gap < solution.gap else solution
        insort(self.solved, solution, key=_by_lambda)
        return solution

    def finish(self) -> list[Pruning]:
        """One pruning per λ, ascending: the best of all prunings found for any λ; in a tie, the cheaper one.

        So cost never rises and training error never falls along the path, even if the gap is not zero.
        """
        pool = [self.unpruned, *(pruning.opened for pruning in self.solved), self.none]
        points = np.array([[self.instance.leaf_error(opened), self.instance.cost(opened)] for opened in pool])
        chosen = []
        for pruning in self.solved:
            values = points[:, 0] + pruning.lambda_ * points[:, 1]
            near_best = np.flatnonzero(values <= values.min() * (1 + 1e-12))
            at = near_best[np.argmin(points[near_best, 1])] if pruning.lambda_ > 0 else near_best[0]
            value = float(values[at])
            chosen.append(
                Pruning(pruning.lambda_, pool[at], value, min(pruning.bound, value), pruning.bounds, pruning.objectives)
            )
        return chosen


def solve_path(
    instance: Instance,
    unpruned: NDArray[np.bool_],
    lambdas: Sequence[float],
    gap: float,
    max_iter: int,
    threads: int = 1,
    kind: Kind = "flow",
) -> list[Pruning]:
    """Solve (IP) for every λ: first the middle one, then both halves in the same way; see `Path`.

    Args:
        instance, unpruned, gap, max_iter, threads, kind: see `Path`.
        lambdas: λ ≥ 0, in any order.

    Returns:
        One pruning per λ, ascending; λ = 0 keeps the unpruned forest unless another pruning is better.
    """
    path = Path(instance, unpruned, gap, max_iter, threads, kind)
    rising = sorted(lambdas)
    zeros = sum(lambda_ == 0 for lambda_ in rising)
    for lambda_ in rising[:zeros]:
        path.solve(lambda_, True)
    for k, below, above in _halves(zeros, len(rising)):
        path.solve(rising[k], above - below > 2)
    return path.finish()


def _by_lambda(pruning: Pruning) -> float:
    return pruning.lambda_


def _halves(first: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The numbers first..end − 1, the middle before the halves, each with its solved neighbours (or first − 1, end)."""
    waiting = [(first - 1, end)]
    while waiting:
        below, above = waiting.pop(0)
        if above - below > 1:
            middle = (below + above) // 2
            yield middle, below, above
            waiting += [(below, middle), (middle, above)]


def _free(instance: Instance, unpruned: NDArray[np.bool_]) -> Pruning:
    """λ = 0: each tree independently; the unpruned forest unless pruning lowers the training error."""
    from bench_budgetprune import _solve_kernels as kernels

    value, opened = np.zeros(instance.nodes), np.zeros(instance.nodes, dtype=np.bool_)
    bound = kernels.prune_trees(
        instance.left, instance.right, instance.parent, instance.error, np.zeros(instance.nodes), value, opened
    )
    own = instance.leaf_error(unpruned)
    best = unpruned if own <= bound * (1 + 1e-12) + 1e-15 else opened
    return Pruning(0.0, best, instance.leaf_error(best), min(bound, instance.leaf_error(best)))
