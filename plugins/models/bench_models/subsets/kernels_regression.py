"""Compiled l2 logistic regressions on many feature subsets of one design.

One driver serves both losses. With `basis` of shape (1, 1) the model is the binary one: one score z per row and
p = 1 / (1 + exp(-z)). With K >= 3 classes, `basis` is a (K, K - 1) matrix whose orthonormal columns span the vectors
that sum to zero; the class scores are basis @ coordinates. The optimum of the K-vector problem lies in that span (the
penalty pulls the mean of the class vectors to zero), and there 0.5 * ||W||^2 equals 0.5 * ||coordinates||^2. So the
result is the same, with a smaller Hessian.

The solver is Newton's method with few Hessians. A Hessian's Cholesky factor is reused, corrected by the last moves
(L-BFGS), until a new Hessian would take less time than the steps left at the present rate. The start is the minimiser,
over the subset's coefficients, of one quadratic expansion of the loss on all features; its factor is the first one
used. Neither the order of requests nor the number of threads changes the result for a subset.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bench_models.subsets.kernels_linalg import (
    SUMS,
    add_multiple,
    cholesky_inplace,
    cholesky_solve,
    dot,
    linear_scores,
    quasi_newton_step,
    transposed_product,
    weighted_gram,
)
from bench_models.subsets.kernels_scores import normalise, select_columns

Floats = NDArray[np.float64]

_MEMORY = 6  # moves that correct a factor; 1 is up to a third slower with many coefficients, 16 is no faster
_PATIENCE = 2.0  # the rate improves with every step, so it overstates the steps left; 1 to 4 are about as fast
TOLERANCE = 1e-20  # expected squared Newton decrement after the last step; scores are accurate to ~1e-10
_TRUSTING = 25  # number of steps after which every step must lower the loss
_FLOOR = 1e-15  # a smaller decrement that does not fall with a new Hessian is a rounding error


@njit(cache=True, nogil=True, fastmath=SUMS)
def _probabilities(design, cols, size, theta, basis, coordinate, proba, bits, scale):
    classes, axes = basis.shape
    rows = design.shape[1]
    if classes == 1:
        linear_scores(design, cols, size, theta[:size], proba[0])
    else:
        for a in range(axes):
            linear_scores(design, cols, size, theta[a * size : (a + 1) * size], coordinate[a])
        for k in range(classes):
            u = basis[k, 0]
            for r in range(rows):
                proba[k, r] = u * coordinate[0, r]
            for a in range(1, axes):
                u = basis[k, a]
                for r in range(rows):
                    proba[k, r] += u * coordinate[a, r]
    normalise(proba, coordinate[axes], bits, scale)


@njit(cache=True, nogil=True, fastmath=SUMS)
def loss_gradient(design, cols, size, theta, basis, proba, target, ridge, line, out):
    classes, axes = basis.shape
    rows = design.shape[1]
    for a in range(axes):
        u = basis[0, a]
        for r in range(rows):
            line[r] = u * (proba[0, r] - target[0, r])
        for k in range(1, classes):
            u = basis[k, a]
            for r in range(rows):
                line[r] += u * (proba[k, r] - target[k, r])
        transposed_product(design, cols, size, line, out[a * size : (a + 1) * size])
        for j in range(1, size):
            out[a * size + j] += ridge * theta[a * size + j]


@njit(cache=True, nogil=True, fastmath=SUMS)
def loss_hessian(design, cols, size, basis, proba, ridge, line, scratch, out):
    """Blocks (a, b <= a) of the Hessian, each a Gram matrix weighted by the class covariance of every row."""
    classes, axes = basis.shape
    rows = design.shape[1]
    for a in range(axes):
        for b in range(a + 1):
            for r in range(rows):
                line[r] = 0.0
                scratch[0, r] = 0.0
                scratch[1, r] = 0.0
            for k in range(classes):
                u = basis[k, a]
                v = basis[k, b]
                uv = u * v
                for r in range(rows):
                    p = proba[k, r]
                    scratch[0, r] += u * p
                    scratch[1, r] += v * p
                    line[r] += uv * p
            for r in range(rows):
                line[r] -= scratch[0, r] * scratch[1, r]
            weighted_gram(design, cols, size, line, scratch, out, a * size, b * size)
        for j in range(1, size):
            out[a * size + j, a * size + j] += ridge


@njit(cache=True, nogil=True)
def _loss(proba, target, rows, theta, size, axes, ridge):
    total = 0.0
    classes = proba.shape[0]
    for k in range(classes):
        for r in range(rows):
            hit = target[k, r] > 0.0
            if hit or classes == 1:
                total -= np.log(max(proba[k, r] if hit else 1.0 - proba[k, r], 1e-300))
    for a in range(axes):
        for j in range(1, size):
            total += 0.5 * ridge * theta[a * size + j] ** 2
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def _quadratic_start(pull, anchor_hessian, lines, cols, size, axes, rhs, hessian, theta):
    """Minimise the quadratic model over the subset's coefficients, theta = H_SS^-1 pull_S; keeps its factor."""
    dim = axes * size
    for a in range(axes):
        for i in range(size):
            row = a * lines + cols[i]
            rhs[a * size + i] = pull[row]
            for b in range(a + 1):
                for j in range(size):
                    hessian[a * size + i, b * size + j] = anchor_hessian[row, b * lines + cols[j]]
    cholesky_inplace(hessian, dim)
    cholesky_solve(hessian, dim, rhs, theta)


