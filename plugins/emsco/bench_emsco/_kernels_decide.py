"""Compiled decisions of subset models: which rows are confident, and which of those are right (EMSCO, section 2)."""

from __future__ import annotations

import numpy as np
from bench_models.subsets.kernels_linalg import linear_scores
from bench_models.subsets.kernels_scores import normalise, select_columns
from numba import njit


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
