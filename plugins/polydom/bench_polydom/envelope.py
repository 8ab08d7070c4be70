"""When each candidate is on the skyline, by lower envelopes: the fast builder of the index (ours).

A candidate is on the skyline of size n when it is cheaper there than everything at least as accurate. So go through
the candidates from the most accurate down and keep the lower envelope of their cost curves, the cheapest of them for
every size, as pieces. A candidate is on the skyline exactly where it becomes part of the envelope when it is put in.
For curves of degree s the envelope of m curves has at most about s·m pieces (Davenport–Schinzel), usually a few
dozen, so that building takes about m × pieces steps, where the sweep takes one for every crossing of two curves.
No order of curves is carried along, so that a crossing misjudged by rounding does no harm beyond its own place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates
from bench_polydom.polynomials import MAX_SIZE, crossings, evaluate

__all__ = ["Presence", "presence_by_envelope"]

Presence = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""Spells on the skyline: candidate, first size, size where it ends (not included); one entry per spell."""


class _Envelope:
    """The cheapest curve for every size: pieces that begin at ``starts`` and belong to ``owners`` (−1: nobody)."""

    def __init__(self, curves: NDArray[np.float64]) -> None:
        self.curves = curves
        self.starts = np.zeros(1)
        self.owners = np.full(1, -1, dtype=np.int64)

    def insert(self, candidate: int) -> None:
        """Put a curve in: it takes over wherever it is strictly cheaper."""
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
    """Every spell of every candidate on the skyline.

    Among equals in accuracy the cheaper is on it, among equals in both the first.
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
