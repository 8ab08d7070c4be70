"""Numbers with intervals: of a mean, of a ratio of means, and of what a paper's few splits would give.

Three intervals of 95 %, all from the same variance (`bench_analysis.summary`):

- *of a mean* (`mean_estimate`): what the method does on average over splits; corrected for their overlap.
- *of a ratio of means* (`ratio_estimate`): made on the scale of logarithms by the delta method, so that it is positive
  and that b/a has the inverse of a/b's interval.
- *for a number of the paper* (`predicted`): where the mean of k further splits would lie: t · s · √(1/k + 1/J). The
  paper's splits are drawn from the same rows as ours and overlap ours as ours overlap each other; what all of them
  share drops out of the difference, so that there is nothing to correct. With k = 1 and positive numbers it is made
  of their logarithms, since the costs and sizes of single splits are skewed.
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
"""What a quantity can be: any number; not negative (unless the data says otherwise); between 0 and 1."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: the mean (or what is said instead).
        low, high: the interval; both NaN with a single seed.
        least, most: the smallest and the greatest number of a seed, where one data set is meant; else NaN.
        seeds: the smallest number of seeds in it.
        expected: seeds that the suite asks for.
        detectable: the least difference from ``value`` that is told with a power of 80 %.
        undefined: seeds on which the quantity is not defined; they are not in it.
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
        """Whether there is one: with a single seed there is not."""
        return not math.isnan(self.low)

    def mirrored(self, offset: float, sign: int) -> Estimate:
        """``offset + sign · number``, with the interval turned over when the sign is negative."""
        ends = sorted((offset + sign * self.low, offset + sign * self.high))
        seen = sorted((offset + sign * self.least, offset + sign * self.most))
        return replace(self, value=offset + sign * self.value, low=ends[0], high=ends[1], least=seen[0], most=seen[1])


def _seen(cells: Sequence[Numbers]) -> tuple[float, float]:
    """The extremes of one data set's numbers."""
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
        overlaps: of each data set's splits.
        scale: what the quantity can be, and so its interval.
    """
    mean = mean_of_means(cells, overlaps)
    if scale == "signed":
        return _of(mean, (mean.value - mean.margin, mean.value + mean.margin), cells)
    return _of(mean, mean.interval(scale == "share"), cells)


def ratio_estimate(pairs: Sequence[tuple[Numbers, Numbers]], overlaps: Sequence[float]) -> Estimate:
    """The mean over data sets of the ratio of means, with the interval of its linearisation (delta method).

    On a data set R = ā/b̄; the numbers (a/ā − b/b̄) by seed have the spread of log R. Where a mean is not positive, the
    linearisation is that of R itself.

    Args:
        pairs: of each data set the numbers above and below, by common seed.

    Raises:
        ZeroDivisionError: a mean below is zero.
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
    """Numbers by seed whose mean is the ratio of means R, and whose spread is R's: R + (a − R·b)/b̄."""
    cells = []
    for a, b in pairs:
        below = math.fsum(b) / len(b)
        r = math.fsum(a) / len(a) / below
        cells.append(r + (a - r * b) / below)
    return cells


def ratio_by_split(pairs: Sequence[tuple[Numbers, Numbers]]) -> list[Numbers]:
    """What single splits give as a ratio: of one data set with positive numbers a/b, else linearised."""
    if len(pairs) == 1 and all(bool((side > 0).all()) for side in pairs[0]):
        return [pairs[0][0] / pairs[0][1]]
    return _linear(pairs)


def predicted(cells: Sequence[Numbers], splits: int, around: float, scale: Scale = "signed") -> Estimate:
    """Where a number that was measured on so many further splits would lie, with 95 %.

    Args:
        cells: a data set's numbers by seed.
        splits: how many splits the paper's number is the mean of.
        around: what is said to be our number; the interval need not be symmetric about it.
        scale: what the quantity can be.
    """
    only = cells[0][np.isfinite(cells[0])] if len(cells) == 1 else np.zeros(0)
    if splits == 1 and len(only) > 1 and scale == "positive" and bool((only > 0).all()):
        logs = mean_with_margin(np.log(only), 1.0)
        ends = (_exp(logs.value - logs.margin), _exp(logs.value + logs.margin))
        least = _exp(logs.value) * (_exp(detectable(logs.margin, logs.freedom)) - 1)
        undefined = len(cells[0]) - len(only)
        return Estimate(around, *ends, *_seen(cells), len(only), 0, least, undefined)
    mean = mean_of_means(cells, [1 / splits] * len(cells))
    low, high = mean.value - mean.margin, mean.value + mean.margin
    if scale != "signed" and mean.positive:
        low = max(low, 0.0)
    if scale == "share" and mean.value <= 1:
        high = min(high, 1.0)
    return replace(_of(mean, (low, high), cells), value=around)


def with_queries(estimate: Estimate, queries: int, least: float) -> Estimate:
    """A `predicted` interval that also allows for other queries: the paper's test part has others than ours.

    Splits of a given test part never draw queries anew, so that the spread between them holds nothing of it, and the
    records have no values by query. What they can have is bounded: a quantity between ``least`` and 1 with mean m has a
    variance of at most (1 − m)(m − least) (Bhatia and Davis 2000), and two means of so many queries differ with at most
    twice that over their number. So the interval is wide, and never too narrow for want of the values.

    Args:
        queries: of each of the two test parts, at least.
        least: the least value of a query: 0 of a metric between 0 and 1, −1 of a difference of two.
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
