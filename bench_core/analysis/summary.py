"""Means over seeds with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suite import Suite

__all__ = ["Mean", "Row", "mean_with_margin", "summarise"]


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
    """

    method: str
    means: dict[str, Mean]
    done: int
    expected: int
    rule: str


def mean_with_margin(values: Sequence[float] | NDArray[np.float64]) -> Mean:
    """Mean and half-width of the 95 % t interval: t(0.975, n − 1) · s / √n."""
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    count = len(numbers)
    if count == 0:
        return Mean(float("nan"), float("nan"), 0)
    if count == 1:
        return Mean(float(numbers[0]), float("nan"), 1)
    spread = float(numbers.std(ddof=1))
    return Mean(float(numbers.mean()), _t_quantile(count - 1) * spread / count**0.5, count)


@cache
def _t_quantile(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def summarise(chosen: pd.DataFrame, suite: Suite, metrics: Sequence[str]) -> dict[tuple[str, str], list[Row]]:
    """The rows of every table: (data set, cost scheme) → rows in the suite's order of methods.

    Args:
        chosen: from `bench_core.analysis.selection.select`.
        suite: says which rows there should be.
        metrics: names of the metrics to average.
    """
    columns = {name: chosen[f"test.{name}"].to_numpy() for name in metrics if f"test.{name}" in chosen}
    rules = chosen["rule"].to_numpy()
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
            rows.append(Row(method, means, len(index), expected, rule))
    return tables
