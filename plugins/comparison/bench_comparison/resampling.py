"""Means over data sets, with intervals that come from resampling the data sets; the same bits on every machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["RESAMPLES", "Interval", "finite", "intervals_by", "mean_of", "means_of", "resampled", "rounded", "words"]

Numbers = NDArray[np.float64]
K = TypeVar("K")

RESAMPLES = 2000
"""Bootstrap resamples of the data sets."""
_SEED = 0xB007


@dataclass(frozen=True)
class Interval:
    """A mean over data sets with its 95 % interval over resamples of them; NaN ends for a single data set.

    Attributes:
        value, low, high: the mean and the ends.
        datasets: how many it is over.
    """

    value: float
    low: float
    high: float
    datasets: int


def words(count: int, *key: int) -> NDArray[np.uint64]:
    """Random words of 53 bits, the same on every machine; uint64 (count,).

    Args:
        count: number of words.
        key: integers that seed the generator.
    """
    return np.asarray(np.random.PCG64(np.random.SeedSequence(key)).random_raw(count), dtype=np.uint64) >> np.uint64(11)


@cache
def _counts(datasets: int) -> Numbers:
    """How often each resample contains each data set, float64 (resamples, data sets); from random words."""
    drawn = words(datasets * RESAMPLES, _SEED, datasets).astype(np.int64).reshape(datasets, RESAMPLES) % datasets
    places = (np.arange(RESAMPLES) * datasets + drawn).reshape(-1)
    return np.bincount(places, minlength=datasets * RESAMPLES).reshape(RESAMPLES, datasets).astype(np.float64)


def resampled(values: Numbers) -> Numbers:
    """Means over resamples of the data sets, rounded to twelve digits: float64 (data sets, …) → (resamples, …)."""
    # The last bits of a matrix product differ between machines; the rounded means do not.
    return rounded(np.tensordot(_counts(len(values)), values, axes=1) / len(values))


def mean_of(values: Numbers) -> float:
    """Mean of the finite values, NaN where there is none."""
    known = values[np.isfinite(values)]
    return float(np.add.accumulate(known)[-1]) / len(known) if len(known) else float("nan")


def means_of(values: Numbers) -> Numbers:
    """Means of the finite values along axis 1: float64 (a, b, …) → (a, …). NaN where no value is finite."""
    known = np.isfinite(values)
    count, total = known.sum(axis=1), np.add.accumulate(np.where(known, values, 0.0), axis=1)[:, -1]
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def finite(values: Sequence[float]) -> list[float]:
    """The finite values, in order."""
    return [value for value in values if np.isfinite(value)]


def _intervals(table: Numbers) -> list[Interval]:
    """The interval of every column of float64 (data sets, columns)."""
    count = len(table)
    means = np.add.accumulate(table, axis=0)[-1] / count
    ends = np.full((2, table.shape[1]), np.nan)
    if count > 1:
        ends = np.percentile(np.ascontiguousarray(resampled(table).T), [2.5, 97.5], axis=1, overwrite_input=True)
    columns = zip(means.tolist(), *ends.tolist(), strict=True)
    return [Interval(mean, low, high, count) for mean, low, high in columns]


def intervals_by(values: Mapping[K, Sequence[float]]) -> dict[K, Interval]:
    """The interval of each key's numbers, one per data set; keys with equally many are resampled together."""
    by_count: dict[int, list[K]] = {}
    for key, numbers in values.items():
        by_count.setdefault(len(numbers), []).append(key)
    found: dict[K, Interval] = {}
    for count, keys in by_count.items():
        table = np.array([values[key] for key in keys], dtype=np.float64).reshape(len(keys), count).T
        none = Interval(float("nan"), float("nan"), float("nan"), 0)
        found |= zip(keys, _intervals(table) if count else [none] * len(keys), strict=True)
    return {key: found[key] for key in values}


def rounded(values: Numbers) -> Numbers:
    """Values to twelve digits, so that values that differ only by rounding errors are equal."""
    return np.asarray(np.round(values, 12))
