"""Compiled probabilities of scores, and the lines of a design that a subset uses."""

from __future__ import annotations

from numba import njit

from bench_models.subsets.kernels_linalg import SUMS, exp_inplace


@njit(cache=True, nogil=True, fastmath=SUMS)
def normalise(proba, top, bits, scale):
    """Scores to probabilities in place: the sigmoid for one line, else the softmax over the lines."""
    classes, rows = proba.shape
    if classes == 1:
        for r in range(rows):
            proba[0, r] = -proba[0, r]
        exp_inplace(proba[0], bits, scale)
        for r in range(rows):
            proba[0, r] = 1.0 / (1.0 + proba[0, r])
        return
    for r in range(rows):
        top[r] = proba[0, r]
    for k in range(1, classes):
        for r in range(rows):
            top[r] = max(top[r], proba[k, r])
    for k in range(classes):
        for r in range(rows):
            proba[k, r] -= top[r]
        exp_inplace(proba[k], bits, scale)
    for r in range(rows):
        top[r] = proba[0, r]
    for k in range(1, classes):
        for r in range(rows):
            top[r] += proba[k, r]
    for r in range(rows):
        top[r] = 1.0 / top[r]
    for k in range(classes):
        for r in range(rows):
            proba[k, r] *= top[r]


@njit(cache=True, nogil=True)
def select_columns(chosen, cols):
    """Design lines of a subset, the intercept first, then padding that is safe to read; returns their number.

    chosen: bool (columns,), the columns of the subset.
    """
    size = 1
    cols[0] = 0
    for c in range(chosen.shape[0]):
        if chosen[c]:
            cols[size] = c + 1
            size += 1
    for i in range(size, size + 3):
        cols[i] = 0
    return size
