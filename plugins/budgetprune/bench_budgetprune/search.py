"""State that both solvers of (IP) share: the best pruning and bound so far, and the undecided part of the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance
from bench_budgetprune.pruning import Between, Pruning
from bench_budgetprune.reduction import Reduced, reduce

__all__ = ["BLOCKS", "Duals", "Search"]

BLOCKS = 4
"""Number of blocks of pairs, each with its own sums, so that sums do not depend on the number of threads."""
WORTHWHILE = 0.8
"""The problem is reduced if at most this share of it remains."""


@dataclass
class Duals:
    """The start of the next solve of an instance: the duals with which the previous λ ended.

    Attributes:
        instance: (IP).
        share: the duals over λ, per entry, for ``subgradient``; None before its first solve.
        weight: float64 (nodes,): logarithms of the nodes' weights, for ``flow``.
    """

    instance: Instance
    share: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.weight = np.zeros(self.instance.nodes)


class Search:
    """The state of one solve.

    Attributes:
        duals: its start, and the start of the next one.
        now: the reduced (IP); ``node`` holds the old numbers of its nodes.
        base, constant: the nodes fixed open, and the objective of the fixed part.
        best, objective: the best pruning of the original (IP) and its objective.
        bound: the best lower bound of the optimum.
    """

    def __init__(
        self, duals: Duals, lambda_: float, gap: float, pool: ThreadPoolExecutor, between: Between | None
    ) -> None:
        self.duals, self.lambda_, self.gap, self.pool = duals, lambda_, gap, pool
        original = duals.instance
        self.constant, self.loss = 0.0, 0.0
        self.node = np.arange(original.nodes)
        self.base = np.zeros(original.nodes, dtype=np.bool_)
        self.objective, self.bound, self.ceiling = np.inf, -np.inf, np.inf
        self.best = self.base
        self.bounds: list[float] = []
        self.objectives: list[float] = []
        self.take(original)
        if between is not None:
            self.loss = between.loss
            fixed = np.where(between.within, between.core.astype(np.int8), np.int8(-1))
            self.leave_out(reduce(original, fixed), fixed)

    def take(self, instance: Instance) -> None:
        """Continue with this instance."""
        self.now = instance
        cuts = np.searchsorted(instance.pair_start, np.linspace(0, instance.entries, BLOCKS + 1))
        cuts[0], cuts[-1] = 0, instance.pairs
        self.blocks = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        self.many = np.zeros(instance.pairs, dtype=np.int32)
        self.leaf_price = instance.error + self.lambda_ * instance.steps
        self.value = np.zeros(instance.nodes)
        self.opened = np.zeros(instance.nodes, dtype=np.bool_)

    def each(self, kernel: Callable[..., Any], *arguments: Any, blockwise: NDArray[Any] | None = None) -> list[Any]:
        """Run a kernel on every block of pairs; ``blockwise[b]`` is its last argument for block b."""
        now = self.now

        def work(b: int) -> Any:
            own = arguments if blockwise is None else (*arguments, blockwise[b])
            return kernel(*self.blocks[b], now.pair_start, now.entry_node, now.price, *own)

        return list(self.pool.map(work, range(BLOCKS)))

    def prune(self, toll: NDArray[np.float64]) -> float:
        """Write the best pruning of every tree under these tolls to `opened`; return its value."""
        from bench_budgetprune import _solve_kernels as kernels

        now = self.now
        return float(
            kernels.prune_trees(now.left, now.right, now.parent, self.leaf_price, toll, self.value, self.opened)
        )

    def begin(self, starts: Iterable[NDArray[np.bool_]]) -> None:
        """Try the unpruned and the fully pruned forest, and the given prunings."""
        self.consider(self.now.left >= 0)
        self.consider(np.zeros(self.now.nodes, dtype=np.bool_))
        for start in starts:
            self.consider(start[self.node] & (self.now.left >= 0))

    def consider(self, opened: NDArray[np.bool_]) -> None:
        """Keep a pruning of the reduced (IP) if it is the best so far."""
        from bench_budgetprune import _solve_kernels as kernels

        paid = sum(self.each(kernels.paid, opened)) + self.now.toll[opened].sum()
        objective = self.constant + self.leaf_price[self.now.leaves(opened)].sum() + self.lambda_ * paid
        if objective < self.objective:
            self.objective = float(objective)
            self.best = self.base.copy()
            self.best[self.node[opened]] = True

    def respond(self, sweeps: int) -> None:
        """Improve the best known pruning by the best response of each tree in turn."""
        from bench_budgetprune import _solve_kernels as kernels

        now = self.now
        trial = self.best[self.node] & (now.left >= 0)
        self.each(kernels.count_open, trial, self.many)
        for _ in range(sweeps):
            if not kernels.best_response(
                now.roots, now.left, now.right, self.leaf_price, self.lambda_ * now.toll, now.price, self.lambda_,
                *now.by_node[:2], self.many, trial, self.value,
            ):  # fmt: skip
                break
        self.consider(trial)

    def raise_bound(self, low: float) -> None:
        """Record a bound of the reduced (IP), minus the loss that fixing nodes may have caused."""
        self.bound = max(self.bound, min(low - self.loss, self.ceiling, self.objective))

    def done(self) -> bool:
        """Whether the gap is closed."""
        return self.objective - self.bound <= self.gap * abs(self.objective)

    def note(self) -> bool:
        """End an iteration: record bound and objective; return whether the gap is closed."""
        self.bounds.append(self.bound)
        self.objectives.append(self.objective)
        return self.done()

    def settle(self, low: float, toll: NDArray[np.float64]) -> NDArray[np.int8] | None:
        """Nodes whose state follows from the bound (see `reduce`), or None if there are too few to matter.

        Half of the allowed gap is used: a node is decided if no pruning with its opposite state is better than the best
        known one by more than half the gap. The bound can then not exceed the best known objective minus that amount.
        """
        from bench_budgetprune import _solve_kernels as kernels
        from bench_budgetprune._build_kernels import surviving

        now = self.now
        self.prune(toll)
        ceiling = self.objective * (1 - self.gap / 2)
        fixed = np.zeros(now.nodes, dtype=np.int8)
        spare = max(ceiling + self.loss - low, 0.0)
        kernels.fixable(now.left, now.right, now.parent, self.leaf_price, toll, self.value, spare, fixed)
        entries = surviving(now.pair_start, now.entry_node, now.price, fixed)[1]
        if entries > WORTHWHILE * now.entries and (fixed == 0).sum() > WORTHWHILE * (now.left >= 0).sum():
            return None
        self.ceiling = min(self.ceiling, ceiling)
        return fixed

    def leave_out(self, less: Reduced, fixed: NDArray[np.int8]) -> None:
        """Continue with the problem without the fixed nodes."""
        self.base[self.node[fixed > 0]] = True
        self.constant += less.error + self.lambda_ * less.cost
        self.node = self.node[less.node]
        self.take(less.instance)

    def result(self) -> Pruning:
        """The best known pruning, with its bounds."""
        return Pruning(self.lambda_, self.best, self.objective, self.bound, tuple(self.bounds), tuple(self.objectives))
