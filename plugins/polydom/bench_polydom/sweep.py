"""The sizes at which each candidate is on the skyline, by sweeping crossings of neighbours (PolyDom, "Traversing
Intersection Points", Theorem 3.13, Algorithm 3).

The curves are kept ordered by cost. A queue holds the next crossing of every two neighbours. The nearest crossing is
popped, the two curves swap places, and their crossings with their new neighbours are queued. Let curve 1 be the lower
and curve 2 the upper of the two before the swap. The skyline changes if curve 1 was on it and is less accurate than
curve 2, or if curve 2 enters the skyline. The two accuracies and the best accuracy below them decide this, so only
interesting points are stored.

Rounding: nearly equal crossings can be computed in an order in which the swapped curves are not neighbours. Therefore
every pair counts the crossings that it has performed; a crossing that is due, or overdue when two curves become
neighbours, is performed at once. Each pair swaps exactly as often as its curves cross, and the order is correct again
as soon as the sweep has passed the cluster.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates
from bench_polydom.envelope import Presence
from bench_polydom.polynomials import crossings

__all__ = ["all_crossings", "presence_by_sweep"]

SAME = 1e-9
"""Relative distance below which two crossings count as one."""


def all_crossings(candidates: Candidates) -> NDArray[np.float64]:
    """Distinct sizes at which any two curves cross, ascending; PolyDomIndexAll stores a skyline for each.

    Pairs of sets that differ by the same features cross at the same size; sizes closer than `SAME` count as one.
    """
    curves = candidates.curves
    pieces = [np.zeros(0)]
    for i in range(len(curves) - 1):
        cuts = crossings(curves[i + 1 :] - curves[i]).ravel()
        pieces.append(cuts[~np.isnan(cuts)])
    places = np.unique(np.concatenate(pieces))
    distinct: NDArray[np.float64] = places[np.append(True, np.diff(places) > SAME * places[1:])[: len(places)]]
    return distinct


class _Sweep:
    def __init__(self, candidates: Candidates) -> None:
        self.accuracy = candidates.accuracy.tolist()
        self.curves = candidates.curves
        count = len(candidates)
        # Just right of 0, the first different coefficient decides; of equal curves, the more accurate is first.
        keys = (np.arange(count), -candidates.accuracy, *self.curves.T[::-1])
        self.order: list[int] = np.lexsort(keys).tolist()
        self.pending: dict[tuple[int, int], list[float]] = {}
        self.queue: list[tuple[float, int, int]] = []
        self.place = [0] * count
        for place, candidate in enumerate(self.order):
            self.place[candidate] = place
        self.swaps = 0

    def meet(self, place: int, now: float) -> None:
        """Queue the next crossing of the curve at a place of the order with the curve above it."""
        if not 0 <= place < len(self.order) - 1:
            return
        lower, upper = self.order[place], self.order[place + 1]
        pair = (min(lower, upper), max(lower, upper))
        due = self.pending.get(pair)
        if due is None:
            cuts = crossings((self.curves[pair[0]] - self.curves[pair[1]])[None, :])[0]
            due = self.pending[pair] = cuts[~np.isnan(cuts)][::-1].tolist()
        if due:
            heapq.heappush(self.queue, (max(now, due[-1]), lower, upper))

    def run(self) -> Presence:
        order, place, accuracy = self.order, self.place, self.accuracy
        best_below = [-np.inf] * len(order)
        since = [np.nan] * len(order)
        spells: list[tuple[int, float, float]] = []
        best = -np.inf
        for at, candidate in enumerate(order):
            best_below[at] = best
            if accuracy[candidate] > best:
                since[candidate] = 0.0
                best = accuracy[candidate]
        for at in range(len(order) - 1):
            self.meet(at, 0.0)
        while self.queue:
            now, lower, upper = heapq.heappop(self.queue)
            at = place[lower]
            if at + 1 >= len(order) or order[at + 1] != upper:
                continue  # no longer neighbours: queued again when they are
            due = self.pending[min(lower, upper), max(lower, upper)]
            if not due or max(now, due[-1]) > now:
                continue  # this crossing has been performed
            due.pop()
            self.swaps += 1
            order[at], order[at + 1] = upper, lower
            place[lower], place[upper] = at + 1, at
            best_below[at + 1] = max(best_below[at], accuracy[upper])
            for candidate in (lower, upper):
                on = accuracy[candidate] > best_below[place[candidate]]
                if on and np.isnan(since[candidate]):
                    since[candidate] = now
                elif not on and not np.isnan(since[candidate]):
                    spells.append((candidate, since[candidate], now))
                    since[candidate] = np.nan
            for beside in (at - 1, at, at + 1):
                self.meet(beside, now)
        spells += [(candidate, begun, np.inf) for candidate, begun in enumerate(since) if not np.isnan(begun)]
        return (
            np.array([spell[0] for spell in spells], dtype=np.int64),
            np.array([spell[1] for spell in spells], dtype=np.float64),
            np.array([spell[2] for spell in spells], dtype=np.float64),
        )


def presence_by_sweep(candidates: Candidates) -> tuple[Presence, int]:
    """All intervals of sizes at which each candidate is on the skyline, and the number of crossings swept."""
    sweep = _Sweep(candidates)
    presence = sweep.run()
    return presence, sweep.swaps
