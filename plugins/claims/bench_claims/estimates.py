"""Estimates with intervals: a mean, a ratio of means, and a prediction for a paper's few splits.

Three intervals of 95 %, all from the same variance (`bench_analysis.summary`):

- *of a mean* (`mean_estimate`): the method's average over splits, corrected for their overlap.
- *of a ratio of means* (`ratio_estimate`): computed for the logarithm by the delta method. So the interval is positive,
  and the interval of b/a is the inverse of that of a/b.
- *for a number of the paper* (`predicted`): the interval for the mean of k further splits, with half-width t · s ·
  √(1/k + 1/J) for J splits of ours. The paper's splits are drawn from the same rows as ours and overlap ours as ours
  overlap each other. What all splits share cancels in the difference, so no correction for overlap is needed. For k = 1
  and positive numbers, the interval is computed for their logarithms, since costs and sizes of single splits are
  skewed. If the mean of our numbers lies above that interval, they are not, and it is computed as for the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from bench_analysis import Mean, detectable, mean_of_means, mean_with_margin
from numpy.typing import NDArray

__all__ = ["Estimate", "Scale", "mean_estimate", "predicted", "ratio_by_split", "ratio_estimate", "with_queries"]

Numbers = NDArray[np.float64]
_NORMAL = 1.959963984540054
_POWER = 0.8416212335729143
"""Quantiles of the normal distribution at 97.5 % and 80 %."""
Scale = Literal["signed", "positive", "share"]
"""The range of a quantity: any number; not negative (unless the data has negative numbers); between 0 and 1."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: the mean, or the statistic that replaces it.
        low, high: the interval; both NaN with a single seed.
        least, most: the smallest and the greatest value of any seed, for a single data set; otherwise NaN.
        seeds: the number of seeds used (the smallest, over several data sets).
        expected: seeds that the suite asks for.
        detectable: the smallest difference from ``value`` that is detected with a power of 80 %.
        undefined: seeds on which the quantity is undefined; they are not used.
    """

    value: float
    low: float
    high: float
    least: float = math.nan
    most: float = math.nan
    seeds: int = 0
    expected: int = 0
    detectable: float = math.nan
    undefined: int = 0

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval; a single seed gives none."""
        return not math.isnan(self.low)

    def mirrored(self, offset: float, sign: int) -> Estimate:
        """``offset + sign · number``, with the ends of the interval exchanged if the sign is negative."""
        ends = sorted((offset + sign * self.low, offset + sign * self.high))
        seen = sorted((offset + sign * self.least, offset + sign * self.most))
        return replace(self, value=offset + sign * self.value, low=ends[0], high=ends[1], least=seen[0], most=seen[1])


def _seen(cells: Sequence[Numbers]) -> tuple[float, float]:
    """The smallest and the greatest number, for a single data set."""
    if len(cells) != 1 or not np.isfinite(cells[0]).any():
        return math.nan, math.nan
    return float(np.nanmin(cells[0])), float(np.nanmax(cells[0]))


def _of(mean: Mean, ends: tuple[float, float], cells: Sequence[Numbers]) -> Estimate:
    least = detectable(mean.margin, mean.freedom)
    return Estimate(mean.value, *ends, *_seen(cells), mean.count, 0, least, mean.undefined)


def mean_estimate(cells: Sequence[Numbers], overlaps: Sequence[float], scale: Scale = "signed") -> Estimate:
    """The mean over data sets of the means over seeds.

    Args:
        cells: a data set's numbers by seed, NaN where undefined.
        overlaps: overlap of each data set's splits.
        scale: range of the quantity, which bounds its interval.
    """
    mean = mean_of_means(cells, overlaps)
    if scale == "signed":
        return _of(mean, (mean.value - mean.margin, mean.value + mean.margin), cells)
    return _of(mean, mean.interval(scale == "share"), cells)


