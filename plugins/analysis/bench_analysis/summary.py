"""Means with 95 % intervals: over seeds, and over data sets of means over seeds.

One variance serves every interval and every test of a page. Splits that are drawn at random from the same rows
overlap, so their results are not independent, and s²/J understates the variance of the mean over J splits. With a
correlation ρ between the results of two splits, (1/J + ρ/(1 − ρ)) · s² estimates it without bias (Nadeau and Bengio,
Inference for the generalization error, Machine Learning 52, 2003, §3 and §4.1), and they take for ρ the share of test
rows that two splits have in common: `overlap` is ρ/(1 − ρ). Where the split is given, nothing but the method's own
randomness (and the choice of validation rows) varies from seed to seed, and the term is 0.

An interval and the paired test of two rows then agree in one direction: the standard deviation of a difference is at
most the sum of both standard deviations, so where two 95 % intervals are disjoint, the paired test at 5 %
distinguishes the rows, too. The converse need not hold: it may also distinguish rows whose intervals overlap.

Where mean ± margin would leave the range of a quantity (a cost below 0, a share above 1), the interval is computed on
the scale of logarithms (of log-odds for a share) by the delta method, with the same variance: `Mean.interval`.

A value that is not finite is *undefined* on its seed (an accuracy where nothing was answered). It is counted
(`Mean.undefined`) and left out of the mean; it does not count as 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    from bench_records import Records

    from bench_core.suites import Suite

__all__ = [
    "Mean",
    "Row",
    "detectable",
    "few_splits",
    "margins",
    "mean_of_means",
    "mean_with_margin",
    "moments",
    "overlap",
    "summarise",
    "t_quantile",
]


_LEAST_SPLITS = 3
"""Fewest of several splits for an interval on a page. With two, t is 12.7: the interval says next to nothing."""


def few_splits(done: int, expected: int) -> bool:
    """Whether a mean has no interval, because more splits are expected and too few are done."""
    return done < min(_LEAST_SPLITS, expected)


@dataclass(frozen=True)
class Mean:
    """A mean over seeds.

    Attributes:
        value: the mean.
        margin: half the width of its 95 % t interval, corrected for overlapping splits; NaN for fewer than two
            values, and while too few splits are done (`few_splits`).
        count: how many values.
        freedom: degrees of freedom of the margin's t quantile; NaN where there is no margin.
        positive: whether no value is below 0, and the mean is above it.
        undefined: further seeds, on which the quantity is not defined.
    """

    value: float
    margin: float
    count: int
    freedom: float = math.nan
    positive: bool = False
    undefined: int = 0

    def is_bounded(self, share: bool) -> bool:
        """Whether value ± margin leaves the range of the quantity, so that `interval` uses another scale."""
        if not self.positive or math.isnan(self.margin):
            return False
        return self.margin > self.value or (share and self.value < 1 < self.value + self.margin)

    def interval(self, share: bool = False) -> tuple[float, float]:
        """The 95 % interval; NaN at both ends where there is none.

        Args:
            share: the quantity is between 0 and 1.
        """
        if not self.is_bounded(share):
            return self.value - self.margin, self.value + self.margin
        if share and self.value < 1:
            odds, width = self.value / (1 - self.value), self.margin / (self.value * (1 - self.value))
            ends = [_odds(odds, width * sign) for sign in (-1, 1)]
            return ends[0] / (1 + ends[0]), 1.0 if math.isinf(ends[1]) else ends[1] / (1 + ends[1])
        width = self.margin / self.value
        return _odds(self.value, -width), _odds(self.value, width)


def _odds(middle: float, width: float) -> float:
    """``middle`` · exp(width), infinite where that is too great for a float."""
    return middle * math.exp(width) if width < 700 else math.inf


@dataclass(frozen=True)
class Row:
    """A table's row: one method on one data set under one cost scheme.

    Attributes:
        method: its name in the suite.
        means: metric → mean on the test part.
        done, expected: seeds that are done, and that the suite asks for.
        rule: how the policy was selected.
        over_budget: seeds whose policy misses the cap of that rule; with any, the row takes no part in comparisons.
    """

    method: str
    means: dict[str, Mean]
    done: int
    expected: int
    rule: str
    over_budget: int = 0


def moments(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """Mean and variance (n − 1), from exact sums: the same on every machine.

    The variance is NaN for one value, and exactly 0 for equal values.
    """
    numbers = [float(value) for value in values]
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) < 2:
        return mean, float("nan")
    if min(numbers) == max(numbers):
        return numbers[0], 0.0
    return mean, math.fsum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1)


def overlap(info: Mapping[str, Any], drawn_from: int | str | None = None) -> float:
    """What overlapping splits add to 1/J in the variance of a mean: ρ/(1 − ρ), with ρ the share of common test rows.

    Two parts of n_test rows, drawn at random from a table of N, have n_test²/N rows in common on average, a share
    ρ = n_test/N of either, so that ρ/(1 − ρ) = n_test/(N − n_test). Where splits use up their table, N − n_test rows
    are learnt from (training and validation: both shape what is fitted), and the term is Nadeau and Bengio's
    n_test/n_learn. As N grows it falls to 0, the term of independent draws.

    Args:
        info: the information of a done trial, from `bench_records.records.Records.infos`.
        drawn_from: how many rows the table has, where the parts are counts that do not use it up; ``independent``:
            every seed has data of its own; see `bench_core.run.suite_schema.SplitTable`. None: the split's fractions
            give N, and counts are taken to use up the table, so the interval is too wide rather than too narrow.

    Returns:
        The term; 0 where the split is given.
    """
    split = json.loads(info["trial"])["split"]
    if split["kind"] == "given" or drawn_from == "independent":
        return 0.0
    rows = info["rows"]
    others = rows["train"] + rows["validation"]
    share = float(split["train"] + split["validation"] + split["test"])
    if isinstance(drawn_from, int):
        others = drawn_from - rows["test"]
    elif share < 1 - 1e-9:
        others = (others + rows["test"]) / share - rows["test"]
    return float(rows["test"] / others)


def mean_with_margin(values: Sequence[float] | NDArray[np.float64], overlap: float, expected: int = 0) -> Mean:
    """Mean and half-width of the 95 % interval: t(0.975, n − 1) · s · √(1/n + overlap).

    Args:
        values: one per seed; those that are not finite are counted as undefined.
        overlap: of the splits, see `overlap`; 0 for values that are independent.
        expected: how many splits the suite asks for; with `few_splits` of them, there is no margin.
    """
    numbers = np.asarray(values, dtype=np.float64)
    total = len(numbers)
    numbers = numbers[np.isfinite(numbers)]
    count = len(numbers)
    if count == 0:
        return Mean(float("nan"), float("nan"), 0, undefined=total)
    mean, variance = moments(numbers)
    positive = bool(mean > 0 <= numbers.min())
    if count == 1 or few_splits(total, expected):
        return Mean(mean, float("nan"), count, positive=positive, undefined=total - count)
    margin = t_quantile(count - 1) * (variance * (1 / count + overlap)) ** 0.5
    return Mean(mean, margin, count, float(count - 1), positive, total - count)


def margins(table: NDArray[np.float64], overlap: float) -> NDArray[np.float64]:
    """The margin of `mean_with_margin` for every column of float64 (seeds, places); NaN with one seed."""
    count = len(table)
    if count < 2:
        return np.full(table.shape[1], np.nan)
    apart = table - table.sum(axis=0) / count
    variance = (apart * apart).sum(axis=0) / (count - 1)
    return np.asarray(t_quantile(count - 1) * np.sqrt(variance * (1 / count + overlap)))


@lru_cache(maxsize=4096)
def t_quantile(freedom: float, level: float = 0.975) -> float:
    """Student's t quantile."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


