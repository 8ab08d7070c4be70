"""Small dense linear algebra of the compiled subset regressions.

Everything here works on a *design*: a C-contiguous float64 array of shape (1 + columns, padded rows) whose row 0 is the
intercept (ones) and whose other rows are the columns of X. Rows of X are therefore the inner, contiguous axis, which is
what lets the loops vectorise. Padding rows are zero in every line, the intercept's included, so they add nothing to a
dot product. Functions are called from the kernels only; none checks its arguments.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_SHIFT = 6755399441055744.0  # 1.5 * 2**52: adding and subtracting it rounds a small double to an integer
_INV_LN2 = 1.4426950408889634
_LN2_HIGH = 0.6931471803691238
_LN2_LOW = 1.9082149292705877e-10
_TINY_PIVOT = 1e-14

# Sums may be reordered (vectorisation needs this); infinities and NaNs keep their meaning.
SUMS = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath={"contract"})
def exp_inplace(values, bits, scale):
    """values[i] = exp(values[i]), to about an ulp. `bits` is int64 scratch (size,), `scale` its float64 view."""
    size = values.shape[0]
    for i in range(size):
        v = values[i]
        v = max(v, -708.0)
        v = min(v, 708.0)
        k = (v * _INV_LN2 + _SHIFT) - _SHIFT
        r = (v - k * _LN2_HIGH) - k * _LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        bits[i] = (np.int64(k) + 1023) << 52
        values[i] = p
    for i in range(size):
        values[i] = values[i] * scale[i]


@njit(cache=True, nogil=True, fastmath=SUMS)
def dot(x, y, size):
    s = 0.0
    for i in range(size):
        s += x[i] * y[i]
    return s


@njit(cache=True, nogil=True, fastmath=SUMS)
def add_multiple(factor, x, y, size):
    """y += factor * x, on the first `size` entries."""
    for i in range(size):
        y[i] += factor * x[i]


@njit(cache=True, nogil=True, fastmath=SUMS)
def linear_scores(design, cols, size, weights, out):
    """out = sum over j < size of weights[j] * design[cols[j]]; four lines per pass."""
    rows = design.shape[1]
    for r in range(rows):
        out[r] = 0.0
    j = 0
    while j + 4 <= size:
        c0, c1, c2, c3 = cols[j], cols[j + 1], cols[j + 2], cols[j + 3]
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for r in range(rows):
            out[r] += w0 * design[c0, r] + w1 * design[c1, r] + w2 * design[c2, r] + w3 * design[c3, r]
        j += 4
    while j < size:
        c0 = cols[j]
        w0 = weights[j]
        for r in range(rows):
            out[r] += w0 * design[c0, r]
        j += 1


@njit(cache=True, nogil=True, fastmath=SUMS)
def transposed_product(design, cols, size, values, out):
    """out[j] = design[cols[j]] . values for j < size; four lines per pass. `cols` holds >= size + 3 valid entries."""
    rows = design.shape[1]
    j = 0
    while j < size:
        c0, c1, c2, c3 = cols[j], cols[j + 1], cols[j + 2], cols[j + 3]
        s0 = s1 = s2 = s3 = 0.0
        for r in range(rows):
            v = values[r]
            s0 += v * design[c0, r]
            s1 += v * design[c1, r]
            s2 += v * design[c2, r]
            s3 += v * design[c3, r]
        out[j] = s0
        if j + 1 < size:
            out[j + 1] = s1
        if j + 2 < size:
            out[j + 2] = s2
        if j + 3 < size:
            out[j + 3] = s3
        j += 4


@njit(cache=True, nogil=True, fastmath=SUMS)
def weighted_gram(design, cols, size, weights, scratch, out, row0, col0):
    """out[row0 + i, col0 + j] = sum_r weights[r] design[cols[i], r] design[cols[j], r] for all i, j < size.

    Two weighted lines times four lines at a time; the upper triangle mirrors the lower. `cols` holds at least size + 3
    valid entries, `scratch` is (2, padded rows).
    """
    rows = design.shape[1]
    i = 0
    while i < size:
        a0 = cols[i]
        a1 = cols[i + 1]
        for r in range(rows):
            scratch[0, r] = weights[r] * design[a0, r]
            scratch[1, r] = weights[r] * design[a1, r]
        last = min(i + 1, size - 1)
        j = 0
        while j <= last:
            c0, c1, c2, c3 = cols[j], cols[j + 1], cols[j + 2], cols[j + 3]
            s0 = s1 = s2 = s3 = 0.0
            u0 = u1 = u2 = u3 = 0.0
            for r in range(rows):
                t0 = scratch[0, r]
                t1 = scratch[1, r]
                x0 = design[c0, r]
                x1 = design[c1, r]
                x2 = design[c2, r]
                x3 = design[c3, r]
                s0 += t0 * x0
                s1 += t0 * x1
                s2 += t0 * x2
                s3 += t0 * x3
                u0 += t1 * x0
                u1 += t1 * x1
                u2 += t1 * x2
                u3 += t1 * x3
            for q in range(4):
                jq = j + q
                s = s0 if q == 0 else (s1 if q == 1 else (s2 if q == 2 else s3))
                u = u0 if q == 0 else (u1 if q == 1 else (u2 if q == 2 else u3))
                if jq <= i:
                    out[row0 + i, col0 + jq] = s
                    out[row0 + jq, col0 + i] = s
                if i + 1 < size and jq <= i + 1:
                    out[row0 + i + 1, col0 + jq] = u
                    out[row0 + jq, col0 + i + 1] = u
            j += 4
        i += 2


@njit(cache=True, nogil=True, fastmath=SUMS)
def cholesky_inplace(a, size):
    """Lower Cholesky factor of the leading size x size block, in place; the diagonal is stored inverted.

    Two rows times four columns at a time, so that entries are read less often. A pivot below 1e-14 of the largest
    diagonal entry is raised to it: the factor stays positive definite, so a step computed from it is a descent
    direction even where rounding has made the Hessian singular.
    """
    largest = 0.0
    for i in range(size):
        largest = max(largest, a[i, i])
    floor = max(largest * _TINY_PIVOT, 1e-300)
    for first in range(0, size, 4):
        last = min(first + 4, size)
        if last == first + 4:
            for i in range(first, size, 2):
                other = min(i + 1, size - 1)
                s0 = s1 = s2 = s3 = u0 = u1 = u2 = u3 = 0.0
                for k in range(first):
                    v, w = a[i, k], a[other, k]
                    x0, x1, x2, x3 = a[first, k], a[first + 1, k], a[first + 2, k], a[first + 3, k]
                    s0 += v * x0
                    s1 += v * x1
                    s2 += v * x2
                    s3 += v * x3
                    u0 += w * x0
                    u1 += w * x1
                    u2 += w * x2
                    u3 += w * x3
                a[i, first] -= s0
                a[i, first + 1] -= s1
                a[i, first + 2] -= s2
                a[i, first + 3] -= s3
                if other > i:
                    a[other, first] -= u0
                    a[other, first + 1] -= u1
                    a[other, first + 2] -= u2
                    a[other, first + 3] -= u3
        else:
            for i in range(first, size):
                for j in range(first, last):
                    a[i, j] -= dot(a[i], a[j], first)
        for j in range(first, last):
            s = 0.0
            for k in range(first, j):
                s += a[j, k] * a[j, k]
            inverse = 1.0 / np.sqrt(max(a[j, j] - s, floor))
            a[j, j] = inverse
            for i in range(j + 1, size):
                s = 0.0
                for k in range(first, j):
                    s += a[i, k] * a[j, k]
                a[i, j] = (a[i, j] - s) * inverse


@njit(cache=True, nogil=True, fastmath=SUMS)
def cholesky_solve(a, size, rhs, out):
    """out = (L L')^-1 rhs with the factor left by `cholesky_inplace`; four rows at a time."""
    whole = size // 4 * 4
    for first in range(0, whole, 4):
        s0 = s1 = s2 = s3 = 0.0
        for k in range(first):
            v = out[k]
            s0 += a[first, k] * v
            s1 += a[first + 1, k] * v
            s2 += a[first + 2, k] * v
            s3 += a[first + 3, k] * v
        for i in range(first, first + 4):
            s = s0 if i == first else (s1 if i == first + 1 else (s2 if i == first + 2 else s3))
            for k in range(first, i):
                s += a[i, k] * out[k]
            out[i] = (rhs[i] - s) * a[i, i]
    for i in range(whole, size):
        out[i] = (rhs[i] - dot(a[i], out, i)) * a[i, i]
    for i in range(size - 1, whole - 1, -1):
        out[i] *= a[i, i]
        add_multiple(-out[i], a[i], out, i)
    for first in range(whole - 4, -1, -4):
        for i in range(first + 3, first - 1, -1):
            out[i] *= a[i, i]
            for k in range(first, i):
                out[k] -= a[i, k] * out[i]
        v0, v1, v2, v3 = out[first], out[first + 1], out[first + 2], out[first + 3]
        for k in range(first):
            out[k] -= v0 * a[first, k] + v1 * a[first + 1, k] + v2 * a[first + 2, k] + v3 * a[first + 3, k]


@njit(cache=True, nogil=True)
def quasi_newton_step(factor, size, gradient, moves, bends, inverse, count, alpha, scratch, out):
    """out = the L-BFGS step from a Hessian's Cholesky factor and the moves since then (Nocedal & Wright, alg. 7.4).

    Row k modulo the memory of `moves` and `bends` (memory, >= size) holds the k-th move and the change of the gradient
    along it, `inverse` one over their dot product, for k < count.
    """
    oldest = max(count - len(inverse), 0)
    for i in range(size):
        scratch[i] = gradient[i]
    for k in range(count - 1, oldest - 1, -1):
        m = k % len(inverse)
        alpha[m] = inverse[m] * dot(moves[m], scratch, size)
        add_multiple(-alpha[m], bends[m], scratch, size)
    cholesky_solve(factor, size, scratch, out)
    for k in range(oldest, count):
        m = k % len(inverse)
        add_multiple(alpha[m] - inverse[m] * dot(bends[m], out, size), moves[m], out, size)
