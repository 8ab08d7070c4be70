"""When each candidate is on the skyline, by sweeping the crossings of neighbours (PolyDom, "Traversing Intersection
Points", Theorem 3.13, Algorithm 3).

The curves are kept in the order of their cost. A queue holds the next crossing of every two neighbours; the nearest
is popped, the two swap places, and their crossings with their new neighbours go in. A swap of a lower curve 1 and a
curve 2 above it changes the skyline when curve 1 was on it and is less accurate (curve 2 takes its place below), or
when curve 2 comes onto it from the dark: that is seen from the two and the best accuracy below them, so that only
the interesting points cost anything to store.

Rounding: crossings that all but coincide can be computed in an order in which the swaps are not of neighbours. So
every pair keeps count of how many of its own crossings it has done; whatever is due, or overdue when two curves
become neighbours, is done at once. Each pair swaps exactly as often as its curves cross, and the order is right again
as soon as the sweep is past the cluster, whatever happened within it.
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
"""Relative distance below which two crossings are taken for one."""


def all_crossings(candidates: Candidates) -> NDArray[np.float64]:
    """Where any two curves cross, ascending, each place once (what PolyDomIndexAll stores a skyline for).

    Sets that differ by the same features cross at the same place; places nearer than `SAME` are one.
    """
    curves = candidates.curves
    pieces = [np.zeros(0)]
    for i in range(len(curves) - 1):
        cuts = crossings(curves[i + 1 :] - curves[i]).ravel()
        pieces.append(cuts[~np.isnan(cuts)])
    places = np.unique(np.concatenate(pieces))
    apart: NDArray[np.float64] = places[np.append(True, np.diff(places) > SAME * places[1:])[: len(places)]]
    return apart


class _Sweep:
    def __init__(self, candidates: Candidates) -> None:
        self.accuracy = candidates.accuracy.tolist()
        self.curves = candidates.curves
        count = len(candidates)
        # Just right of 0 the first coefficient that differs decides; equal curves: the more accurate, the first.
        keys = (np.arange(count), -candidates.accuracy, *self.curves.T[::-1])
        self.order: list[int] = np.lexsort(keys).tolist()
        self.pending: dict[tuple[int, int], list[float]] = {}
        self.queue: list[tuple[float, int, int]] = []
        self.place = [0] * count
        for place, candidate in enumerate(self.order):
            self.place[candidate] = place
        self.swaps = 0

    def meet(self, place: int, now: float) -> None:
        """Queue the next crossing of the curves at a place and above it."""
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
                continue  # this crossing has been done
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
    """Every spell of every candidate on the skyline, and how many crossings were swept."""
    sweep = _Sweep(candidates)
    presence = sweep.run()
    return presence, sweep.swaps
