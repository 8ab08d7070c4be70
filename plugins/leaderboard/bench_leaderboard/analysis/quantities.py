"""Quantities of claims: a number of the records with its 95 % interval, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_leaderboard.analysis.cells import Cells
from bench_leaderboard.analysis.records import Records
from bench_leaderboard.analysis.summary import mean_of_means, overlap

if TYPE_CHECKING:
    from bench_core import Suite

__all__ = ["Estimate", "Missing", "Source", "difference", "median", "plain", "ratio"]

Numbers = NDArray[np.float64]


class Missing(Exception):
    """A number that the records do not hold; the message says which and why."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: the mean (or what is said instead).
        low, high: the interval; both NaN with a single seed.
        least, most: the smallest and the greatest number of a seed, where one data set is meant; else NaN.
        seeds: the smallest number of seeds in it.
        expected: seeds that the suite asks for.
    """

    value: float
    low: float
    high: float
    least: float = math.nan
    most: float = math.nan
    seeds: int = 0
    expected: int = 0

    @property
    def has_interval(self) -> bool:
        """Whether there is one: with a single seed there is not."""
        return not math.isnan(self.low)

    def mirrored(self, offset: float, sign: int) -> Estimate:
        """``offset + sign · number``, with the interval turned over when the sign is negative."""
        ends = sorted((offset + sign * self.low, offset + sign * self.high))
        seen = sorted((offset + sign * self.least, offset + sign * self.most))
        return replace(
            self,
            value=offset + sign * self.value,
            low=ends[0],
            high=ends[1],
            least=seen[0],
            most=seen[1],
        )


@dataclass(frozen=True)
class Source:
    """Where claims find their numbers.

    Attributes:
        suite, records: what the page is of.
        cells: the selected policies' numbers.
    """

    suite: Suite
    records: Records
    cells: Cells

    def places(self, check: Any) -> list[tuple[str, str]]:
        """The (data set, cost scheme) pairs a check is about."""
        names = check.datasets or self.suite.dataset_names()
        return [(d, check.costs or next(c for known, c in self.suite.grids if known == d)) for d in names]

    def expected(self, places: Sequence[tuple[str, str]]) -> int:
        """Seeds that the suite asks for, at least."""
        return min(self.suite.seed_count(dataset) for dataset, _ in places)

    def overlaps(self, places: Sequence[tuple[str, str]]) -> list[float]:
        """Of the splits of each data set; see `bench_leaderboard.analysis.summary.overlap`."""
        named = {(dataset, costs): names[0] for (dataset, costs, _), names in self.records.trials.items()}
        return [overlap(self.records.infos[named[place]]) for place in places]

    def threshold(self, dataset: str) -> float:
        """The confidence threshold p̂ of a data set's records.

        Raises:
            Missing: nothing is refused there, or there is no record.
        """
        for (its, _, _), names in self.records.trials.items():
            if its == dataset:
                value = self.records.identities[names[0]]["threshold"]
                if value is not None:
                    return float(value)
                raise Missing(f"{dataset} has no confidence threshold")
        raise Missing(f"no records on {dataset}")

    def by_seed(self, check: Any, place: tuple[str, str], method: str) -> tuple[NDArray[np.int64], Numbers]:
        """Seeds and numbers of a check's quantity.

        Raises:
            Missing: the records do not hold it.
        """
        dataset, costs = place
        seeds = self.cells.seeds(dataset, costs, method)
        if not len(seeds):
            known = method in self.suite.method_names()
            raise Missing(f"no records of {method}" + (f" on {dataset}" if known else ""))
        if getattr(check, "metric", ""):
            if self.cells.over_budget(dataset, costs, method):
                raise Missing(f"{method} is over budget on {dataset}")
            values = self.cells.values(dataset, costs, method, check.metric)
            what = f"metric {check.metric}"
        else:
            infos = [self.records.infos[name] for name in self.cells.names(dataset, costs, method)]
            found = [_told(check, info) for info in infos]
            values = np.array([v for v in found if v is not None], dtype=np.float64)
            series = f"series {check.series}" + (f" over {check.over}" if check.over else "")
            what = f"diagnostic {check.diagnostic}" if check.diagnostic else series
        if len(values) != len(seeds):
            raise Missing(f"no {what} in the records of {method} on {dataset}")
        return seeds, values

    def paired(self, check: Any, place: tuple[str, str], a: str, b: str) -> tuple[Numbers, Numbers]:
        """The numbers of two methods over their common seeds."""
        seeds, ours = self.by_seed(check, place, a)
        others, theirs = self.by_seed(check, place, b)
        common, at, at_other = np.intersect1d(seeds, others, return_indices=True)
        if not len(common):
            raise Missing(f"{a} and {b} have no seed in common on {place[0]}")
        return ours[at], theirs[at_other]


def _told(check: Any, info: dict[str, Any]) -> float | None:
    if check.diagnostic:
        value = info["diagnostics"].get(check.diagnostic)
    else:
        value = _placed(info, check.series, check.at)
        if check.over and value is not None:
            below = _placed(info, check.over, check.at)
            value = value / below if below else None
    return float(value) if isinstance(value, int | float) else None


def _placed(info: dict[str, Any], series: str, at: int) -> float | None:
    """A series at a place, or its last number when it stopped before."""
    numbers = info["history"].get(series)
    return numbers[min(at, len(numbers) - 1)] if numbers else None


def _mean(source: Source, places: Sequence[tuple[str, str]], cells: Sequence[Numbers]) -> Estimate:
    mean = mean_of_means(cells, source.overlaps(places))
    low, high = mean.value - mean.margin, mean.value + mean.margin
    seen = (float(cells[0].min()), float(cells[0].max())) if len(cells) == 1 else (math.nan, math.nan)
    return Estimate(mean.value, low, high, *seen, seeds=mean.count, expected=source.expected(places))


def plain(source: Source, check: Any, method: str) -> Estimate:
    """Mean over data sets of a method's means over seeds."""
    places = source.places(check)
    return _mean(source, places, [source.by_seed(check, place, method)[1] for place in places])


