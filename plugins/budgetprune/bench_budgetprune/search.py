"""What both solvers of (IP) share: the best pruning and bound so far, and the part of the problem still open."""

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
"""Pairs are worked on in this many blocks, each with sums of its own: they do not depend on threads."""
WORTHWHILE = 0.8
"""The problem is made smaller when this share of it, or less, is left."""


@dataclass
class Duals:
    """Where the next solve of one instance starts: at what the one before, of another λ, ended with.

    Attributes:
        instance: (IP).
        share: the duals over λ, per entry, of ``subgradient``; None before its first solve.
        weight: float64 (nodes,): logarithms of the nodes' weights, of ``flow``.
    """

    instance: Instance
    share: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.weight = np.zeros(self.instance.nodes)


class Search:
    """One solve.

    Attributes:
        duals: where it starts, and what it leaves for the next one.
        now: what is left of (IP); ``node`` are the old numbers of its nodes.
        base, constant: the nodes fixed open, and what all that is fixed costs.
        best, objective: the best pruning of the whole and its value.
        bound: the best lower bound of the optimum.
    """

    def __init__(
        self, duals: Duals, lambda_: float, gap: float, pool: ThreadPoolExecutor, between: Between | None
    ) -> None:
        self.duals, self.lambda_, self.gap, self.pool = duals, lambda_, gap, pool
        whole = duals.instance
        self.constant, self.loss = 0.0, 0.0
        self.node = np.arange(whole.nodes)
        self.base = np.zeros(whole.nodes, dtype=np.bool_)
        self.objective, self.bound, self.ceiling = np.inf, -np.inf, np.inf
        self.best = self.base
        self.bounds: list[float] = []
        self.objectives: list[float] = []
        self.take(whole)
        if between is not None:
            self.loss = between.loss
            fixed = np.where(between.within, between.core.astype(np.int8), np.int8(-1))
            self.leave_out(reduce(whole, fixed), fixed)

    def take(self, instance: Instance) -> None:
        """Work on this instance from now on."""
        self.now = instance
        cuts = np.searchsorted(instance.pair_start, np.linspace(0, instance.entries, BLOCKS + 1))
        cuts[0], cuts[-1] = 0, instance.pairs
        self.blocks = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        self.many = np.zeros(instance.pairs, dtype=np.int32)
        self.leaf_price = instance.error + self.lambda_ * instance.steps
        self.value = np.zeros(instance.nodes)
        self.opened = np.zeros(instance.nodes, dtype=np.bool_)

    def each(self, kernel: Callable[..., Any], *arguments: Any, blockwise: NDArray[Any] | None = None) -> list[Any]:
        """A kernel on every block of pairs; ``blockwise[b]`` is its last argument on block b."""
        now = self.now

        def work(b: int) -> Any:
            own = arguments if blockwise is None else (*arguments, blockwise[b])
            return kernel(*self.blocks[b], now.pair_start, now.entry_node, now.price, *own)

        return list(self.pool.map(work, range(BLOCKS)))

    def prune(self, toll: NDArray[np.float64]) -> float:
        """The best pruning of every tree under these tolls, to `opened`; returns its value."""
        from bench_budgetprune import _solve_kernels as kernels

        now = self.now
        return float(
            kernels.prune_trees(now.left, now.right, now.parent, self.leaf_price, toll, self.value, self.opened)
        )

    def begin(self, starts: Iterable[NDArray[np.bool_]]) -> None:
        """Try the unpruned and the fully pruned forest, and these."""
        self.consider(self.now.left >= 0)
        self.consider(np.zeros(self.now.nodes, dtype=np.bool_))
        for start in starts:
            self.consider(start[self.node] & (self.now.left >= 0))

    def consider(self, opened: NDArray[np.bool_]) -> None:
        """Keep a pruning of what is left if it is the best."""
        from bench_budgetprune import _solve_kernels as kernels

        paid = sum(self.each(kernels.paid, opened)) + self.now.toll[opened].sum()
        objective = self.constant + self.leaf_price[self.now.leaves(opened)].sum() + self.lambda_ * paid
        if objective < self.objective:
            self.objective = float(objective)
            self.best = self.base.copy()
            self.best[self.node[opened]] = True

    def respond(self, sweeps: int) -> None:
        """Best responses of one tree after the other to the best known."""
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
        """A bound of what is left holds for the whole up to what fixing may have given away."""
        self.bound = max(self.bound, min(low - self.loss, self.ceiling, self.objective))

    def done(self) -> bool:
        """Whether the gap is closed."""
        return self.objective - self.bound <= self.gap * abs(self.objective)

    def note(self) -> bool:
        """End of an iteration: keeps the course; returns whether the gap is closed."""
        self.bounds.append(self.bound)
        self.objectives.append(self.objective)
        return self.done()

    def settle(self, low: float, toll: NDArray[np.float64]) -> NDArray[np.int8] | None:
        """Nodes that the bound settles (see `reduce`), or None when they are too few to matter.

        Half of the allowed gap is given away: a node is settled when no pruning with it otherwise is better than
        the best known by more than that. The bound can then not be raised beyond the best known less that.
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
        """Work on what is left without the fixed nodes."""
        self.base[self.node[fixed > 0]] = True
        self.constant += less.error + self.lambda_ * less.cost
        self.node = self.node[less.node]
        self.take(less.instance)

    def result(self) -> Pruning:
        """The best known."""
        return Pruning(self.lambda_, self.best, self.objective, self.bound, tuple(self.bounds), tuple(self.objectives))
