"""The skyline of every range of sizes, from the candidates' intervals on the skyline, and the members' least costs."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from bench_polydom.candidates import Candidates
from bench_polydom.envelope import Presence
from bench_polydom.polynomials import evaluate

__all__ = ["least_costs", "skylines"]


def skylines(
    presence: Presence, candidates: Candidates
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
    """The skylines of successive ranges of sizes: starts, offsets and members, as in `PolyDomIndex`.

    On a skyline, a more expensive model is more accurate; so members ordered by accuracy are ordered by cost at every
    size.
    """
    who, since, until = presence
    longer = until > since
    who, since, until = who[longer], since[longer], until[longer]
    rank = np.empty(len(candidates), dtype=np.int64)
    by_accuracy = np.lexsort((np.arange(len(candidates)), candidates.accuracy))
    rank[by_accuracy] = np.arange(len(candidates))
    places = np.unique(np.concatenate([np.zeros(1), since, until[np.isfinite(until)]]))
    begins = np.searchsorted(places, since)
    ends = np.where(np.isfinite(until), np.searchsorted(places, until), len(places))
    order_begin, order_end = np.argsort(begins, kind="stable"), np.argsort(ends, kind="stable")
    current = np.zeros(len(candidates), dtype=np.int32)
    pieces: list[NDArray[np.int32]] = []
    lengths: list[int] = []
    starts: list[float] = []
    next_begin = next_end = 0
    for at, place in enumerate(places.tolist()):
        while next_end < len(who) and ends[order_end[next_end]] == at:
            current[rank[who[order_end[next_end]]]] -= 1
            next_end += 1
        while next_begin < len(who) and begins[order_begin[next_begin]] == at:
            current[rank[who[order_begin[next_begin]]]] += 1
            next_begin += 1
        members = by_accuracy[np.flatnonzero(current)].astype(np.int32)
        if pieces and np.array_equal(members, pieces[-1]):
            continue
        starts.append(place)
        pieces.append(members)
        lengths.append(len(members))
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.array(lengths, dtype=np.int64))])
    return np.array(starts), offsets, np.concatenate([np.zeros(0, dtype=np.int32), *pieces])


def least_costs(
    candidates: Candidates, starts: NDArray[np.float64], offsets: NDArray[np.int64], members: NDArray[np.int32]
) -> array[float]:
    """Cost of every member of every skyline at the first size of its range.

    Costs are evaluated by Horner's rule, as everywhere: for non-negative numbers it is monotone even with rounding, so
    no model costs less within the range. Costs of curves that cross at that size may be out of order by a rounding
    error, so each member gets the minimum of its cost and those of the members after it.
    """
    least = array("d", bytes(8 * len(members)))
    for start, low, high in zip(starts.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        costs = evaluate(candidates.curves[members[low:high]], start)
        least[low:high] = array("d", np.minimum.accumulate(costs[::-1])[::-1].tobytes())
    return least
