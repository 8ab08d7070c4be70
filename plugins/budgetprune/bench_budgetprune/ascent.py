"""The fast solver of (IP): entropic dual ascent, then a preflow to the optimum.

The duals of a pair divide its price among its entries. The best divisions are limits of divisions in proportion to
weights of the *nodes* (those of maximum entropy). So the ascent has one variable per node: the logarithms of the
weights move along a running mean of the trees' open nodes. This is mirror ascent with the entropy instead of Algorithm
1's Euclidean distance, with Polyak steps towards a level between the bound and the best known objective. A dozen steps
leave a gap near 1e-3; a preflow (`bench_budgetprune.flow`) closes it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.flow import Preflow, best_cut, supplies
from bench_budgetprune.pruning import Pruning
from bench_budgetprune.reduction import reduce
from bench_budgetprune.search import BLOCKS, Search

__all__ = ["Ascent"]

STEPS = 100
"""Maximum number of steps of the ascent."""
RECOVER_EVERY = 8
"""Number of steps between attempts to find primal solutions and to reduce the problem."""
STALLED = 1.0
"""The preflow starts if RECOVER_EVERY steps leave more than this share of the gap. A turn of the preflow takes as long
as five to ten steps, so the ascent is faster while it makes progress."""
MEMORY, LONG_MEMORY = 0.4, 0.1
"""Weight of the newest open nodes in the direction, and in the running mean for threshold cuts."""
LEVELS = 32
"""Number of thresholds of the running mean."""
LEVEL, UP, DOWN = 0.8, 1.1, 0.8
"""The step's target, as a share of the way from the bound to the best objective; its factors after a better and a worse
bound."""
LONGEST = 2.0
"""Largest step, in logarithms of weights."""
WIDEST = 300.0
"""Largest logarithm of a weight for which its exponential and a sum of reciprocals are finite."""
KEPT = 10.0
"""Largest logarithm of a weight with which the next λ starts."""
ROUNDING = 1e-13
"""Share of the pairs' price by which a bound is lowered, to allow for rounding."""


class Ascent(Search):
    """One solve, by dual ascent and a preflow."""

    def go(self, max_iter: int, starts: Iterable[NDArray[np.bool_]]) -> Pruning:
        """Solve; see `Solver.solve`."""
        self.begin(starts)
        closed = self._climb(max_iter)
        if not closed and len(self.bounds) < max_iter:
            self._flow(max_iter)
        return self.result()

    def _climb(self, max_iter: int) -> bool:
        """Dual ascent on the logarithms of the weights; returns whether the gap is closed."""
        from bench_budgetprune import _ascent_kernels as kernels

        self.log = np.clip(self.duals.weight[self.node], -KEPT, KEPT)
        way = mean = np.zeros(self.now.nodes)
        level, gap = LEVEL, np.inf
        for step in range(1, min(STEPS, max_iter) + 1):
            weight, toll = self._tolls()
            low = self._bound_of(toll)
            better = low - self.loss > self.bound
            self.raise_bound(low)
            level = min(level * UP, LEVEL) if better else level * DOWN
            self.consider(self.opened)
            way = self.opened.astype(np.float64) if step == 1 else way + MEMORY * (self.opened - way)
            mean = mean + max(LONG_MEMORY, 1 / step) * (self.opened - mean)
            stalled = False
            if step % RECOVER_EVERY == 0:
                self._recover(mean)
                now_gap = self.objective - self.bound
                stalled, gap = now_gap > STALLED * gap, now_gap
                fixed = None if self.done() else self.settle(low, toll)
                if fixed is not None:
                    less = reduce(self.now, fixed)
                    self._keep_weights()
                    self.leave_out(less, fixed)
                    way, mean, self.log = way[less.node], mean[less.node], self.log[less.node]
                    weight = weight[less.node]
                    stalled = False
            if self.note() or stalled:
                break
            length = self.lambda_ * sum(self.each(kernels.spread, weight, way))
            if not length > 0:
                break
            aim = self.bound + self.loss + level * (self.objective - self.bound - self.loss) - low
            self.log = np.clip(self.log + min(max(aim, 0.0) / length, LONGEST) * way, -WIDEST, WIDEST)
        self._keep_weights()
        return self.done()

    def _flow(self, max_iter: int) -> None:
        """Run a preflow from the result of the ascent until the gap is closed."""
        weight, toll = self._tolls()
        flow = Preflow(self.now, self.lambda_, weight, toll - self.lambda_ * self.now.toll)
        while len(self.bounds) < max_iter:
            more = flow.set_labels()
            toll, slack = flow.tolls()
            self.raise_bound(self.constant + slack + self.prune(toll))
            self.consider(self.opened)
            self.consider(flow.cut())
            if not self.done():
                self.respond(1)
            if self.note() or not more:
                break
            flow.push()

    def _tolls(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights, and the cost of each test under them."""
        from bench_budgetprune import _ascent_kernels as kernels

        weight = np.exp(self.log)
        parts = np.zeros((BLOCKS, self.now.nodes))
        self.each(kernels.weigh, weight, blockwise=parts)
        return weight, self.lambda_ * (weight * parts.sum(axis=0) + self.now.toll)

    def _bound_of(self, toll: NDArray[np.float64]) -> float:
        return self.constant + self.prune(toll) - ROUNDING * self.lambda_ * float(self.now.price.sum())

    def _recover(self, mean: NDArray[np.float64]) -> None:
        """Try the best threshold cut of the running mean, then best responses to the best known pruning."""
        now = self.now
        level = (mean * LEVELS).astype(np.int32)
        self.consider(best_cut(now, self.lambda_ * now.price, supplies(now, self.lambda_), level, LEVELS))
        self.respond(1)

    def _keep_weights(self) -> None:
        """Store the weights as the start for the next λ."""
        self.duals.weight[self.node] = self.log
