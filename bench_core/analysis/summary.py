"""Means with 95 % intervals: over seeds, and over data sets of means over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suite import Suite

__all__ = ["Mean", "Row", "mean_of_means", "mean_with_margin", "moments", "summarise"]


@dataclass(frozen=True)
class Mean:
    """A mean over seeds.

    Attributes:
        value: the mean.
        margin: half the width of its 95 % t interval; NaN for fewer than two values.
        count: how many values.
    """

    value: float
    margin: float
    count: int


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
    """Mean and variance (n − 1), summed exactly, so that no machine's order of summation shows.

    The variance is NaN for one value; values that are equal have exactly none.
    """
    numbers = [float(value) for value in values]
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) < 2:
        return mean, float("nan")
    if min(numbers) == max(numbers):
        return numbers[0], 0.0
    return mean, math.fsum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1)


def mean_with_margin(values: Sequence[float] | NDArray[np.float64]) -> Mean:
    """Mean and half-width of the 95 % t interval: t(0.975, n − 1) · s / √n. Values that are not finite are left out."""
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    count = len(numbers)
    if count == 0:
        return Mean(float("nan"), float("nan"), 0)
    mean, variance = moments(numbers)
    if count == 1:
        return Mean(mean, float("nan"), 1)
    return Mean(mean, _t_quantile(count - 1) * (variance / count) ** 0.5, count)


@lru_cache(maxsize=4096)
def _t_quantile(freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def mean_of_means(cells: Sequence[NDArray[np.float64]]) -> Mean:
    """Mean over data sets of the means over seeds, with its 95 % interval.

    The data sets are taken as they are; what varies is the seed, independently on each. So the variance of the mean
    is Σ s²/n / D², and its t quantile has Welch and Satterthwaite's degrees of freedom.

    Args:
        cells: a data set's numbers by seed, none empty.

    Returns:
        ``count`` is the smallest number of seeds; the margin is NaN when a data set has one seed.
    """
    told = [moments(cell) for cell in cells]
    value, least = math.fsum(mean for mean, _ in told) / len(cells), min(len(cell) for cell in cells)
    if least < 2:
        return Mean(value, float("nan"), least)
    parts = [variance / len(cell) / len(cells) ** 2 for (_, variance), cell in zip(told, cells, strict=True)]
    total = math.fsum(parts)
    if total == 0:
        return Mean(value, 0.0, least)
    freedom = total**2 / math.fsum(p**2 / (len(cell) - 1) for p, cell in zip(parts, cells, strict=True))
    return Mean(value, _t_quantile(freedom) * total**0.5, least)


def summarise(chosen: pd.DataFrame, suite: Suite, metrics: Sequence[str]) -> dict[tuple[str, str], list[Row]]:
    """The rows of every table: (data set, cost scheme) → rows in the suite's order of methods.

    Args:
        chosen: from `bench_core.analysis.selection.select`.
        suite: says which rows there should be.
        metrics: names of the metrics to average.
    """
    columns = {name: chosen[f"test.{name}"].to_numpy() for name in metrics if f"test.{name}" in chosen}
    rules = chosen["rule"].to_numpy()
    over = chosen["over_budget"].to_numpy() if "over_budget" in chosen else np.zeros(len(chosen), dtype=bool)
    cells = chosen.groupby(["dataset", "costs", "method"]).indices if len(chosen) else {}
    tables: dict[tuple[str, str], list[Row]] = {}
    for dataset, costs in suite.grids:
        expected = suite.seed_count(dataset)
        rows = tables.setdefault((dataset, costs), [])
        for method in suite.methods_on(dataset):
            index = list(cells.get((dataset, costs, method), []))
            means = {name: mean_with_margin(column[index]) for name, column in columns.items() if len(index)}
            means = {name: mean for name, mean in means.items() if mean.count}
            rule = str(rules[index[0]]) if len(index) else ""
            rows.append(Row(method, means, len(index), expected, rule, int(over[index].sum())))
    return tables
