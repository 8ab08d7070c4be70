"""Methods compared over data sets at a budget: ranks, shares of the full model's quality, win rates, intervals.

The data set is the unit of inference. Methods are ranked split by split; ranks are averaged over a data set's splits
(and over several draws of its prices), then over data sets, so that all data sets count the same, whatever their
numbers of splits. Intervals and the share of "first" come from resampling the data sets (percentile bootstrap).

Nothing is imputed. A method can be ranked on a data set only if it has done every split there, has a policy for the
budget on each, and keeps the budget (`bench_comparison.budgets.Answers.status`). Ranks are over the data sets that all
ranked methods share. While these are fewer than half of the data sets, one method is left out: the one whose removal
leaves the others the most shared data sets. Methods that are left out are listed, with the reason on each data set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_comparison.budgets import Answers
from bench_comparison.resampling import Interval, finite, intervals_by, mean_of, resampled, rounded
from bench_comparison.statistics import Friedman, critical_difference, friedman

__all__ = ["LEAST_SHARE", "Compared", "compare", "shared_set", "split_ranks"]

Numbers = NDArray[np.float64]

LEAST_SHARE = 0.5
"""The ranked methods have at least this share of the data sets in common."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Methods at one budget, over the data sets of one task and one kind of prices.

    Attributes:
        datasets: those that the ranked methods share.
        every: all data sets on which at least one method has a number.
        ranks: ranked method → mean rank; 1 is best; the best first.
        relative: ranked method → mean share of the full model's quality, over the same data sets.
        first: ranked method → share of the resamples in which it has the best mean rank (a tie is divided).
        leads: ranked method → number of data sets on which no ranked method has a better rank.
        difference: Nemenyi's critical difference of these ranks; NaN for fewer than two methods.
        friedman: test that all are equal; None for fewer than three methods or two data sets, or when all tie.
        out: method that is not ranked → reason → number of data sets; the data sets on which it could be ranked count
            under ``ranked``.
        over_fallback: method → its relative quality less the fallback's, over the data sets that both answer.
        over_fixed: method → its relative quality less that of the best fixed subset at its cost.
        wins: (a, b) → share of splits on which a is better than b, a tie counting half, averaged over data sets;
            over the data sets that both answer, for all pairs a < b in the suite's order.
    """

    datasets: tuple[str, ...]
    every: tuple[str, ...]
    ranks: Mapping[str, Interval]
    relative: Mapping[str, Interval]
    first: Mapping[str, float]
    leads: Mapping[str, int]
    difference: float
    friedman: Friedman | None
    out: Mapping[str, Mapping[str, int]]
    over_fallback: Mapping[str, Interval]
    over_fixed: Mapping[str, Interval]
    wins: Mapping[tuple[str, str], Interval]

    @property
    def leader(self) -> str | None:
        """The method with the best mean rank."""
        return next(iter(self.ranks), None)

    def near(self) -> list[str]:
        """Methods whose mean rank is within the critical difference of the leader's, the best first."""
        if self.leader is None or np.isnan(self.difference):
            return []
        best = self.ranks[self.leader].value
        return [m for m, rank in self.ranks.items() if m != self.leader and rank.value - best < self.difference]

    def win_rate(self, a: str, b: str) -> Interval | None:
        """How often a is better than b; None where they share no data set."""
        if (a, b) in self.wins:
            return self.wins[a, b]
        other = self.wins.get((b, a))
        return None if other is None else Interval(1 - other.value, 1 - other.high, 1 - other.low, other.datasets)


def split_ranks(values: Numbers, goal: str) -> Numbers:
    """Mean over splits of the ranks on each; float64 (methods,), 1 is best, equal values share the mean rank.

    Args:
        values: float64 (methods, splits), without NaN. Rounded to 12 digits, so that rounding errors break no ties.
        goal: ``max`` or ``min``.
    """
    from scipy.stats import rankdata

    equal = rounded(values)
    ranks = rankdata(-equal if goal == "max" else equal, axis=0)
    return np.asarray(ranks.sum(axis=1) / values.shape[1])


