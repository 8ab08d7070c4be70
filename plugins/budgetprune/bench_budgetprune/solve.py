"""Algorithm 1 of BUDGETPRUNE: dual ascent on the coupling of the trees, with a certified gap at every iteration.

Beyond the paper's sketch: the step is Polyak's, along a running mean of subgradients; primal solutions are the
trees' own, thresholds of their running mean (a fractional solution of a totally unimodular program is a mixture
of its threshold cuts), and best responses of one tree to the others; and nodes whose state the bound settles are
taken out of the problem, so that iterations get cheaper as the gap closes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance
from bench_budgetprune.reduction import reduce

__all__ = ["Pruning", "Solver"]

BLOCKS = 4
"""Pairs are worked on in this many blocks, each with tolls of its own: sums do not depend on threads."""
RECOVER_EVERY = 10
"""Iterations between two recoveries of primal solutions and two attempts to make the problem smaller."""
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
MEMORY = 0.3
"""Weight of the newest subgradient in the direction."""
WORTHWHILE = 0.8
"""The problem is made smaller when this share of it, or less, is left."""
LONG_MEMORY = 0.05
"""Weight of the newest subgradient in the running mean that threshold cuts are taken of."""
RELAXATION = 1.5
"""Share of Polyak's step at the start. The best known objective stands in for the optimum, so that the step may
be too long: the share falls by DAMPING after PATIENCE iterations without a better bound, and recovers slowly."""
DAMPING, PATIENCE, RECOVERY = 0.7, 10, 1.03


@dataclass(frozen=True)
class Pruning:
    """A solution of (IP) for one λ.

    Attributes:
        lam: λ.
        opened: bool (nodes,): the nodes that stay tests.
        objective: its value, an upper bound of the optimum.
        bound: a lower bound of the optimum.
        bounds, objectives: the best bound and the best objective after every iteration.
    """

    lam: float
    opened: NDArray[np.bool_]
    objective: float
    bound: float
    bounds: tuple[float, ...] = ()
    objectives: tuple[float, ...] = ()

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return len(self.bounds)

    @property
    def gap(self) -> float:
        """Relative duality gap: how far, at most, the solution is from the optimum, as a share of its value."""
        return max(self.objective - self.bound, 0.0) / self.objective if self.objective > 0 else 0.0


class Solver:
    """Solves (IP) for one λ after another, each from the duals of the one before.

    Args:
        instance: (IP).
        threads: how many threads to use; no influence on the result.
    """

    def __init__(self, instance: Instance, threads: int = 1) -> None:
        self.instance, self.threads = instance, max(1, min(threads, BLOCKS))
        lengths = np.diff(instance.pair_start)
        self.share = np.repeat(instance.price / np.maximum(lengths, 1), lengths)
        """The duals over λ: where the next solve starts."""

    def solve(
        self,
        lam: float,
        gap: float = 1e-4,
        max_iterations: int = 1000,
        starts: Iterable[NDArray[np.bool_]] = (),
    ) -> Pruning:
        """Minimise (IP).

        Args:
            lam: λ.
            gap: the relative duality gap to stop at.
            max_iterations: stop after as many dual steps, whatever the gap.
            starts: prunings (bool (nodes,)) to begin with; the unpruned and the fully pruned forest always are.

        Raises:
            ValueError: λ is negative, NaN or infinite.
        """
        if not 0 <= lam < np.inf:
            raise ValueError(f"lambda must be finite and not negative, not {lam}")
        with ThreadPoolExecutor(self.threads) as pool:
            return _Run(self, float(lam), gap, pool).go(max_iterations, starts)


class _Run:
    """One solve: the best known, and the part of the problem that is still open."""

    def __init__(self, solver: Solver, lam: float, gap: float, pool: ThreadPoolExecutor) -> None:
        self.solver, self.lam, self.gap, self.pool = solver, lam, gap, pool
        whole = solver.instance
        self.constant = 0.0
        self.node = np.arange(whole.nodes)
        self.entry: NDArray[Any] | None = None
        self.base = np.zeros(whole.nodes, dtype=np.bool_)
        self.objective, self.bound, self.ceiling = np.inf, -np.inf, np.inf
        self.best = self.base
        self._take(whole, solver.share)

    def _take(self, instance: Instance, share: NDArray[np.float64]) -> None:
        """Work on this instance from now on."""
        self.now, self.share = instance, share
        cuts = np.searchsorted(instance.pair_start, np.linspace(0, instance.entries, BLOCKS + 1))
        cuts[0], cuts[-1] = 0, instance.pairs
        self.blocks = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        self.tolls = np.zeros((BLOCKS, instance.nodes))
        self.many = np.zeros(instance.pairs, dtype=np.int32)
        self.leaf_price = instance.error + self.lam * instance.steps
        self.value = np.zeros(instance.nodes)
        self.opened = np.zeros(instance.nodes, dtype=np.bool_)

    def _each(self, kernel: Callable[..., Any], *arguments: Any) -> list[Any]:
        """A kernel on every block of pairs."""
        now = self.now

        def work(b: int) -> Any:
            own = (*arguments, self.tolls[b]) if kernel.__name__ == "step_duals" else arguments
            return kernel(*self.blocks[b], now.pair_start, now.entry_node, now.price, *own)

        return list(self.pool.map(work, range(BLOCKS)))

    def go(self, max_iterations: int, starts: Iterable[NDArray[np.bool_]]) -> Pruning:
        from bench_budgetprune import _solve_kernels as kernels

        self._consider(self.now.left >= 0)
        self._consider(np.zeros(self.now.nodes, dtype=np.bool_))
        for start in starts:
            self._consider(start)
        bounds: list[float] = []
        objectives: list[float] = []
        way, step, share_of_step, waited = np.zeros(self.now.nodes), 0.0, RELAXATION, 0
        self.mean = np.zeros(self.now.nodes)
        for iteration in range(1, max_iterations + 1):
            slack = self.lam * sum(self._each(kernels.step_duals, way, step, self.share))
            toll = self.lam * (self.tolls.sum(axis=0) + self.now.toll)
            low = self.constant + slack + kernels.prune_trees(
                self.now.left, self.now.right, self.now.parent, self.leaf_price, toll, self.value, self.opened
            )  # fmt: skip
            before = self.bound
            self._raise_bound(low)
            waited = 0 if self.bound > before else waited + 1
            if waited == 0:
                share_of_step = min(share_of_step * RECOVERY, RELAXATION)
            elif waited == PATIENCE:
                share_of_step, waited = share_of_step * DAMPING, 0
            self._consider(self.opened)
            weight = max(LONG_MEMORY, 1 / iteration)
            self.mean = weight * self.opened + (1 - weight) * self.mean
            way = MEMORY * self.opened + (1 - MEMORY) * way if way.any() else self.opened.astype(np.float64)
            if iteration % RECOVER_EVERY == 0:
                self._recover()
                if not self._done():
                    way = self._shrink(low, toll, way)
            bounds.append(self.bound)
            objectives.append(self.objective)
            if self._done():
                break
            length = self.lam * sum(self._each(kernels.way_length, way))
            step = share_of_step * (self.objective - low) / length if length > 0 else 0.0
            if step == 0:
                way = np.zeros(self.now.nodes)
        self._keep_duals()
        return Pruning(self.lam, self.best, self.objective, self.bound, tuple(bounds), tuple(objectives))

    def _done(self) -> bool:
        return self.objective - self.bound <= self.gap * abs(self.objective)

    def _raise_bound(self, low: float) -> None:
        """A bound of what is left holds for the whole up to what fixing may have given away."""
        self.bound = max(self.bound, min(low, self.ceiling, self.objective))

    def _consider(self, opened: NDArray[np.bool_]) -> None:
        """Keep a pruning of what is left if it is the best."""
        from bench_budgetprune import _solve_kernels as kernels

        parts = self._each(kernels.count_open, opened, self.many)
        paid = sum(parts) + self.now.toll[opened].sum()
        objective = self.constant + self.leaf_price[self.now.leaves(opened)].sum() + self.lam * paid
        if objective < self.objective:
            self.objective = float(objective)
            self.best = self.base.copy()
            self.best[self.node[opened]] = True

    def _recover(self) -> None:
        """Threshold cuts of the running mean, then best responses to the best known."""
        from bench_budgetprune import _solve_kernels as kernels

        for threshold in THRESHOLDS:
            self._consider((self.mean >= threshold) & (self.now.left >= 0))
        now = self.now
        trial = self.best[self.node] & (now.left >= 0)
        self._each(kernels.count_open, trial, self.many)
        for _ in range(3):
            if not kernels.best_response(
                now.roots, now.left, now.right, self.leaf_price, self.lam * now.toll, now.price, self.lam,
                *now.by_node, self.many, trial, self.value,
            ):  # fmt: skip
                break
        self._consider(trial)

    def _shrink(self, low: float, toll: NDArray[np.float64], way: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take out nodes that the bound settles, if they are many; returns the direction for what is left.

        Half of the allowed gap is given away: a node is settled when no pruning with it otherwise is better than
        the best known by more than that. The bound can then not be raised beyond the best known less that.
        """
        from bench_budgetprune import _solve_kernels as kernels
        from bench_budgetprune._build_kernels import surviving

        now = self.now
        kernels.prune_trees(now.left, now.right, now.parent, self.leaf_price, toll, self.value, self.opened)
        ceiling = self.objective * (1 - self.gap / 2)
        fixed = np.zeros(now.nodes, dtype=np.int8)
        kernels.fixable(
            now.left, now.right, now.parent, self.leaf_price, toll, self.value, max(ceiling - low, 0.0), fixed
        )
        entries = surviving(now.pair_start, now.entry_node, now.price, fixed)[1]
        if entries > WORTHWHILE * now.entries and (fixed == 0).sum() > WORTHWHILE * (now.left >= 0).sum():
            return way
        less = reduce(now, fixed, self.share)
        self._keep_duals()
        self.ceiling = min(self.ceiling, ceiling)
        self.base[self.node[fixed > 0]] = True
        self.constant += less.error + self.lam * less.cost
        self.node = self.node[less.node]
        self.entry = less.entry if self.entry is None else self.entry[less.entry]
        self._take(less.instance, less.share)
        self.mean = self.mean[less.node]
        return way[less.node]

    def _keep_duals(self) -> None:
        """Leave the duals for the next λ."""
        if self.entry is None:
            self.solver.share = self.share
        else:
            self.solver.share[self.entry] = self.share
