"""Layers and samples that compute every row independently."""

from __future__ import annotations

from math import exp

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["dense", "points", "samples"]


@njit(cache=True, nogil=True)
def dense(
    x: NDArray[np.float32], weights: NDArray[np.float32], bias: NDArray[np.float32], rectify: bool
) -> NDArray[np.float32]:
    """``x @ weights + bias``, and max(0, ·) of it if `rectify`.

    Each row is summed in the order of its inputs, so its bits depend neither on other rows nor on the processor.
    Zeros are skipped: most inputs of a row with few known units, and about half of the rectified units.

    Args:
        x: float32 (rows, inputs), C-contiguous.
        weights: float32 (inputs, outputs), C-contiguous.
        bias: float32 (outputs,).
        rectify: whether negative outputs become 0.

    Returns:
        float32 (rows, outputs).
    """
    rows, inputs = x.shape
    outputs = weights.shape[1]
    out = np.empty((rows, outputs), dtype=np.float32)
    for i in range(rows):
        for j in range(outputs):
            out[i, j] = bias[j]
        for k in range(inputs):
            value = x[i, k]
            if value != np.float32(0.0):
                for j in range(outputs):
                    out[i, j] += value * weights[k, j]
        if rectify:
            for j in range(outputs):
                if out[i, j] < np.float32(0.0):
                    out[i, j] = np.float32(0.0)
    return out


@njit(cache=True, nogil=True)
def points(
    values: NDArray[np.float32], known: NDArray[np.bool_], slope: NDArray[np.float32], shift: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Sum of max(0, value · slope + shift) over the known values: a point-net's code of a set.

    Args:
        values: float32 (rows, values).
        known: bool (rows, values).
        slope, shift: float32 (values, code).

    Returns:
        float32 (rows, code).
    """
    out = np.zeros((len(values), slope.shape[1]), dtype=np.float32)
    for i in range(len(values)):
        for v in range(values.shape[1]):
            if known[i, v]:
                for j in range(slope.shape[1]):
                    point = values[i, v] * slope[v, j] + shift[v, j]
                    if point > np.float32(0.0):
                        out[i, j] += point
    return out


@njit(cache=True, nogil=True)
def samples(latent: NDArray[np.float32], noise: NDArray[np.float32]) -> NDArray[np.float32]:
    """Samples from the normal distribution of each row, with the same noise for all rows.

    Args:
        latent: float32 (rows, 2 · dimensions): means, then logarithms of standard deviations.
        noise: float32 (samples, dimensions).

    Returns:
        float32 (rows · samples, dimensions).
    """
    count, dimensions = noise.shape
    out = np.empty((len(latent) * count, dimensions), dtype=np.float32)
    for i in range(len(latent)):
        for d in range(dimensions):
            deviation = np.float32(exp(latent[i, dimensions + d]))
            for s in range(count):
                out[i * count + s, d] = latent[i, d] + deviation * noise[s, d]
    return out
