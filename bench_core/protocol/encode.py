"""Encoding: from a data set's raw columns to the matrix that methods get, fitted on the training part only.

This is not scikit-learn's `ColumnTransformer`, which groups columns by transformer: here columns are in the order of
the features. And records depend on the last bits of means and medians, which must not change with a library's version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import RequestError, did_you_mean

Encoding = Literal["ordinal", "onehot", "impute", "raw"]
ENCODINGS: tuple[str, ...] = get_args(Encoding)


@dataclass(frozen=True, eq=False)
class Encoder:
    """A fitted encoding.

    Attributes:
        feature_of_column: int64 (columns,): the feature of each encoded column, ascending.
        fill: float64 (features,): the value that replaces missing values (NaN leaves them missing).
        shift, scale: float64 (features,): numeric columns become ``(x - shift) / scale``.
        levels: feature → its training categories, for one-hot features.
    """

    feature_of_column: NDArray[np.int64]
    fill: NDArray[np.float64]
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    levels: dict[int, NDArray[np.float64]]

    def transform(self, values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Raw values (rows, features) as float64 (rows, columns), C-contiguous.

        A category unseen in training is all zeros under ``onehot``.
        """
        X = np.array(values, dtype=np.float64, order="C")
        missing = np.isnan(X)
        if missing.any():
            rows, columns = np.nonzero(missing)
            X[rows, columns] = self.fill[columns]
        X -= self.shift
        X /= self.scale
        if not self.levels:
            return X
        blocks = np.split(X, X.shape[1], axis=1)
        for feature, levels in self.levels.items():
            blocks[feature] = (blocks[feature] == levels).astype(np.float64)
        return np.ascontiguousarray(np.concatenate(blocks, axis=1))


def fit_encoder(dataset: Dataset, train: NDArray[np.int64], encoding: str) -> Encoder:
    """Learn an encoding from the training rows.

    Args:
        dataset: the data.
        train: row numbers of the training part.
        encoding: ``ordinal``: impute (median; most frequent value for categories), standardise numbers, keep the
            integers of categories. ``onehot``: the same, but a category becomes one column per level in the training
            part. ``impute``: impute only. ``raw``: nothing; missing values stay NaN.

    Raises:
        RequestError: no such encoding.
    """
    if encoding not in ENCODINGS:
        raise RequestError(f"encode = {encoding!r} is unknown; {did_you_mean(encoding, ENCODINGS)}")
    d = dataset.n_features
    fill, shift, scale = np.full(d, np.nan), np.zeros(d), np.ones(d)
    levels: dict[int, NDArray[np.float64]] = {}
    if encoding != "raw":
        part = np.asarray(dataset.values[train], dtype=np.float64)
        category = np.zeros(d, dtype=bool)
        category[list(dataset.categorical)] = True
        fill = _fills(part, category)
        if encoding in ("ordinal", "onehot"):
            part = np.where(np.isnan(part), fill, part)
            shift, scale = _moments(part)
            # A constant column must become exactly 0, but the mean of equal numbers can be off by rounding.
            constant = (part == part[0]).all(axis=0)
            shift[constant], scale[constant] = part[0, constant], 1.0
            scale[scale == 0] = 1.0  # the spread is too small for float64
            shift[category], scale[category] = 0.0, 1.0
        if encoding == "onehot":
            levels = {int(j): np.unique(part[:, j]) for j in np.flatnonzero(category)}
    widths = np.array([len(levels[j]) if j in levels else 1 for j in range(d)])
    return Encoder(np.repeat(np.arange(d), widths), fill, shift, scale, levels)


def _moments(part: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column, even if squares exceed the range of float64."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        mean, deviation = part.mean(axis=0), part.std(axis=0)
    extreme = np.flatnonzero(~np.isfinite(deviation) | (deviation == 0))
    if len(extreme):
        largest = np.abs(part[:, extreme]).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)
        within = part[:, extreme] / unit
        mean[extreme], deviation[extreme] = within.mean(axis=0) * unit, within.std(axis=0) * unit
    return mean, deviation


def _median(present: NDArray[np.float64]) -> float:
    """Median of a column. The mean of the two middle numbers is kept within their range."""
    last = len(present) - 1
    ordered = np.partition(present, sorted({0, last // 2, (last + 1) // 2, last}))
    with np.errstate(over="ignore"):
        middle = (ordered[last // 2] + ordered[(last + 1) // 2]) / 2
    return float(np.clip(middle, ordered[0], ordered[last]))


def _fills(part: NDArray[np.float64], category: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Median of each number column, most frequent value of each category (the least of ties); 0 without any value."""
    fill = np.zeros(part.shape[1])
    for j, column in enumerate(part.T):
        present = column[~np.isnan(column)]
        if len(present) and category[j]:
            values, counts = np.unique(present, return_counts=True)
            fill[j] = values[counts.argmax()]
        elif len(present):
            fill[j] = _median(present)
    return fill
