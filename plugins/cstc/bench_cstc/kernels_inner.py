"""The compiled kernel for a node that branches: conjugate gradient on the majoriser of Lemma 1 (CSTC §3.4.1).

With all other nodes fixed, the objective depends on the node's scores s and on σ, the probability of going up::

    (1/n) Σ_i w_i p_i a_i (s_i − y_i)² + (1/n) Σ_i w_i p_i (σ_i A_i + (1 − σ_i) B_i) + ρ‖β‖₁ + cost

a = stay + leave_up σ + leave_down (1 − σ) weighs the node's own loss; A and B are the losses expected further down
behind its upper and its lower child. The cost hangs on masses m_l = (1/n) Σ_i p_i (σ_i U_il + (1 − σ_i) L_il):

- path costs (Eq. 18): m_l is the share of rows that leave through terminal l, which costs
  Σ_r v_r sqrt(S_r(β) + const_rl);
- Cronus (§4.1): m_l is the share that reaches node l further down, and the cost is
  Σ_r v_r sqrt(share² S_r(β) + fixed_r + Σ_l m_l² below_rl).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bench_cstc.kernels import group_squares

__all__ = ["inner_descent", "inner_gradient", "inner_value"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _sigmoid(u: float) -> float:
    if u >= 0.0:
        return 1.0 / (1.0 + np.exp(-u))
    e = np.exp(u)
    return e / (1.0 + e)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _exact_cost(
    cronus: bool, masses: Floats, squares: Floats, v: Floats, const: Floats, fixed: Floats, share: float
) -> float:
    """The cost term as it is, without auxiliary variables."""
    value = 0.0
    for r in range(len(v)):
        if v[r] <= 0.0:
            continue
        if cronus:
            inside = share * share * squares[r] + fixed[r]
            for j in range(len(masses)):
                inside += masses[j] * masses[j] * const[r, j]
            value += v[r] * np.sqrt(inside)
        else:
            for j in range(len(masses)):
                value += v[r] * masses[j] * np.sqrt(squares[r] + const[r, j])
    return value


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _along(
    alpha: float,
    s: Floats,
    sd: Floats,
    theta: float,
    thd: float,
    y: Floats,
    w: Floats,
    p: Floats,
    A: Floats,
    B: Floats,
    U: Floats,
    L: Floats,
    own: Floats,
    steep: float,
    C: Floats,
    quad: Floats,
    g: Floats,
) -> tuple[float, float]:
    """Value and derivative of the majoriser at step ``alpha`` along a direction (sd in the scores, thd in θ)."""
    n, q = len(y), U.shape[1]
    f = fp = 0.0
    mass, slope = np.zeros(q), np.zeros(q)
    for i in range(n):
        score = s[i] + alpha * sd[i]
        up = _sigmoid(steep * (score - theta - alpha * thd))
        turn = up * (1.0 - up) * steep * (sd[i] - thd)
        miss = score - y[i]
        a = own[0] + own[1] * up + own[2] * (1.0 - up)
        wp = w[i] * p[i]
        f += wp * (a * miss * miss + up * A[i] + (1.0 - up) * B[i])
        fp += wp * (2.0 * a * miss * sd[i] + turn * ((own[1] - own[2]) * miss * miss + A[i] - B[i]))
        for j in range(q):
            mass[j] += p[i] * (up * U[i, j] + (1.0 - up) * L[i, j])
            slope[j] += p[i] * turn * (U[i, j] - L[i, j])
    f /= n
    fp /= n
    for j in range(q):
        m, d = mass[j] / n, slope[j] / n
        cost = C[j, 0] + alpha * (C[j, 1] + alpha * C[j, 2])
        f += m * cost + quad[j] * m * m
        fp += d * cost + m * (C[j, 1] + 2.0 * alpha * C[j, 2]) + 2.0 * quad[j] * m * d
    f += g[0] + alpha * (g[1] + alpha * g[2])
    fp += g[1] + 2.0 * alpha * g[2]
    return f, fp


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _pull(
    s: Floats,
    theta: float,
    y: Floats,
    w: Floats,
    p: Floats,
    A: Floats,
    B: Floats,
    U: Floats,
    L: Floats,
    own: Floats,
    steep: float,
    price: Floats,
) -> tuple[Floats, float]:
    """Derivative by every score, and by θ, with the price of a mass held: float64 (rows,), float."""
    n, q = len(y), U.shape[1]
    pull = np.empty(n)
    by_theta = 0.0
    for i in range(n):
        up = _sigmoid(steep * (s[i] - theta))
        miss = s[i] - y[i]
        a = own[0] + own[1] * up + own[2] * (1.0 - up)
        by_up = w[i] * ((own[1] - own[2]) * miss * miss + A[i] - B[i])
        for j in range(q):
            by_up += price[j] * (U[i, j] - L[i, j])
        turn = p[i] / n * by_up * up * (1.0 - up) * steep
        pull[i] = turn + 2.0 * w[i] * p[i] / n * a * miss
        by_theta -= turn
    return pull, by_theta


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _masses(s: Floats, theta: float, p: Floats, U: Floats, L: Floats, steep: float) -> Floats:
    mass = np.zeros(U.shape[1])
    for i in range(len(s)):
        up = _sigmoid(steep * (s[i] - theta))
        for j in range(len(mass)):
            mass[j] += p[i] * (up * U[i, j] + (1.0 - up) * L[i, j])
    return mass / len(s)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def inner_value(
    s: Floats,
    theta: float,
    beta: Floats,
    y: Floats,
    w: Floats,
    p: Floats,
    A: Floats,
    B: Floats,
    U: Floats,
    L: Floats,
    own: Floats,
    steep: float,
    rho: float,
    v: Floats,
    const: Floats,
    fixed: Floats,
    share: float,
    cronus: bool,
    ptr: Ints,
    rows: Ints,
) -> float:
    """The part of the objective that depends on this node, exactly."""
    n = len(y)
    f = 0.0
    for i in range(n):
        up = _sigmoid(steep * (s[i] - theta))
        miss = s[i] - y[i]
        a = own[0] + own[1] * up + own[2] * (1.0 - up)
        f += w[i] * p[i] * (a * miss * miss + up * A[i] + (1.0 - up) * B[i])
    f /= n
    for t in range(len(beta)):
        f += rho * abs(beta[t])
    mass = _masses(s, theta, p, U, L, steep)
    squares = group_squares(beta, ptr, rows, len(v))
    return f + _exact_cost(cronus, mass, squares, v, const, fixed, share)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def inner_gradient(
    X: Floats,
    s: Floats,
    theta: float,
    beta: Floats,
    y: Floats,
    w: Floats,
    p: Floats,
    A: Floats,
    B: Floats,
    U: Floats,
    L: Floats,
    own: Floats,
    steep: float,
    rho: float,
    v: Floats,
    const: Floats,
    fixed: Floats,
    share: float,
    cronus: bool,
    ptr: Ints,
    rows: Ints,
) -> tuple[Floats, Floats, float, float]:
    """The exact objective's derivatives: by β, its threshold where β is 0, by the bias, by θ.

    Returns:
        float64 (m,) gradient (at a zero weight: of the smooth part), float64 (m,) slack (0 at nonzero weights; a
        zero weight is stationary while its gradient is within ± slack), and the two scalars.
    """
    q, m = U.shape[1], len(beta)
    mass = _masses(s, theta, p, U, L, steep)
    squares = group_squares(beta, ptr, rows, len(v))
    price = np.zeros(q)
    pressure = np.zeros(len(v))  # multiplies β_t in the derivative of the cost
    corner = np.zeros(len(v))  # what a first weight in an unused group costs per unit
    for r in range(len(v)):
        if v[r] <= 0.0:
            continue
        if cronus:
            inside = share * share * squares[r] + fixed[r]
            for j in range(q):
                inside += mass[j] * mass[j] * const[r, j]
            root = np.sqrt(inside)
            if root > 0.0:
                pressure[r] = v[r] * share * share / root
                for j in range(q):
                    price[j] += v[r] * mass[j] * const[r, j] / root
            else:
                corner[r] = v[r] * share
        else:
            for j in range(q):
                root = np.sqrt(squares[r] + const[r, j])
                price[j] += v[r] * root
                if root > 0.0:
                    pressure[r] += v[r] * mass[j] / root
                else:
                    corner[r] += v[r] * mass[j]
    pull, by_theta = _pull(s, theta, y, w, p, A, B, U, L, own, steep, price)
    gradient = np.dot(pull, X)
    slack = np.zeros(m)
    for t in range(m):
        if beta[t] != 0.0:
            gradient[t] += rho * np.sign(beta[t])
            for e in range(ptr[t], ptr[t + 1]):
                gradient[t] += pressure[rows[e]] * beta[t]
        else:
            slack[t] = rho
            for e in range(ptr[t], ptr[t + 1]):
                slack[t] += corner[rows[e]]
    return gradient, slack, pull.sum(), by_theta


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _search(
    start: float,
    f0: float,
    fp0: float,
    s: Floats,
    sd: Floats,
    theta: float,
    thd: float,
    y: Floats,
    w: Floats,
    p: Floats,
    A: Floats,
    B: Floats,
    U: Floats,
    L: Floats,
    own: Floats,
    steep: float,
    C: Floats,
    quad: Floats,
    g: Floats,
) -> tuple[float, float]:
    """A step that lowers the value, near the line's minimum: bracketing and secants. (0, f0) when none is found."""
    low, fp_low, high, fp_high = 0.0, fp0, -1.0, 0.0
    best, f_best = 0.0, f0
    alpha = start
    for _ in range(20):
        f, fp = _along(alpha, s, sd, theta, thd, y, w, p, A, B, U, L, own, steep, C, quad, g)
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
    return best, f_best


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def inner_descent(
    X: Floats,
    beta: Floats,
    bias: float,
    theta: float,
    free_bias: bool,
    y: Floats,
    w: Floats,
    p: Floats,
    A: Floats,
    B: Floats,
    U: Floats,
    L: Floats,
    own: Floats,
    steep: float,
    rho: float,
    v: Floats,
    const: Floats,
    fixed: Floats,
    share: float,
    cronus: bool,
    ptr: Ints,
    rows: Ints,
    tiny: Floats,
    turns: int,
    steps: int,
    tol: float,
) -> tuple[Floats, float, float, float]:
    """Auxiliaries in closed form and conjugate gradient on β, bias and θ in turn, until little changes.

    Args:
        X: float64 (n, m): the columns that may have weight; every other weight of the node is 0.
        beta: float64 (m,), no zeros (a zero stays).
        own: float64 (3,): stay, leave_up, leave_down.
        turns, steps: most turns, and most conjugate-gradient steps in a turn.
        tol: a turn that lowers the value by less than this share ends it.

    Returns:
        β, bias, θ, and the exact value of the node's part of the objective.
    """
    n, m = X.shape
    q, R = U.shape[1], len(v)
    beta = beta.copy()
    s = np.dot(X, beta) + bias
    value = inner_value(
        s, theta, beta, y, w, p, A, B, U, L, own, steep, rho, v, const, fixed, share, cronus, ptr, rows
    )
    column = np.zeros(m)
    total = 0.0
    for i in range(n):
        weight = 2.0 * w[i] * p[i] / n
        total += weight
        for t in range(m):
            column[t] += weight * X[i, t] * X[i, t]
    for _ in range(turns):
        # Lemma 1: auxiliaries at the present weights.
        squares = group_squares(beta, ptr, rows, R)
        mass = _masses(s, theta, p, U, L, steep)
        held = np.zeros(m)
        Gamma = np.zeros((q, m))
        base, quad = np.zeros(q), np.zeros(q)
        constant = 0.0
        for t in range(m):
            if beta[t] != 0.0:
                held[t] = rho / abs(beta[t])
                constant += 0.5 * rho * abs(beta[t])
        for r in range(R):
            if v[r] <= 0.0:
                continue
            if cronus:
                inside = share * share * squares[r] + fixed[r]
                for j in range(q):
                    inside += mass[j] * mass[j] * const[r, j]
                eta = np.sqrt(inside)
                if eta > 0.0:
                    constant += 0.5 * v[r] * (fixed[r] / eta + eta)
                    for j in range(q):
                        quad[j] += 0.5 * v[r] * const[r, j] / eta
            else:
                for j in range(q):
                    eta = np.sqrt(squares[r] + const[r, j])
                    if eta > 0.0:
                        base[j] += 0.5 * v[r] * (const[r, j] / eta + eta)
        for t in range(m):
            if beta[t] == 0.0:
                continue
            for e in range(ptr[t], ptr[t + 1]):
                r = rows[e]
                if v[r] <= 0.0:
                    continue
                if cronus:
                    inside = share * share * squares[r] + fixed[r]
                    for j in range(q):
                        inside += mass[j] * mass[j] * const[r, j]
                    held[t] += v[r] * share * share / np.sqrt(inside)
                else:
                    for j in range(q):
                        Gamma[j, t] += v[r] / np.sqrt(squares[r] + const[r, j])
        # Conjugate gradient, preconditioned by the diagonal.
        M = np.zeros(m)
        for t in range(m):
            if beta[t] != 0.0:
                diagonal = column[t] + held[t]
                for j in range(q):
                    diagonal += mass[j] * Gamma[j, t]
                M[t] = 1.0 / (diagonal + 1e-12)
        M_bias = 1.0 / (total + 1e-12) if free_bias else 0.0
        M_theta = 1.0 / (total + 1e-12)
        new, new_bias, new_theta = beta.copy(), bias, theta
        direction, d_bias, d_theta = np.zeros(m), 0.0, 0.0
        previous, previous_bias, previous_theta = np.zeros(m), 0.0, 0.0
        before = 0.0
        alpha = 1.0
        for step in range(steps):
            C = np.zeros((q, 3))
            mass = _masses(s, new_theta, p, U, L, steep)
            price = np.zeros(q)
            for j in range(q):
                C[j, 0] = base[j]
                for t in range(m):
                    C[j, 0] += 0.5 * Gamma[j, t] * new[t] * new[t]
                price[j] = C[j, 0] + 2.0 * quad[j] * mass[j]
            pull, by_theta = _pull(s, new_theta, y, w, p, A, B, U, L, own, steep, price)
            gradient = np.dot(pull, X)
            by_bias = pull.sum()
            for t in range(m):
                gradient[t] += held[t] * new[t]
                for j in range(q):
                    gradient[t] += mass[j] * Gamma[j, t] * new[t]
            size = M_bias * by_bias * by_bias + M_theta * by_theta * by_theta
            over = M_bias * by_bias * (by_bias - previous_bias) + M_theta * by_theta * (
                by_theta - previous_theta
            )
            for t in range(m):
                size += M[t] * gradient[t] * gradient[t]
                over += M[t] * gradient[t] * (gradient[t] - previous[t])
            if size <= 1e-16 * (1.0 + abs(value)):
                break
            turn = max(0.0, over / before) if step > 0 and before > 0.0 else 0.0
            fp0 = 0.0
            for t in range(m):
                direction[t] = turn * direction[t] - M[t] * gradient[t]
                fp0 += direction[t] * gradient[t]
            d_bias = turn * d_bias - M_bias * by_bias
            d_theta = turn * d_theta - M_theta * by_theta
            fp0 += d_bias * by_bias + d_theta * by_theta
            if fp0 >= 0.0:
                for t in range(m):
                    direction[t] = -M[t] * gradient[t]
                d_bias, d_theta = -M_bias * by_bias, -M_theta * by_theta
                fp0 = -size
            previous, previous_bias, previous_theta, before = gradient, by_bias, by_theta, size
            sd = np.dot(X, direction) + d_bias
            g = np.zeros(3)
            g[0] = constant
            for t in range(m):
                g[0] += 0.5 * held[t] * new[t] * new[t]
                g[1] += held[t] * new[t] * direction[t]
                g[2] += 0.5 * held[t] * direction[t] * direction[t]
                for j in range(q):
                    C[j, 1] += Gamma[j, t] * new[t] * direction[t]
                    C[j, 2] += 0.5 * Gamma[j, t] * direction[t] * direction[t]
            f0, _ = _along(0.0, s, sd, new_theta, d_theta, y, w, p, A, B, U, L, own, steep, C, quad, g)
            alpha, f1 = _search(
                min(max(alpha, 1e-3), 1e3),
                f0,
                fp0,
                s,
                sd,
                new_theta,
                d_theta,
                y,
                w,
                p,
                A,
                B,
                U,
                L,
                own,
                steep,
                C,
                quad,
                g,
            )
            if alpha == 0.0:
                break
            for t in range(m):
                new[t] += alpha * direction[t]
            new_bias += alpha * d_bias
            new_theta += alpha * d_theta
            s = s + alpha * sd
            if f0 - f1 <= 0.1 * tol * (1e-12 + abs(f0)):
                break
        s = np.dot(X, new) + new_bias
        reached = inner_value(
            s, new_theta, new, y, w, p, A, B, U, L, own, steep, rho, v, const, fixed, share, cronus, ptr, rows
        )
        clamped = new.copy()
        for t in range(m):
            if abs(clamped[t]) < tiny[t]:
                clamped[t] = 0.0
        s_clamped = np.dot(X, clamped) + new_bias
        after = inner_value(
            s_clamped,
            new_theta,
            clamped,
            y,
            w,
            p,
            A,
            B,
            U,
            L,
            own,
            steep,
            rho,
            v,
            const,
            fixed,
            share,
            cronus,
            ptr,
            rows,
        )
        if after <= value or after <= reached:
            new, s, reached = clamped, s_clamped, after
        if not reached < value:
            return beta, bias, theta, value
        gain = value - reached
        beta, bias, theta, value = new, new_bias, new_theta, reached
        if gain <= tol * (1e-12 + abs(value)):
            break
    return beta, bias, theta, value
