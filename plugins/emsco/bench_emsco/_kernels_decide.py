"""Compiled decisions of subset models: which rows are confident, and which of those are right (EMSCO, section 2)."""

from __future__ import annotations

import numpy as np
from numba import njit

from ._kernels_linalg import SUMS, exp_inplace, linear_scores


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


@njit(cache=True, nogil=True)
def decide_range(design, rows, first, labels, chosen, coefficients, thresholds, start, stop, to, confident, right):
    """Set the bits of subsets start..stop on evaluation rows, in `confident` and `right` from index start + `to` on.

    The bit of row r of the design is first + r. A row is confident if its best probability is >= the threshold, and
    right if, in addition, the first most probable label is correct. Bits that are set stay set. chosen: bool (subsets,
    columns); confident, right: uint64 (thresholds, capacity, words).
    """
    lines, padded = design.shape
    classes = coefficients.shape[1]
    cols = np.zeros(lines + 4, np.int64)
    weights = np.zeros(lines)
    proba = np.zeros((classes, padded))
    top = np.zeros(padded)
    bits = np.zeros(padded, np.int64)
    scale = bits.view(np.float64)
    for m in range(start, stop):
        size = select_columns(chosen[m], cols)
        for k in range(classes):
            for i in range(size):
                weights[i] = coefficients[m, k, cols[i]]
            linear_scores(design, cols, size, weights, proba[k])
        normalise(proba, top, bits, scale)
        for r in range(rows):
            best = 1.0 - proba[0, r] if classes == 1 else proba[0, r]
            label = 0
            if classes == 1:
                if proba[0, r] > best:
                    best = proba[0, r]
                    label = 1
            else:
                for k in range(1, classes):
                    if proba[k, r] > best:
                        best = proba[k, r]
                        label = k
            word = (first + r) >> 6
            bit = np.uint64(1) << np.uint64((first + r) & 63)
            is_right = label == labels[r]
            for t in range(thresholds.shape[0]):
                if best >= thresholds[t]:
                    confident[t, to + m, word] |= bit
                    if is_right:
                        right[t, to + m, word] |= bit
