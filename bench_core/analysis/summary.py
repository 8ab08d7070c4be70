"""Means over seeds with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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


def mean_with_margin(values: Sequence[float]) -> Mean:
    """Mean and half-width of the 95 % t interval: t(0.975, n − 1) · s / √n."""
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    count = len(numbers)
    if count == 0:
        return Mean(float("nan"), float("nan"), 0)
    if count == 1:
        return Mean(float(numbers[0]), float("nan"), 1)
    from scipy.stats import t

    spread = float(numbers.std(ddof=1))
    return Mean(float(numbers.mean()), float(t.ppf(0.975, count - 1)) * spread / count**0.5, count)


def summarise(
    chosen: pd.DataFrame, suite: Suite, dataset: str, costs: str, metrics: Sequence[str], expected: int
) -> list[Row]:
    """The rows of a data set's table, in the suite's order of methods."""
    here = chosen[(chosen["dataset"] == dataset) & (chosen["costs"] == costs)]
    rows = []
    for method in suite.methods_on(dataset):
        mine = here[here["method"] == method]
        means = {
            name: mean_with_margin(mine[f"test.{name}"].tolist())
            for name in metrics
            if f"test.{name}" in mine and mine[f"test.{name}"].notna().any()
        }
        rule = str(mine["rule"].iloc[0]) if len(mine) else ""
        rows.append(Row(method, means, len(mine), expected, rule))
    return rows
