"""Series of a fit's history, averaged over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_analysis.summary import mean_with_margin, overlap

__all__ = ["Series", "mean_series"]


@dataclass(frozen=True, eq=False)
class Series:
    """A series' mean over seeds.

    Attributes:
        at: int64 (places,): iteration or generation, from 0.
        mean: float64 (places,).
        margin: float64 (places,): half the width of the 95 % band; NaN where there is none.
        seeds: how many series it is the mean of.
        reference: mean of a diagnostic to compare with, or None.
        own_margins: whether the band is made of the margins that the fits reported.
    """

    at: NDArray[np.int64]
    mean: NDArray[np.float64]
    margin: NDArray[np.float64]
    seeds: int
    reference: float | None
    own_margins: bool


def mean_series(
    infos: Sequence[Mapping[str, Any]],
    name: str,
    reference: str = "",
    most: int = 160,
    drawn_from: int | str | None = None,
) -> Series | None:
    """The mean of a series of the history over seeds; None when no record has it.

    A series that stops early counts with its last value from there on. When every record also has
    ``<name>_margin`` (the series is itself a mean, over the runs of one seed), the band is that of the mean of the
    seeds' means, with the seeds fixed: √(Σ margin²) / seeds. Otherwise it is the 95 % interval over
    seeds, corrected for overlapping splits.

    Args:
        infos: the records' infos of one method on one data set.
        name: the series.
        reference: name of a diagnostic that is drawn beside it (the size of the front).
        most: how many places are kept, evenly spaced, from the first to the last.
        drawn_from: what the splits are drawn from; see `bench_analysis.summary.overlap`.
    """
    infos = [info for info in infos if _numbers(info["history"].get(name))]
    if not infos:
        return None
    series = [info["history"][name] for info in infos]
    length = max(len(numbers) for numbers in series)
    at = np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(np.int64))
    values = _table(series, at)
    margins = [info["history"].get(f"{name}_margin") for info in infos]
    own = all(map(_numbers, margins))
    count = len(infos)
    if own:
        margin = np.sqrt(np.square(_table(margins, at)).sum(axis=0)) / count
    elif count > 1:
        shared = overlap(infos[0], drawn_from)
        margin = np.array([mean_with_margin(column, shared).margin for column in values.T])
    else:
        margin = np.full(len(at), np.nan)
    beside = [info["diagnostics"].get(reference) for info in infos]
    known = [float(value) for value in beside if isinstance(value, int | float)]
    level = math.fsum(known) / len(known) if reference and known else None
    return Series(at, values.mean(axis=0), margin, count, level, own)


def _numbers(values: object) -> bool:
    """Whether it is a series: a list of numbers, not empty."""
    return isinstance(values, list) and bool(values) and all(isinstance(value, int | float) for value in values)


def _table(series: Sequence[Any], at: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.stack([np.asarray(numbers, dtype=np.float64)[np.minimum(at, len(numbers) - 1)] for numbers in series])