@njit(cache=True, nogil=True)
def _steps_for_a_hessian(rows, size, axes):
    """How many steps with a given factor take as long as a Hessian and its factor, by multiplications."""
    dim = axes * size
    hessian = rows * axes * (axes + 1) * size * size / 4.0 + dim**3 / 6.0
    return hessian / (2.0 * rows * dim + dim * dim + 40.0 * rows * axes)


@njit(cache=True, nogil=True)
def fit_range(design, rows, target, basis, chosen, ridge, pull, anchor_hessian, max_steps, start, stop, out, steps):
    """Fit subsets chosen[start:stop]; chosen is bool (subsets, columns): the columns of each.

    out: (subsets, classes, lines), intercept first, zeros outside the subset; steps: int64, negative where the
    solver did not converge. `pull` and `anchor_hessian` come from `quadratic_model`; if empty, the start is zero.
    """
    classes, axes = basis.shape
    lines, padded = design.shape
    width = axes * lines
    cols = np.zeros(lines + 4, np.int64)
    theta = np.zeros(width)
    trial = np.zeros(width)
    step = np.zeros(width)
    gradient = np.zeros(width)
    new_gradient = np.zeros(width)
    hessian = np.zeros((width, width))
    coordinate = np.zeros((axes + 1, padded))
    proba = np.zeros((classes, padded))
    bits = np.zeros(padded, np.int64)
    scale = bits.view(np.float64)
    line = np.zeros(padded)
    scratch = np.zeros((2, padded))
    moves = np.zeros((_MEMORY, width))
    bends = np.zeros((_MEMORY, width))
    inverse = np.zeros(_MEMORY)
    alpha = np.zeros(_MEMORY)
    for m in range(start, stop):
        size = select_columns(chosen[m], cols)
        dim = axes * size
        have = pull.shape[0] > 0
        if have:
            _quadratic_start(pull, anchor_hessian, lines, cols, size, axes, gradient, hessian, theta)
        else:
            theta[:dim] = 0.0
        _probabilities(design, cols, size, theta, basis, coordinate, proba, bits, scale)
        loss_gradient(design, cols, size, theta, basis, proba, target, ridge, line, gradient)
        longest = 3.0 + _PATIENCE * _steps_for_a_hessian(rows, size, axes)
        previous, done, taken, since = np.inf, False, 0, 1
        while taken < max_steps:
            taken += 1
            fresh = False
            decrement = np.inf
            if have:
                quasi_newton_step(hessian, dim, gradient, moves, bends, inverse, taken - since, alpha, trial, step)
                decrement = dot(gradient, step, dim)
            slow = decrement > TOLERANCE and np.log(TOLERANCE / decrement) < longest * np.log(decrement / previous)
            if not have or slow:
                loss_hessian(design, cols, size, basis, proba, ridge, line, scratch, hessian)
                cholesky_inplace(hessian, dim)
                cholesky_solve(hessian, dim, gradient, step)
                decrement = dot(gradient, step, dim)
                have = fresh = True
                since = taken
            # Estimate after one more step: a reused factor contracts as in the last step, a new one quadratically.
            left = decrement
            if fresh:
                left *= 16.0 * decrement
            elif previous < np.inf:
                left *= min(1.0, decrement / previous)
            if left <= TOLERANCE or (fresh and decrement <= _FLOOR and decrement > 0.25 * previous):
                add_multiple(-1.0, step, theta, dim)
                done = True
                break
            previous = decrement
            # Accept the step if the loss, convex along it, still falls at the new point, or (in the first _TRUSTING
            # steps) its slope has at least halved, or else the loss itself is low enough; otherwise halve the step.
            t, before, moved = 1.0, np.inf, False
            for _ in range(40):
                for i in range(dim):
                    trial[i] = theta[i] - t * step[i]
                _probabilities(design, cols, size, trial, basis, coordinate, proba, bits, scale)
                loss_gradient(design, cols, size, trial, basis, proba, target, ridge, line, new_gradient)
                along = dot(new_gradient, step, dim)
                if along >= 0.0 or (taken <= _TRUSTING and along >= -0.5 * decrement):
                    moved = True
                    break
                after = _loss(proba, target, rows, trial, size, axes, ridge)
                if before == np.inf:
                    _probabilities(design, cols, size, theta, basis, coordinate, proba, bits, scale)
                    before = _loss(proba, target, rows, theta, size, axes, ridge)
                if after <= before - 1e-4 * t * decrement:
                    _probabilities(design, cols, size, trial, basis, coordinate, proba, bits, scale)
                    moved = True
                    break
                if not fresh:
                    break
                t *= 0.5
            if moved:
                last = (taken - since) % _MEMORY
                for i in range(dim):
                    moves[last, i] = trial[i] - theta[i]
                    bends[last, i] = new_gradient[i] - gradient[i]
                    theta[i] = trial[i]
                    gradient[i] = new_gradient[i]
                bend = dot(moves[last], bends[last], dim)
                inverse[last] = 1.0 / bend if bend > 0.0 else 0.0
            else:
                if fresh:
                    break
                _probabilities(design, cols, size, theta, basis, coordinate, proba, bits, scale)
                have = False
        steps[m] = taken if done else -taken
        out[m] = 0.0
        for k in range(classes):
            for i in range(size):
                s = 0.0
                for a in range(axes):
                    s += basis[k, a] * theta[a * size + i]
                out[m, k, cols[i]] = s


