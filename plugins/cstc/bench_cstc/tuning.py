"""Fine-tuning (CSTC §3.5): the classifiers that predict are fitted again on their features, without the cost term."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_cstc.descent import Descent
from bench_cstc.leaf import Leaf
from bench_cstc.objective import State
from bench_cstc.structure import walk

__all__ = ["FineTuning", "exact_objective", "fine_tuned", "tuned_loss"]

Floats = NDArray[np.float64]
FineTuning = Literal["soft", "hard", "off"]


def _leaving(descent: Descent, state: State, rows: Literal["soft", "hard"]) -> Floats:
    """Weight of each training row among those that leave with each node's prediction: float64 (rows, nodes)."""
    o, shape = descent.objective, state.shape
    scores = o.scores(state)
    up = o.up(state, scores) if rows == "soft" else (scores > state.theta).astype(np.float64)
    leaving = shape.leave(shape.reach(up), up)
    out = np.zeros((len(o.X), len(shape)))
    for number, end in enumerate(shape.terminals):
        out[:, end.node] += leaving[:, number]
    return out


def fine_tuned(descent: Descent, state: State, rows: FineTuning = "hard") -> tuple[Floats, Floats]:
    """Weights and intercepts that predict, for every node rows can leave at; other nodes keep theirs.

    Minimises ``(1/n) Σ_i w_i q_i (x_i β + b − y_i)² + ρ‖β‖₁`` with every weight that is 0 held there; q is the
    probability of leaving at the node (``soft``, §3.5 to the letter) or whether the row does (``hard``). Nodes that
    branch go on deciding with the weights they have.

    Returns:
        float64 (nodes, columns), float64 (nodes,).
    """
    beta, bias = state.beta.copy(), state.bias.copy()
    if rows == "off":
        return beta, bias
    o = descent.objective
    leaving = _leaving(descent, state, rows)
    nothing = np.zeros(len(o.penalty.weights))
    for end in state.shape.terminals:
        k = end.node
        support = np.flatnonzero(state.beta[k])
        leaf = Leaf(
            o.X,
            o.y,
            o.weights * leaving[:, k],
            o.rho,
            nothing,
            nothing,
            o.penalty,
            descent.scale,
            o.intercept,
            support,
        )
        beta[k], bias[k], _ = leaf.solve(state.beta[k], float(state.bias[k]))
    return beta, bias


def tuned_loss(
    descent: Descent, state: State, beta: Floats, bias: Floats, rows: Literal["soft", "hard"]
) -> float:
    """What `fine_tuned` minimises, summed over the nodes that predict."""
    o = descent.objective
    leaving = _leaving(descent, state, rows)
    total = 0.0
    for k in sorted({end.node for end in state.shape.terminals}):
        miss = o.X @ beta[k] + bias[k] - o.y
        total += float(o.weights * leaving[:, k] @ np.square(miss)) / len(o.y) + o.rho * float(
            np.abs(beta[k]).sum()
        )
    return total


def exact_objective(descent: Descent, state: State, beta: Floats, bias: Floats) -> float:
    """What is meant by Eq. 10 of the finished tree: training loss + λ × mean price, rows going one way.

    Args:
        descent: data and λ.
        state: what decides the path.
        beta, bias: what predicts, from `fine_tuned`.
    """
    o, shape = descent.objective, state.shape
    at = walk(state, o.X)
    score = np.einsum("ij,ij->i", o.X, beta[at]) + bias[at]
    price = np.zeros(len(shape))
    for k in range(len(shape)):
        used = beta[k] != 0
        for j in shape.path(k):
            if not shape.is_leaf(j):
                used = used | (state.beta[j] != 0)
        _, groups = o.penalty.of(np.flatnonzero(used))
        price[k] = o.v[np.unique(groups)].sum()
    return float(o.weights @ np.square(score - o.y)) / len(o.y) + float(price[at].mean())
