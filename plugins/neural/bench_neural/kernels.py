"""A dense layer that treats every row by itself."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["dense"]


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