def quadratic_model(
    design: Floats, target: Floats, basis: Floats, theta: Floats, ridge: float
) -> tuple[Floats, Floats]:
    """(H theta - g, H) of the model on all lines at coordinates `theta` (axes * lines): its quadratic expansion.

    Restricted to a subset S (the other coefficients zero) the expansion has its minimum at H_SS^-1 (H theta - g)_S.
    It runs once per data set, so it is not compiled; the kernels that it calls are compiled for `fit_range` anyway.
    """
    classes, axes = basis.shape
    lines, padded = design.shape
    width = axes * lines
    cols = np.zeros(lines + 4, np.int64)
    cols[:lines] = np.arange(lines)
    coordinate = np.zeros((axes + 1, padded))
    proba = np.zeros((classes, padded))
    bits = np.zeros(padded, np.int64)
    line = np.zeros(padded)
    hessian = np.zeros((width, width))
    gradient = np.zeros(width)
    _probabilities(design, cols, lines, theta, basis, coordinate, proba, bits, bits.view(np.float64))
    loss_gradient(design, cols, lines, theta, basis, proba, target, ridge, line, gradient)
    loss_hessian(design, cols, lines, basis, proba, ridge, line, np.zeros((2, padded)), hessian)
    above = np.triu_indices(width, 1)
    hessian[above] = hessian.T[above]
    pull = np.array([dot(row, theta, width) for row in hessian]) - gradient
    return pull, hessian