def median(source: Source, check: Any, method: str) -> Estimate:
    """Median over seeds on one data set, with its order-statistic interval (all seeds where they are few)."""
    from scipy.stats import binom

    places = source.places(check)
    values = np.sort(source.by_seed(check, places[0], method)[1])
    count = len(values)
    outside = max(int(binom.ppf(0.025, count, 0.5)), 1) - 1
    low, high = (float(values[outside]), float(values[-1 - outside])) if count > 1 else (math.nan, math.nan)
    ends = (float(values[0]), float(values[-1]))
    return Estimate(float(np.median(values)), low, high, *ends, seeds=count, expected=source.expected(places))


def difference(source: Source, check: Any, method: str, against: str) -> Estimate:
    """Mean over data sets of the mean paired difference, ``method`` − ``against``."""
    places = source.places(check)
    pairs = [source.paired(check, place, method, against) for place in places]
    return _mean(source, places, [a - b for a, b in pairs])


def ratio(source: Source, check: Any, method: str, against: str) -> Estimate:
    """Mean over data sets of the ratio of means, with the interval of its linearisation (delta method).

    On a data set R = ā/b̄; the numbers R + (a − R·b)/b̄ by seed have R as their mean, and their spread is R's.

    Raises:
        Missing: the records do not hold it, or ``against`` is zero somewhere.
    """
    places = source.places(check)
    cells = []
    for place in places:
        a, b = source.paired(check, place, method, against)
        below = math.fsum(b) / len(b)
        if below == 0:
            raise Missing(f"{against} is zero on {place[0]}")
        r = math.fsum(a) / len(a) / below
        cells.append(r + (a - r * b) / below)
    made = _mean(source, places, cells)
    return replace(made, least=math.nan, most=math.nan)
