"""The descent at a branching node: alternates Lemma 1's auxiliary variables and conjugate gradient (CSTC §3.4.1)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bench_cstc.kernels_node import Majoriser, Node, majorise, majoriser_gradient, masses, node_value, sigmoid

__all__ = ["along", "node_descent"]

Floats = NDArray[np.float64]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def along(
    node: Node, s: Floats, theta: float, sd: Floats, thd: float, C: Floats, quad: Floats, g: Floats, alpha: float
) -> tuple[float, float]:
    """Value and derivative of the majoriser at step ``alpha`` along a direction.

    Args:
        node: see `Node`.
        s, theta: scores and threshold at step 0.
        sd, thd: their change per step.
        C: float64 (q, 3): price of each mass as a polynomial of the step.
        quad: float64 (q,): price of each squared mass.
        g: float64 (3,): all other terms, as a polynomial of the step.
        alpha: the step.
    """
    n, q = len(s), len(quad)
    f = fp = 0.0
    mass, slope = np.zeros(q), np.zeros(q)
    for i in range(n):
        score = s[i] + alpha * sd[i]
        up = sigmoid(node.steep * (score - theta - alpha * thd))
        turn = up * (1.0 - up) * node.steep * (sd[i] - thd)
        miss = score - node.y[i]
        a = node.own[0] + node.own[1] * up + node.own[2] * (1.0 - up)
        wp = node.w[i] * node.p[i] / n
        f += wp * (a * miss * miss + up * node.A[i] + (1.0 - up) * node.B[i])
        by_up = (node.own[1] - node.own[2]) * miss * miss + node.A[i] - node.B[i]
        fp += wp * (2.0 * a * miss * sd[i] + turn * by_up)
        for j in range(q):
            mass[j] += node.p[i] / n * (up * node.U[i, j] + (1.0 - up) * node.L[i, j])
            slope[j] += node.p[i] / n * turn * (node.U[i, j] - node.L[i, j])
    for j in range(q):
        m, d = mass[j], slope[j]
        price = C[j, 0] + alpha * (C[j, 1] + alpha * C[j, 2])
        f += m * price + quad[j] * m * m
        fp += d * price + m * (C[j, 1] + 2.0 * alpha * C[j, 2]) + 2.0 * quad[j] * m * d
    f += g[0] + alpha * (g[1] + alpha * g[2])
    fp += g[1] + 2.0 * alpha * g[2]
    return f, fp


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def polynomials(major: Majoriser, beta: Floats, direction: Floats) -> tuple[Floats, Floats]:
    """``C`` and ``g`` of `along`: the majoriser's penalties along a direction of β."""
    q, m = major.Gamma.shape
    C, g = np.zeros((q, 3)), np.zeros(3)
    g[0] = major.constant
    for j in range(q):
        C[j, 0] = major.base[j]
    for t in range(m):
        b, d = beta[t], direction[t]
        g[0] += 0.5 * major.held[t] * b * b
        g[1] += major.held[t] * b * d
        g[2] += 0.5 * major.held[t] * d * d
        for j in range(q):
            C[j, 0] += 0.5 * major.Gamma[j, t] * b * b
            C[j, 1] += major.Gamma[j, t] * b * d
            C[j, 2] += 0.5 * major.Gamma[j, t] * d * d
    return C, g


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _search(
    node: Node, s: Floats, theta: float, sd: Floats, thd: float, C: Floats, quad: Floats, g: Floats, start: float
) -> tuple[float, float, float]:
    """Line search by bracketing and secants: a step near the minimum, with the values before and after it.

    The step is 0 if none lowers the value.
    """
    f0, fp0 = along(node, s, theta, sd, thd, C, quad, g, 0.0)
    low, fp_low, high, fp_high = 0.0, fp0, -1.0, 0.0
    best, f_best = 0.0, f0
    alpha = start
    for _ in range(20):
        f, fp = along(node, s, theta, sd, thd, C, quad, g, alpha)
        if f < f_best:
            best, f_best = alpha, f
        if f <= f0 + 1e-4 * alpha * fp0 and abs(fp) <= 0.2 * abs(fp0):
            break
        if f > f0 + 1e-4 * alpha * fp0 or fp > 0.0:
            high, fp_high = alpha, fp
        else:
            low, fp_low = alpha, fp
        if high < 0.0:
            alpha = 3.0 * alpha
            continue
        width = high - low
        step = 0.5 * width
        if fp_high > 0.0 and fp_low < 0.0:
            step = width * fp_low / (fp_low - fp_high)
        alpha = low + min(max(step, 0.1 * width), 0.9 * width)
    return best, f0, f_best


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _conjugate(
    node: Node,
    major: Majoriser,
    X: Floats,
    s: Floats,
    beta: Floats,
    bias: float,
    theta: float,
    inverse: Floats,
    steps: int,
    tol: float,
) -> tuple[Floats, float, float]:
    """Preconditioned conjugate gradient (Polak–Ribière) on β, the intercept and θ, with fixed auxiliary variables.

    Args:
        inverse: float64 (m + 2,): the preconditioner's diagonal, for β, intercept, θ; 0 fixes a parameter.
    """
    m = len(beta)
    x = np.empty(m + 2)
    x[:m], x[m], x[m + 1] = beta, bias, theta
    direction, previous, gradient = np.zeros(m + 2), np.zeros(m + 2), np.zeros(m + 2)
    before, alpha = 0.0, 1.0
    for step in range(steps):
        gradient[:m], gradient[m], gradient[m + 1] = majoriser_gradient(node, major, X, s, x[m + 1], x[:m])
        size = np.sum(inverse * gradient * gradient)
        if size <= 1e-300:
            break
        turn = 0.0
        if step > 0 and before > 0.0:
            turn = max(0.0, np.sum(inverse * gradient * (gradient - previous)) / before)
        direction = turn * direction - inverse * gradient
        if np.dot(direction, gradient) >= 0.0:
            direction = -inverse * gradient
        previous, before = gradient.copy(), size
        sd = np.dot(X, direction[:m]) + direction[m]
        C, g = polynomials(major, x[:m], direction[:m])
        start = min(max(alpha, 1e-3), 1e3)
        alpha, f0, f1 = _search(node, s, x[m + 1], sd, direction[m + 1], C, major.quad, g, start)
        if alpha == 0.0:
            break
        x = x + alpha * direction
        s = s + alpha * sd
        if f0 - f1 <= 0.1 * tol * abs(f0):
            break
    return x[:m].copy(), x[m], x[m + 1]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def node_descent(
    node: Node,
    X: Floats,
    beta: Floats,
    bias: float,
    theta: float,
    free_bias: bool,
    tiny: Floats,
    turns: int,
    steps: int,
    tol: float,
) -> tuple[Floats, float, float, float]:
    """Alternate closed-form auxiliary variables and conjugate gradient until convergence. The value never rises.

    A weight below ``tiny`` becomes 0, unless this raises the value by more than the iteration lowered it; a zero stays
    0.

    Args:
        node: see `Node`.
        X: float64 (n, m): the columns with weight.
        beta, bias, theta: the start.
        free_bias: whether the intercept may change.
        tiny: float64 (m,).
        turns, steps: maximum number of alternations, and of conjugate-gradient steps in each.
        tol: an alternation that lowers the value by less than this share is the last.

    Returns:
        β, intercept, θ, and the value there.
    """
    n, m = X.shape
    s = np.dot(X, beta) + bias
    value = node_value(node, s, theta, beta)
    curve, total = np.zeros(m), 0.0
    for i in range(n):
        weight = 2.0 * node.w[i] * node.p[i] / n
        total += weight
        for t in range(m):
            curve[t] += weight * X[i, t] * X[i, t]
    for _ in range(turns):
        mass = masses(node, s, theta)
        major = majorise(node, mass, beta)
        inverse = np.zeros(m + 2)
        for t in range(m):
            if beta[t] != 0.0:
                diagonal = curve[t] + major.held[t] + 1e-12
                for j in range(len(mass)):
                    diagonal += mass[j] * major.Gamma[j, t]
                inverse[t] = 1.0 / diagonal
        inverse[m] = 1.0 / (total + 1e-12) if free_bias else 0.0
        inverse[m + 1] = 1.0 / (total + 1e-12)
        new, new_bias, new_theta = _conjugate(node, major, X, s, beta, bias, theta, inverse, steps, tol)
        new_s = np.dot(X, new) + new_bias
        reached = node_value(node, new_s, new_theta, new)
        clamped = np.where(np.abs(new) < tiny, 0.0, new)
        clamped_s = np.dot(X, clamped) + new_bias
        after = node_value(node, clamped_s, new_theta, clamped)
        if after <= value or after <= reached:
            new, new_s, reached = clamped, clamped_s, after
        if not reached < value:
            break
        gain = value - reached
        beta, bias, theta, s, value = new, new_bias, new_theta, new_s, reached
        if gain <= tol * abs(value):
            break
    return beta, bias, theta, value
