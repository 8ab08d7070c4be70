"""Algorithm 1 of BUDGETPRUNE: projected subgradient steps on the duals of the constraints that couple the trees.

Details that the paper leaves open: Polyak steps along a running mean of subgradients. Primal solutions are the trees'
own prunings, threshold cuts of their running mean (a fractional solution of a totally unimodular program is a mixture
of its threshold cuts), and best responses of one tree to the others. Nodes whose state follows from the bound are
removed, so iterations get cheaper as the gap closes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.pruning import Pruning
from bench_budgetprune.reduction import Reduced, reduce
from bench_budgetprune.search import BLOCKS, Search

__all__ = ["Subgradient"]

RECOVER_EVERY = 10
"""Number of iterations between attempts to find primal solutions and to reduce the problem."""
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
MEMORY = 0.3
"""Weight of the newest subgradient in the direction."""
LONG_MEMORY = 0.05
"""Weight of the newest subgradient in the running mean for threshold cuts."""
RELAXATION = 1.5
"""Share of Polyak's step at the start. The step uses the best known objective instead of the optimum, so it may be too
long: the share falls by DAMPING after PATIENCE iterations without a better bound, and recovers slowly."""
DAMPING, PATIENCE, RECOVERY = 0.7, 10, 1.03


class Subgradient(Search):
    """One solve; the duals are `share`, per entry and divided by λ, on a simplex per pair."""

    def __init__(self, *arguments: Any) -> None:
        self.entry: NDArray[Any] | None = None
        self.share: NDArray[np.float64] | None = None
        super().__init__(*arguments)
        if self.share is None:
            self.share = self._original_share()

    def _original_share(self) -> NDArray[np.float64]:
        duals = self.duals
        if duals.share is None:
            lengths = np.diff(duals.instance.pair_start)
            duals.share = np.repeat(duals.instance.price / np.maximum(lengths, 1), lengths)
        return duals.share

    def leave_out(self, less: Reduced, fixed: NDArray[np.int8]) -> None:
        before = self._original_share() if self.share is None else self.share
        self._keep_duals()
        self.entry = less.entry if self.entry is None else self.entry[less.entry]
        self.share = less.carry(before)
        super().leave_out(less, fixed)

    def go(self, max_iter: int, starts: Iterable[NDArray[np.bool_]]) -> Pruning:
        """Solve; see `Solver.solve`."""
        from bench_budgetprune import _solve_kernels as kernels

        self.begin(starts)
        way, step, share_of_step, waited = np.zeros(self.now.nodes), 0.0, RELAXATION, 0
        self.mean = np.zeros(self.now.nodes)
        for iteration in range(1, max_iter + 1):
            tolls = np.zeros((BLOCKS, self.now.nodes))
            slack = self.lambda_ * sum(self.each(kernels.step_duals, way, step, self.share, blockwise=tolls))
            toll = self.lambda_ * (tolls.sum(axis=0) + self.now.toll)
            low = self.constant + slack + self.prune(toll)
            before = self.bound
            self.raise_bound(low)
            waited = 0 if self.bound > before else waited + 1
            if waited == 0:
                share_of_step = min(share_of_step * RECOVERY, RELAXATION)
            elif waited == PATIENCE:
                share_of_step, waited = share_of_step * DAMPING, 0
            self.consider(self.opened)
            weight = max(LONG_MEMORY, 1 / iteration)
            self.mean = weight * self.opened + (1 - weight) * self.mean
            way = MEMORY * self.opened + (1 - MEMORY) * way if way.any() else self.opened.astype(np.float64)
            if iteration % RECOVER_EVERY == 0:
                for threshold in THRESHOLDS:
                    self.consider((self.mean >= threshold) & (self.now.left >= 0))
                self.respond(3)
                fixed = None if self.done() else self.settle(low, toll)
                if fixed is not None:
                    less = reduce(self.now, fixed)
                    self.leave_out(less, fixed)
                    self.mean, way = self.mean[less.node], way[less.node]
            if self.note():
                break
            length = self.lambda_ * sum(self.each(kernels.way_length, way))
            step = share_of_step * (self.objective - low) / length if length > 0 else 0.0
            if step == 0:
                way = np.zeros(self.now.nodes)
        self._keep_duals()
        return self.result()

    def _keep_duals(self) -> None:
        """Store the duals as the start for the next λ."""
        if self.share is None:
            return
        if self.entry is None:
            self.duals.share = self.share
        else:
            original = self._original_share()
            original[self.entry] = self.share
            # A reduced pair includes the duals of its removed entries, which the original pair still has: rescale, so
            # that the duals of a pair sum to its price.
            instance = self.duals.instance
            total = np.add.reduceat(original, instance.pair_start[:-1])
            original *= np.repeat(instance.price / total, np.diff(instance.pair_start))