def ratio_estimate(pairs: Sequence[tuple[Numbers, Numbers]], overlaps: Sequence[float]) -> Estimate:
    """The mean over data sets of the ratio of means, with the interval of its linearisation (delta method).

    On one data set R = ā/b̄, and the numbers (a/ā − b/b̄) by seed have the variance of log R. If a mean is not
    positive, R itself is linearised.

    Args:
        pairs: numerators and denominators of each data set, by common seed.

    Raises:
        ZeroDivisionError: the mean of the denominators is zero.
    """
    means = [(math.fsum(a) / len(a), math.fsum(b) / len(b)) for a, b in pairs]
    ratios = [above / below for above, below in means]
    value = math.fsum(ratios) / len(ratios)
    if all(above > 0 and below > 0 for above, below in means):
        parts = [
            r / value * (a / above - b / below) for r, (a, b), (above, below) in zip(ratios, pairs, means, strict=True)
        ]
        mean = mean_of_means(parts, overlaps)
        width, least = mean.margin, detectable(mean.margin, mean.freedom)
        ends = (value * math.exp(-width), value * _exp(width))
        return Estimate(value, *ends, seeds=mean.count, detectable=value * (_exp(least) - 1))
    mean = mean_of_means(_linear(pairs), overlaps)
    return replace(_of(mean, (mean.value - mean.margin, mean.value + mean.margin), []), value=value)


def _linear(pairs: Sequence[tuple[Numbers, Numbers]]) -> list[Numbers]:
    """Numbers by seed whose mean is the ratio of means R and whose variance is that of R: R + (a − R·b)/b̄."""
    cells = []
    for a, b in pairs:
        below = math.fsum(b) / len(b)
        r = math.fsum(a) / len(a) / below
        cells.append(r + (a - r * b) / below)
    return cells


def ratio_by_split(pairs: Sequence[tuple[Numbers, Numbers]]) -> list[Numbers]:
    """The ratios of single splits: a/b for one data set with positive numbers, otherwise linearised."""
    if len(pairs) == 1 and all(bool((side > 0).all()) for side in pairs[0]):
        return [pairs[0][0] / pairs[0][1]]
    return _linear(pairs)


def predicted(cells: Sequence[Numbers], splits: int, around: float, scale: Scale = "signed") -> Estimate:
    """The 95 % prediction interval for the mean of ``splits`` further splits.

    Args:
        cells: a data set's numbers by seed.
        splits: how many splits the paper's number is the mean of.
        around: our number, which the estimate reports; the interval need not be symmetric about it.
        scale: range of the quantity.
    """
    only = cells[0][np.isfinite(cells[0])] if len(cells) == 1 else np.zeros(0)
    if splits == 1 and len(only) > 1 and scale == "positive" and bool((only > 0).all()):
        logs = mean_with_margin(np.log(only), 1.0)
        ends = (_exp(logs.value - logs.margin), _exp(logs.value + logs.margin))
        least = _exp(logs.value) * (_exp(detectable(logs.margin, logs.freedom)) - 1)
        undefined = len(cells[0]) - len(only)
        if math.fsum(only) / len(only) <= ends[1]:
            return Estimate(around, *ends, *_seen(cells), len(only), 0, least, undefined)
    mean = mean_of_means(cells, [1 / splits] * len(cells))
    low, high = mean.value - mean.margin, mean.value + mean.margin
    if scale != "signed" and mean.positive:
        low = max(low, 0.0)
    if scale == "share" and mean.value <= 1:
        high = min(high, 1.0)
    return replace(_of(mean, (low, high), cells), value=around)


def with_queries(estimate: Estimate, queries: int, least: float) -> Estimate:
    """A `predicted` interval that also allows for the queries of the paper's test part, which differ from ours.

    With a fixed test part all splits have the same queries, so the variance between splits does not include that
    between queries, and the records hold no values per query. But that variance is bounded: a quantity between
    ``least`` and 1 with mean m has a variance of at most (1 − m)(m − least) (Bhatia and Davis 2000), and the variance
    of the difference of two means over queries is at most twice that divided by their number. The interval is
    therefore wide, and never too narrow.

    Args:
        queries: the smaller number of queries of the two test parts.
        least: the smallest possible value of a query: 0 for a metric between 0 and 1, −1 for a difference of two.
    """
    mean = min(max(estimate.value, least), 1.0)
    more = _NORMAL * math.sqrt(2 * (1 - mean) * (mean - least) / queries)
    low = estimate.value - math.hypot(estimate.value - estimate.low, more)
    high = estimate.value + math.hypot(estimate.high - estimate.value, more)
    half = (estimate.high - estimate.low) / 2
    grown = math.hypot(half, more) / half if half > 0 else 1.0
    detects = estimate.detectable * grown if half > 0 else (1 + _POWER / _NORMAL) * more
    return replace(estimate, low=max(low, least), high=min(high, 1.0), detectable=detects)


def _exp(width: float) -> float:
    return math.exp(width) if width < 700 else math.inf
