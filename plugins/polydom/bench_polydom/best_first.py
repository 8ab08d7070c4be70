"""Best-first search of the lattice, in which Property 3.9 holds: a smaller α expands a superset.

The paper searches the lattice layer by layer, from both ends. There the property fails: of two separate searches the
one with the larger α may skip a set whose accuracy would have let it skip another one later, which it now has to
train. The order of the layers does not matter for that, nor whether a set must have an expanded neighbour to be
reached (tests show both).

What matters is that the order of expansion depends on α. Here it does not. The gap of a set is the least accuracy
known above it minus the best known below it, plus e: sets within a gap of at most α are sandwiched (Property 3.11).
The set with the widest gap is always next, until the widest is at most α. Knowing more never widens a gap, so that
what a search with a larger α expands is how a search with a smaller one begins. It also makes the most of a
precomputation budget: whenever the search is stopped, it is complete for an α of the widest gap left.
"""

from __future__ import annotations

import math
import time

import numpy as np

from bench_polydom.lattice import Accuracy, Expansion, checked_count, checked_tolerances, layers, tried

__all__ = ["best_first_search"]


def best_first_search(
    accuracy: Accuracy,
    n_features: int,
    alpha: float = 0.0,
    e: float = 0.0,
    *,
    max_sets: float = math.inf,
    max_seconds: float = math.inf,
) -> Expansion:
    """Expand the set with the widest gap until no gap is wider than α.

    Among equal gaps the set that is nearer to either end of the lattice comes first, then the lower mask. The
    guarantee is that of `bench_polydom.lattice.search` without covering.

    Args:
        accuracy, n_features, alpha, e: as in `bench_polydom.lattice.search`.
        max_sets: how many models may be trained.
        max_seconds: for how long no new model is begun after the start. Depends on the machine.

    Returns:
        The expanded sets. `Expansion.alpha` is ``alpha``, or, when a budget stopped the search, the widest gap that
        was left: the tolerance that it is complete for.

    Raises:
        ValueError: too many features, or a negative tolerance.
    """
    checked_count(n_features)
    checked_tolerances(alpha, e)
    deadline = time.monotonic() + max_seconds
    gaps = _Gaps(n_features, e)
    accuracies: dict[int, float] = {}
    failures: dict[int, str] = {}
    while True:
        mask, widest = gaps.next()
        if not widest > alpha:
            return Expansion(accuracies, failures, n_features, alpha)
        if len(accuracies) + len(failures) >= max_sets or time.monotonic() > deadline:
            return Expansion(accuracies, failures, n_features, widest, stopped=True)
        value = tried(accuracy, mask)
        if isinstance(value, str):
            failures[mask] = value
            gaps.close(mask)
        else:
            accuracies[mask] = value
            gaps.learn(mask, value)


class _Gaps:
    """The gap of every set, −∞ once it was tried; cubes of one axis per feature, the last feature's first."""

    def __init__(self, d: int, e: float) -> None:
        self.d, self.e = d, e
        cube = (2,) * d
        self.best, self.least = np.full(cube, -np.inf), np.full(cube, np.inf)
        self.gap, self.tried = np.full(cube, np.inf), np.zeros(cube, dtype=bool)
        self.flat = self.gap.reshape(-1)
        masks = np.arange(1 << d)
        layer = layers(d)
        order = np.lexsort((masks, 2 * layer > d, np.minimum(layer, d - layer)))
        self.place = np.empty(1 << d, dtype=np.int64)
        self.place[order] = masks
        self.equals: list[int] = []
        self.widest = np.inf

    def next(self) -> tuple[int, float]:
        """The set with the widest gap, and the gap.

        Gaps only narrow, so that the sets of the widest gap are looked up once, and those that narrowed passed over.
        """
        while self.equals:
            mask = self.equals[-1]
            if self.flat[mask] == self.widest:
                return mask, self.widest
            self.equals.pop()
        self.widest = float(self.flat.max())
        equals = np.flatnonzero(self.flat == self.widest)
        self.equals = equals[np.argsort(-self.place[equals])].tolist()
        return self.equals[-1], self.widest

    def close(self, mask: int) -> None:
        """It was tried."""
        self.tried.reshape(-1)[mask] = True
        self.flat[mask] = -np.inf

    def learn(self, mask: int, accuracy: float) -> None:
        """Its accuracy narrows the gaps of all sets above and below it."""
        self.close(mask)
        inside = [(mask >> feature) & 1 for feature in range(self.d - 1, -1, -1)]
        above = (*(1 if has else slice(None) for has in inside), ...)
        below = (*(slice(None) if has else 0 for has in inside), ...)
        best, least = self.best[above], self.least[below]
        np.maximum(best, accuracy, out=best)
        np.minimum(least, accuracy, out=least)
        for near in (above, below):
            gap = self.gap[near]
            np.subtract(self.least[near], self.best[near], out=gap)
            gap += self.e
            np.copyto(gap, -np.inf, where=self.tried[near])
