"""The sizes at which each candidate is on the skyline, by lower envelopes: the fast builder of the index (ours).

A candidate is on the skyline at size n if it is cheaper there than every candidate that is at least as accurate.
Therefore candidates are processed by descending accuracy, keeping the lower envelope of their cost curves (the cheapest
curve at every size) as pieces. A candidate is on the skyline exactly at the sizes where it enters the envelope.

The envelope of m curves of degree s has at most about s·m pieces (Davenport–Schinzel), usually a few dozen. So building
takes about m × pieces steps, while the sweep takes one step per crossing of two curves. No order of curves is
maintained, so a crossing that rounding misjudges has only a local effect.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates
from bench_polydom.polynomials import MAX_SIZE, crossings, evaluate

__all__ = ["Presence", "presence_by_envelope"]

Presence = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""Intervals of sizes on the skyline: candidate, first size, and end (exclusive); one entry per interval."""


class _Envelope:
    """The cheapest curve at every size: pieces that begin at ``starts`` and belong to curves ``owners`` (−1: none)."""

    def __init__(self, curves: NDArray[np.float64]) -> None:
        self.curves = curves
        self.starts = np.zeros(1)
        self.owners = np.full(1, -1, dtype=np.int64)

    def insert(self, candidate: int) -> None:
        """Insert a curve: it replaces the envelope wherever it is strictly cheaper."""
        ends = np.append(self.starts[1:], MAX_SIZE)
        differences = self.curves[candidate] - self.curves[self.owners]
        nobody = self.owners < 0
        differences[nobody] = 0.0
        differences[nobody, 0] = -1.0
        if (differences >= 0).all():
            return
        cuts = crossings(differences, self.starts, ends)
        edges = np.concatenate([self.starts[:, None], cuts], axis=1)
        piece = np.broadcast_to(np.arange(len(edges))[:, None], edges.shape)
        real = ~np.isnan(edges)
        starts, piece = edges[real], piece[real]
        stops = np.append(starts[1:], MAX_SIZE)
        cheaper = evaluate(differences[piece], 0.5 * (starts + stops)) < 0
        owners = np.where(cheaper, candidate, self.owners[piece])
        mask = np.append(True, owners[1:] != owners[:-1])
        self.starts, self.owners = starts[mask], owners[mask]


def presence_by_envelope(candidates: Candidates) -> Presence:
    """All intervals of sizes at which each candidate is on the skyline.

    Of equally accurate candidates the cheaper one is on the skyline; of candidates equal in both, the first.
    """
    accuracy = candidates.accuracy
    order = np.lexsort((np.arange(len(accuracy)), -accuracy)).tolist()
    envelope = _Envelope(candidates.curves)
    who: list[NDArray[np.int64]] = []
    since: list[NDArray[np.float64]] = []
    until: list[NDArray[np.float64]] = []
    at = 0
    while at < len(order):
        stop = at
        while stop < len(order) and accuracy[order[stop]] == accuracy[order[at]]:
            envelope.insert(order[stop])
            stop += 1
        own = np.isin(envelope.owners, order[at:stop])
        who.append(envelope.owners[own])
        since.append(envelope.starts[own])
        until.append(np.append(envelope.starts[1:], np.inf)[own])
        at = stop
    if not who:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    return np.concatenate(who), np.concatenate(since), np.concatenate(until)