def detectable(margin: float, freedom: float) -> float:
    """The least difference that a two-sided test at 5 % detects with a power of 80 %.

    (t(0.975) + t(0.8)) standard errors, where the margin is t(0.975) of them. With a true difference of one margin the
    power is 50 %: half of such differences would be missed, so the margin itself would promise too much.
    """
    if math.isnan(margin) or math.isnan(freedom):
        return 0.0 if margin == 0 else math.nan
    return margin * (1 + t_quantile(freedom, 0.8) / t_quantile(freedom))


def mean_of_means(cells: Sequence[NDArray[np.float64]], overlaps: Sequence[float]) -> Mean:
    """Mean over data sets of the means over seeds, with its 95 % interval.

    The data sets are taken as they are; what varies is the seed, independently on each. So the variance of the mean
    is Σ s²(1/n + overlap) / D², and its t quantile has Welch and Satterthwaite's degrees of freedom.

    Args:
        cells: a data set's numbers by seed; those that are not finite are counted as undefined.
        overlaps: of each data set's splits, see `overlap`; what is added to 1/n in the variance of each mean.

    Returns:
        ``count`` is the smallest number of seeds; the margin is NaN when a data set has one seed.
    """
    total_count = sum(len(cell) for cell in cells)
    cells = [cell[np.isfinite(cell)] for cell in cells]
    least, undefined = min(len(cell) for cell in cells), total_count - sum(len(cell) for cell in cells)
    if least == 0:
        return Mean(float("nan"), float("nan"), 0, undefined=undefined)
    cell_moments = [moments(cell) for cell in cells]
    value = math.fsum(mean for mean, _ in cell_moments) / len(cells)
    positive = bool(value > 0 <= min(cell.min() for cell in cells))
    if least < 2:
        return Mean(value, float("nan"), least, positive=positive, undefined=undefined)
    parts = [
        variance * (1 / len(cell) + shared) / len(cells) ** 2
        for (_, variance), cell, shared in zip(cell_moments, cells, overlaps, strict=True)
    ]
    total = math.fsum(parts)
    if total == 0:
        return Mean(value, 0.0, least, positive=positive, undefined=undefined)
    freedom = 1 / math.fsum((p / total) ** 2 / (len(cell) - 1) for p, cell in zip(parts, cells, strict=True))
    return Mean(value, t_quantile(freedom) * total**0.5, least, freedom, positive, undefined)


