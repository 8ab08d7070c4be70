"""The fast solver of (IP): entropic dual ascent, then a preflow to the optimum.

The duals of a pair are its price, split over its entries; the best splits are limits of splits in proportion to
weights of the *nodes* (the maximum-entropy ones). So the ascent moves one number per node: the logarithms of the
weights go along a running mean of the trees' open nodes. That is mirror ascent with the entropy in the place of
Algorithm 1's Euclidean distance; its steps are Polyak's, towards a level between bound and best known. A dozen of
them leave a gap near 1e-3; a preflow (`bench_budgetprune.flow`) closes it.
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
"""Steps of the ascent at most."""
RECOVER_EVERY = 8
"""Steps between two recoveries of primal solutions and two attempts to make the problem smaller."""
STALLED = 1.0
"""The preflow takes over when that many steps leave more than this share of the gap. One of its turns takes as long as
five to ten steps: where the ascent goes on, however slowly, it is the faster of the two."""
MEMORY, LONG_MEMORY = 0.4, 0.1
"""Weight of the newest open nodes in the direction, and in the running mean that cuts are taken of."""
LEVELS = 32
"""Thresholds of the running mean."""
LEVEL, UP, DOWN = 0.8, 1.1, 0.8
"""The step aims at this share of the way from the bound to the best known; changed after a better, a worse bound."""
LONGEST = 2.0
"""Largest step, in logarithms of weights."""
WIDEST = 300.0
"""Largest logarithm of a weight: its exponential and a sum of reciprocals stay finite."""
KEPT = 10.0
"""Largest logarithm of a weight that the next λ starts from."""
ROUNDING = 1e-13
"""Share of the pairs' price that a bound is lowered by, against rounding."""


class Ascent(Search):
    """One solve."""

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
        """A preflow from where the ascent ended, until the gap is closed."""
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
        """Weights and what each test costs under them."""
        from bench_budgetprune import _ascent_kernels as kernels

        weight = np.exp(self.log)
        parts = np.zeros((BLOCKS, self.now.nodes))
        self.each(kernels.weigh, weight, blockwise=parts)
        return weight, self.lambda_ * (weight * parts.sum(axis=0) + self.now.toll)

    def _bound_of(self, toll: NDArray[np.float64]) -> float:
        return self.constant + self.prune(toll) - ROUNDING * self.lambda_ * float(self.now.price.sum())

    def _recover(self, mean: NDArray[np.float64]) -> None:
        """The best threshold cut of the running mean, then best responses to the best known."""
        now = self.now
        level = (mean * LEVELS).astype(np.int32)
        self.consider(best_cut(now, self.lambda_ * now.price, supplies(now, self.lambda_), level, LEVELS))
        self.respond(1)

    def _keep_weights(self) -> None:
        """Leave the weights for the next λ."""
        self.duals.weight[self.node] = self.log
