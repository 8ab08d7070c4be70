"""Best-first search of the lattice, for which Property 3.9 holds: a smaller α expands a superset of the sets.

The paper searches the lattice layer by layer, from both ends. There the property fails for separate searches: the
search with the larger α may skip a set whose accuracy would have sandwiched another set, and must then train that
other set. This depends neither on the order of the layers nor on whether a set can be reached only from an expanded
neighbour (tests show both).

The reason is that the order of expansion depends on α. Here it does not. The gap of a set is the least known accuracy
above it minus the best known accuracy below it, plus e; a set with a gap of at most α is sandwiched (Property 3.11).
The set with the widest gap is expanded next, until no gap is wider than α. New accuracies never widen a gap, so a
search with a smaller α starts with exactly the sets that a search with a larger α expands. A search that a
precomputation budget stops is complete for α equal to the widest gap left.
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

    Ties go to the set nearer to either end of the lattice, then to the lower mask. The guarantee is that of
    `bench_polydom.lattice.search` without covering.

    Args:
        accuracy: as in `bench_polydom.lattice.search`.
        n_features: number d of features.
        alpha: accuracy that may be given up.
        e: the largest amount by which a superset may be less accurate than a subset.
        max_sets: maximum number of models to train.
        max_seconds: time in seconds after which no further model is started; makes the result depend on the machine.

    Returns:
        The expanded sets. `Expansion.alpha` is ``alpha``, or the widest gap left if a budget stopped the search; the
        search is complete for that tolerance.

    Raises:
        ValueError: there are more than `MAX_FEATURES` features, or a tolerance is negative or not finite.
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
    """The gap of every set, −∞ once expanded; arrays with one axis per feature, the last feature first."""

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

        Gaps only narrow. So the sets of the widest gap are listed once, and those that have narrowed are skipped.
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
        """Mark a set as expanded."""
        self.tried.reshape(-1)[mask] = True
        self.flat[mask] = -np.inf

    def learn(self, mask: int, accuracy: float) -> None:
        """Enter the accuracy of a set: narrow the gaps of all its supersets and subsets."""
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