def shared_set(there: NDArray[np.bool_], least: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Methods that share at least ``least`` data sets, and these data sets; found greedily.

    The search starts with all methods that have a data set. While they share too few, one is removed: the method
    whose removal leaves the others the most shared data sets; ties go to the one with the fewest data sets, then to the
    last. At the end, every method that has all the shared data sets is included again.

    Args:
        there: bool (methods, data sets).
        least: how many data sets they should share.

    Returns:
        Positions of the methods and of the data sets, ascending; empty where no method has ``least`` data sets.
    """
    remaining = [m for m in range(len(there)) if there[m].any()]
    while remaining and int(there[remaining].all(axis=0).sum()) < least:
        left = {
            m: int(there[[k for k in remaining if k != m]].all(axis=0).sum()) if len(remaining) > 1 else 0
            for m in remaining
        }
        remaining.remove(max(remaining, key=lambda m: (left[m], -int(there[m].sum()), m)))
    if not remaining:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    shared = np.flatnonzero(there[remaining].all(axis=0))
    return np.flatnonzero(there[:, shared].all(axis=1)).astype(np.int64), shared.astype(np.int64)


def compare(
    answers: Sequence[Answers], budget: int, methods: Sequence[str], tolerance: float, fallback: str = ""
) -> Compared:
    """Compare methods at a budget.

    Args:
        answers: of one task and one kind of prices, with the same budgets; a data set may have several cost schemes.
        budget: position of a budget; the number of budgets stands for the area below the curve.
        methods: names, in the suite's order.
        tolerance: see `Answers.status`.
        fallback: the method that buys nothing.
    """
    every = list(dict.fromkeys(place.dataset for place in answers))
    places = {name: [place for place in answers if place.dataset == name] for name in every}
    status = {(m, d): _status(places[d], m, budget, tolerance) for m in methods for d in every}
    there = np.array([[status[m, d] == "ranked" for d in every] for m in methods], dtype=bool)
    there = there.reshape(len(methods), len(every))
    rows, columns = shared_set(there, max(1, int(np.ceil(LEAST_SHARE * len(every)))))
    ranked, shared = [methods[i] for i in rows], [every[i] for i in columns]
    table = np.array([_dataset_ranks(places[d], ranked, budget) for d in shared]).reshape(len(shared), len(ranked))
    quality = {(m, d): _relative(places[d], m, budget) for m in methods for d in every if status[m, d] == "ranked"}
    first = _first(table)
    ranks = intervals_by({m: table[:, i].tolist() for i, m in enumerate(ranked)})
    order = sorted(ranked, key=lambda m: (round(ranks[m].value, 9), methods.index(m)))
    return Compared(
        datasets=tuple(shared),
        every=tuple(every),
        ranks={m: ranks[m] for m in order},
        relative=intervals_by({m: finite([quality[m, d] for d in shared]) for m in order}),
        first={m: float(first[ranked.index(m)]) for m in order},
        leads={m: int((table[:, ranked.index(m)] <= table.min(axis=1) + 1e-9).sum()) for m in order},
        difference=critical_difference(len(ranked), len(shared)) if len(ranked) > 1 else float("nan"),
        friedman=friedman(table) if len(ranked) > 2 else None,
        out={m: dict(Counter(status[m, d] for d in every)) for m in methods if m not in ranks},
        over_fallback=_over_fallback(quality, methods, every, fallback),
        over_fixed=_over_fixed(places, status, methods, budget),
        wins=_wins(places, status, methods, budget),
    )


def _status(places: Sequence[Answers], method: str, budget: int, tolerance: float) -> str:
    """``ranked`` if a method can be ranked under all cost schemes of a data set, else the first reason why not."""
    statuses = [place.status(method, budget, tolerance) for place in places]
    return next((status for status in statuses if status != "ranked"), "ranked")


def _measured(place: Answers, method: str, budget: int) -> Numbers:
    row = place.methods.index(method)
    return np.asarray(place.area[row] if budget == len(place.budgets) else place.test[row, :, budget])


def _dataset_ranks(places: Sequence[Answers], methods: Sequence[str], budget: int) -> Numbers:
    ranks = [
        split_ranks(np.array([_measured(place, m, budget) for m in methods]), place.quality.goal) for place in places
    ]
    return np.asarray(sum(ranks) / len(ranks))


def _relative(places: Sequence[Answers], method: str, budget: int) -> float:
    return mean_of(np.array([place.mean_shares[place.methods.index(method), budget] for place in places]))


def _first(table: Numbers) -> Numbers:
    """Share of resamples in which each method has the best mean rank; a tie is divided; float64 (methods,)."""
    if not table.size:
        return np.zeros(table.shape[1])
    means = resampled(table)
    best = means == means.min(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).sum(axis=0) / len(means))


def _over_fixed(
    places: Mapping[str, Sequence[Answers]], status: Mapping[tuple[str, str], str], methods: Sequence[str], budget: int
) -> dict[str, Interval]:
    found = {}
    for method in methods:
        apart = []
        for dataset, some in places.items():
            if status[method, dataset] != "ranked" or budget == len(some[0].budgets):
                continue
            apart.append(mean_of(np.array([place.over_fixed[place.methods.index(method), budget] for place in some])))
        if known := finite(apart):
            found[method] = known
    return intervals_by(found)


def _wins(
    places: Mapping[str, Sequence[Answers]], status: Mapping[tuple[str, str], str], methods: Sequence[str], budget: int
) -> dict[tuple[str, str], Interval]:
    """(a, b) → win rate of a, over the data sets that both answer."""
    shares: dict[tuple[str, str], list[float]] = {}
    for dataset, some in places.items():
        present = [m for m in methods if status[m, dataset] == "ranked"]
        if len(present) < 2:
            continue
        rates = []
        for place in some:
            sign = 1.0 if place.quality.goal == "max" else -1.0
            values = rounded(sign * np.array([_measured(place, m, budget) for m in present]))
            better = (values[:, None] > values[None]).sum(axis=2) + 0.5 * (values[:, None] == values[None]).sum(axis=2)
            rates.append(better / values.shape[1])
        rate = np.asarray(sum(rates) / len(rates))
        for i, a in enumerate(present):
            for j in range(i + 1, len(present)):
                shares.setdefault((a, present[j]), []).append(float(rate[i, j]))
    return intervals_by(shares)


def _over_fallback(
    quality: Mapping[tuple[str, str], float], methods: Sequence[str], every: Sequence[str], fallback: str
) -> dict[str, Interval]:
    found = {}
    for method in methods:
        both = [d for d in every if (method, d) in quality and (fallback, d) in quality]
        apart = finite([quality[method, d] - quality[fallback, d] for d in both])
        if apart and method != fallback:
            found[method] = apart
    return intervals_by(found)
