"""The objective as a function of one branching node, with all else fixed (Eq. 17, 18), and its majoriser.

It depends on the node's scores s and on σ, the probability of going up::

    (1/n) Σ_i w_i p_i a_i (s_i − y_i)² + (1/n) Σ_i w_i p_i (σ_i A_i + (1 − σ_i) B_i) + ρ‖β‖₁ + cost

a = stay + leave_up σ + leave_down (1 − σ) is the weight of the node's own loss; A and B are the expected losses below
its upper and its lower child. The cost depends on masses m_l = (1/n) Σ_i p_i (σ_i U_il + (1 − σ_i) L_il):

- path costs (Eq. 18): m_l is the share of rows that leave through terminal l, which costs
  Σ_r v_r sqrt(S_r(β) + const_rl);
- Cronus (§4.1): m_l is the share that reaches node l further down, and the cost is
  Σ_r v_r sqrt(share² S_r(β) + fixed_r + Σ_l m_l² const_rl).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bench_cstc.kernels import group_squares

__all__ = ["Majoriser", "Node", "majorise", "majoriser_gradient", "masses", "node_value"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Node(NamedTuple):
    """The data and the parts of the tree on which a branching node's objective depends.

    Attributes:
        y, w, p: float64 (n,): targets, class weights, probability of reaching the node.
        A, B: float64 (n,): expected loss below the upper and the lower child.
        U, L: float64 (n, q): probability of each mass below the upper and the lower child.
        own: float64 (3,): stay, leave_up, leave_down.
        steep: factor of the sigmoid's argument.
        rho: weight of the l1 norm.
        v: float64 (groups,): λ times the prices.
        const: float64 (groups, q): squared weights at other nodes.
        fixed: float64 (groups,): the part under Cronus' square root that does not depend on the node.
        share: share of the rows that reach the node.
        cronus: whether the cost is that of Cronus.
        ptr, rows: groups of the node's columns.
    """

    y: Floats
    w: Floats
    p: Floats
    A: Floats
    B: Floats
    U: Floats
    L: Floats
    own: Floats
    steep: float
    rho: float
    v: Floats
    const: Floats
    fixed: Floats
    share: float
    cronus: bool
    ptr: Ints
    rows: Ints


class Majoriser(NamedTuple):
    """The objective with fixed auxiliary variables of Lemma 1: quadratic in β, except for σ.

    Its cost is ``Σ_l m_l (base_l + ½ Σ_t Gamma_lt β_t²) + Σ_l quad_l m_l² + ½ Σ_t held_t β_t² + constant``.
    """

    held: Floats
    Gamma: Floats
    base: Floats
    quad: Floats
    constant: float


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def sigmoid(u: float) -> Any:
    """1 / (1 + exp(−u)), without overflow."""
    if u >= 0.0:
        return 1.0 / (1.0 + np.exp(-u))
    e = np.exp(u)
    return e / (1.0 + e)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def masses(node: Node, s: Floats, theta: float) -> Floats:
    """m_l: float64 (q,)."""
    mass = np.zeros(node.U.shape[1])
    for i in range(len(s)):
        up = sigmoid(node.steep * (s[i] - theta))
        for j in range(len(mass)):
            mass[j] += node.p[i] * (up * node.U[i, j] + (1.0 - up) * node.L[i, j])
    return mass / len(s)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def node_value(node: Node, s: Floats, theta: float, beta: Floats) -> float:
    """The objective, exactly.

    Args:
        node: see `Node`.
        s: float64 (n,): the node's scores.
        theta: its threshold.
        beta: float64 (m,): its weights.
    """
    n = len(s)
    value = 0.0
    for i in range(n):
        up = sigmoid(node.steep * (s[i] - theta))
        miss = s[i] - node.y[i]
        a = node.own[0] + node.own[1] * up + node.own[2] * (1.0 - up)
        value += node.w[i] * node.p[i] * (a * miss * miss + up * node.A[i] + (1.0 - up) * node.B[i]) / n
    for t in range(len(beta)):
        value += node.rho * abs(beta[t])
    mass = masses(node, s, theta)
    squares = group_squares(beta, node.ptr, node.rows, len(node.v))
    for r in range(len(node.v)):
        if node.cronus:
            inside = _inside(node, mass, squares, r)
            value += node.v[r] * np.sqrt(inside)
        else:
            for j in range(len(mass)):
                value += node.v[r] * mass[j] * np.sqrt(squares[r] + node.const[r, j])
    return value


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _inside(node: Node, mass: Floats, squares: Floats, r: int) -> Any:
    """The term under Cronus' square root for group r."""
    inside = node.share * node.share * squares[r] + node.fixed[r]
    for j in range(len(mass)):
        inside += mass[j] * mass[j] * node.const[r, j]
    return inside


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def majorise(node: Node, mass: Floats, beta: Floats) -> Majoriser:
    """Lemma 1's majoriser: never below the objective, equal to it at the current weights; zero weights stay zero."""
    m, q, R = len(beta), len(mass), len(node.v)
    squares = group_squares(beta, node.ptr, node.rows, R)
    held, Gamma = np.zeros(m), np.zeros((q, m))
    base, quad = np.zeros(q), np.zeros(q)
    constant = 0.0
    pressure = np.zeros((R, q + 1))
    for r in range(R):
        if node.v[r] <= 0.0:
            continue
        if node.cronus:
            eta = np.sqrt(_inside(node, mass, squares, r))
            if eta > 0.0:
                constant += 0.5 * node.v[r] * (node.fixed[r] / eta + eta)
                pressure[r, q] = node.v[r] * node.share * node.share / eta
                for j in range(q):
                    quad[j] += 0.5 * node.v[r] * node.const[r, j] / eta
        else:
            for j in range(q):
                eta = np.sqrt(squares[r] + node.const[r, j])
                if eta > 0.0:
                    base[j] += 0.5 * node.v[r] * (node.const[r, j] / eta + eta)
                    pressure[r, j] = node.v[r] / eta
    for t in range(m):
        if beta[t] == 0.0:
            continue
        held[t] = node.rho / abs(beta[t])
        constant += 0.5 * node.rho * abs(beta[t])
        for e in range(node.ptr[t], node.ptr[t + 1]):
            held[t] += pressure[node.rows[e], q]
            for j in range(q):
                Gamma[j, t] += pressure[node.rows[e], j]
    return Majoriser(held, Gamma, base, quad, constant)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def majoriser_gradient(
    node: Node, major: Majoriser, X: Floats, s: Floats, theta: float, beta: Floats
) -> tuple[Floats, float, float]:
    """Derivatives of the majoriser by β (m,), intercept and θ; at the current weights they are the objective's."""
    n, q = len(s), len(major.base)
    mass = masses(node, s, theta)
    price = major.base + 2.0 * major.quad * mass
    for j in range(q):
        for t in range(len(beta)):
            price[j] += 0.5 * major.Gamma[j, t] * beta[t] * beta[t]
    pull = np.empty(n)
    by_bias = by_theta = 0.0
    for i in range(n):
        up = sigmoid(node.steep * (s[i] - theta))
        miss = s[i] - node.y[i]
        a = node.own[0] + node.own[1] * up + node.own[2] * (1.0 - up)
        by_up = node.w[i] * ((node.own[1] - node.own[2]) * miss * miss + node.A[i] - node.B[i])
        for j in range(q):
            by_up += price[j] * (node.U[i, j] - node.L[i, j])
        turn = node.p[i] / n * by_up * up * (1.0 - up) * node.steep
        pull[i] = turn + 2.0 * node.w[i] * node.p[i] / n * a * miss
        by_bias += pull[i]
        by_theta -= turn
    gradient = np.dot(pull, X)
    for t in range(len(beta)):
        pressure = major.held[t]
        for j in range(q):
            pressure += mass[j] * major.Gamma[j, t]
        gradient[t] += pressure * beta[t]
    return gradient, by_bias, by_theta