def summarise(
    records: Records, chosen: pd.DataFrame, suite: Suite, metrics: Sequence[str]
) -> dict[tuple[str, str], list[Row]]:
    """The rows of every table: (data set, cost scheme) → rows in the suite's order of methods.

    Args:
        records: of the suite.
        chosen: from `bench_records.selection.select`.
        suite: has the data sets, the methods and the number of seeds that are expected.
        metrics: names of the metrics to average.
    """
    columns = {name: chosen[f"test.{name}"].to_numpy() for name in metrics if f"test.{name}" in chosen}
    rules, names = (chosen[key].to_numpy() if key in chosen else np.zeros(0, object) for key in ("rule", "name"))
    over = chosen["over_budget"].to_numpy() if "over_budget" in chosen else np.zeros(len(chosen), dtype=bool)
    cells = chosen.groupby(["dataset", "costs", "method"]).indices if len(chosen) else {}
    tables: dict[tuple[str, str], list[Row]] = {}
    for dataset, costs in suite.grids:
        expected = suite.seed_count(dataset)
        rows = tables.setdefault((dataset, costs), [])
        for method in suite.methods_on(dataset):
            index = list(cells.get((dataset, costs, method), []))
            means: dict[str, Mean] = {}
            if index:
                shared = overlap(records.infos[str(names[index[0]])], suite.drawn_from(dataset))
                means = {name: mean_with_margin(column[index], shared, expected) for name, column in columns.items()}
            means = {name: mean for name, mean in means.items() if mean.count}
            rule = str(rules[index[0]]) if len(index) else ""
            rows.append(Row(method, means, len(index), expected, rule, int(over[index].sum())))
    return tables
