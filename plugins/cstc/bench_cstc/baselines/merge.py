"""Merging of equal rows, which speeds up fits without changing them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["merge_equal"]

Floats = NDArray[np.float64]


def merge_equal(Z: Floats, y: Floats, omega: Floats) -> tuple[Floats, Floats, Floats]:
    """Merge equal rows with equal labels into one row with their total weight; mean losses do not change.

    The skewed data set of CSTC §6.3 has every irrelevant row ten times.

    Returns:
        Rows, labels and weights.
    """
    table = np.ascontiguousarray(np.column_stack([Z, y]))
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1])))[:, 0]
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.asarray(np.bincount(which, omega, len(first)) * (len(first) / len(y)), dtype=np.float64)
    return np.ascontiguousarray(Z[first]), y[first], weights
