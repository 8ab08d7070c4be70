"""Binning of columns: by quantiles of the training part, or one bin per distinct value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bench_greedymiser.packed import Packed, pack

__all__ = ["MOST_BINS", "Bins", "fit_bins"]

MOST_BINS = 255
"""Most bins of a column; one further code stands for missing values, and a code must fit in a byte."""


@dataclass(frozen=True, eq=False)
class Bins:
    """A binned training matrix.

    Attributes:
        codes: uint8 (columns, rows): bin of each value; ``n_values[column]`` for a missing value.
        n_values: int64 (columns,): number of bins of each column.
        thresholds: float64 (columns, 255): a row goes left of cut ``b`` if its value ≤ ``thresholds[column, b]``.
            The last bin's entry is +inf: a cut there separates missing values from all others.
    """

    codes: NDArray[np.uint8]
    n_values: NDArray[np.int64]
    thresholds: NDArray[np.float64]

    @cached_property
    def packed(self) -> Packed:
        """The rows in the form that the compiled grower reads; computed once for all trees."""
        return pack(self.codes, self.n_values)


def fit_bins(X: NDArray[np.float64], bins: int = MOST_BINS) -> Bins:
    """Bin every column.

    Args:
        X: float64 (rows, columns); NaN is a missing value.
        bins: most bins of a column, 2..255. A column with at most this many distinct values has one bin per value, so
            that its cuts are exact. Otherwise cuts are at quantiles.
    """
    rows, columns = X.shape
    codes = np.zeros((columns, rows), dtype=np.uint8)
    n_values = np.zeros(columns, dtype=np.int64)
    thresholds = np.full((columns, MOST_BINS), np.inf)
    for column in range(columns):
        values = np.ascontiguousarray(X[:, column])
        missing = np.isnan(values)
        cuts = _cuts(values[~missing], bins)
        thresholds[column, : len(cuts)] = cuts
        n_values[column] = len(cuts) + 1
        # side "left" counts the cuts below a value: a value equal to a cut stays on its left.
        code = np.searchsorted(cuts, values, side="left")
        code[missing] = len(cuts) + 1
        codes[column] = code
    return Bins(codes, n_values, thresholds)


def _cuts(present: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Cuts in ascending order, each half-way between two neighbouring distinct values."""
    distinct, counts = np.unique(present, return_counts=True)
    if len(distinct) < 2:
        return np.zeros(0)
    if len(distinct) <= bins:
        last = np.arange(len(distinct) - 1)
    else:
        wanted = np.arange(1, bins) * (len(present) / bins)
        last = np.unique(np.searchsorted(np.cumsum(counts), wanted, side="left"))
        last = last[last < len(distinct) - 1]
    below, above = distinct[last], distinct[last + 1]
    middle = below / 2 + above / 2
    # Half-way between two neighbouring floats can round up to the greater one.
    return np.where((middle >= above) | (middle < below), below, middle)
