"""Layers and samples that treat every row by itself."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["dense", "information", "points", "samples"]


@njit(cache=True, nogil=True)
def dense(
    x: NDArray[np.float32], weights: NDArray[np.float32], bias: NDArray[np.float32], rectify: bool
) -> NDArray[np.float32]:
    """``x @ weights + bias``, and max(0, ·) of it if `rectify`.

    Each row is summed in the order of its inputs, so its bits depend neither on other rows nor on the processor.
    Zeros are skipped: most inputs of a row that knows little, and half of the rectified units.

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
    """Samples of a normal distribution of each row, by the same noise for all rows.

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


@njit(cache=True, nogil=True)
def information(
    first: NDArray[np.float32],
    imputed: NDArray[np.float32],
    known: NDArray[np.bool_],
    unit_of_value: NDArray[np.int64],
    entry: NDArray[np.float32],
    middle: NDArray[np.float32],
    middle_bias: NDArray[np.float32],
    last: NDArray[np.float32],
    last_bias: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Information about the class in each unknown unit, by samples of its values: H(mean p) − mean H(p), in nats.

    Args:
        first: float32 (rows, hidden): the predictor's first layer for what is known, not yet rectified.
        imputed: float32 (rows, samples, values).
        known: bool (rows, units).
        unit_of_value: int64 (values,).
        entry: float32 (values + units, hidden): weights of the first layer.
        middle, middle_bias: of the second layer.
        last, last_bias: of the third; float32 (hidden, classes), (classes,).

    Returns:
        float64 (rows, units); 0 for known units.
    """
    rows, count, values = imputed.shape
    units, hidden, classes = known.shape[1], first.shape[1], len(last_bias)
    out = np.zeros((rows, units))
    one, two = np.empty(hidden, dtype=np.float32), np.empty(hidden, dtype=np.float32)
    logits, mean = np.empty(classes), np.empty(classes)
    for i in range(rows):
        for u in range(units):
            if known[i, u]:
                continue
            mean[:] = 0.0
            within = 0.0
            for s in range(count):
                for j in range(hidden):
                    one[j] = first[i, j] + entry[values + u, j]
                for v in range(values):
                    if unit_of_value[v] == u:
                        value = imputed[i, s, v]
                        for j in range(hidden):
                            one[j] += value * entry[v, j]
                for j in range(hidden):
                    two[j] = middle_bias[j]
                for k in range(hidden):
                    active = one[k]
                    if active > np.float32(0.0):
                        for j in range(hidden):
                            two[j] += active * middle[k, j]
                top = -1e300
                for c in range(classes):
                    total = np.float64(last_bias[c])
                    for k in range(hidden):
                        if two[k] > np.float32(0.0):
                            total += two[k] * last[k, c]
                    logits[c] = total
                    top = max(top, total)
                norm = 0.0
                for c in range(classes):
                    logits[c] = exp(logits[c] - top)
                    norm += logits[c]
                for c in range(classes):
                    p = logits[c] / norm
                    mean[c] += p / count
                    if p > 0.0:
                        within -= p * log(p) / count
            between = 0.0
            for c in range(classes):
                if mean[c] > 0.0:
                    between -= mean[c] * log(mean[c])
            out[i, u] = between - within
    return out
