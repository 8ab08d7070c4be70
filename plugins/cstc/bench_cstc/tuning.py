"""Fine-tuning (CSTC §3.5): the classifiers that predict are fitted again on their features, without the cost term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_cstc.descent import Descent
from bench_cstc.leaf import Leaf
from bench_cstc.objective import State
from bench_cstc.structure import Criterion, walk

__all__ = ["FineTuning", "exact_objective", "fine_tuned", "fine_tuned_until_worse", "tuned_loss"]

Floats = NDArray[np.float64]
FineTuning = Literal["soft", "hard", "off"]

_STEPS = tuple(2**i for i in range(9))
"""Numbers of steps of fine-tuning after which validation is evaluated, besides the end."""


def _leaving(descent: Descent, state: State, rows: Literal["soft", "hard"]) -> Floats:
    """Weight of each training row in the fine-tuning of each node: float64 (rows, nodes)."""
    o, shape = descent.objective, state.shape
    scores = o.scores(state)
    up = o.up(state, scores) if rows == "soft" else (scores > state.theta).astype(np.float64)
    leaving = shape.leave(shape.reach(up), up)
    out = np.zeros((len(o.X), len(shape)))
    for number, end in enumerate(shape.terminals):
        out[:, end.node] += leaving[:, number]
    return out


def fine_tuned(descent: Descent, state: State, rows: FineTuning = "hard") -> tuple[Floats, Floats]:
    """Weights and intercepts that predict, for every node at which rows can leave; other nodes keep theirs.

    Minimises ``(1/n) Σ_i w_i q_i (x_i β + b − y_i)² + ρ‖β‖₁`` where zero weights stay 0. q is the probability of
    leaving at the node (``soft``, as in §3.5) or whether the row leaves there (``hard``). Branching nodes still decide
    with their original weights.

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
            o.X, o.y, o.weights * leaving[:, k], o.rho, nothing, nothing, o.penalty, descent.scale, o.intercept, support
        )
        beta[k], bias[k], _ = leaf.solve(state.beta[k], float(state.bias[k]))
    return beta, bias


def fine_tuned_until_worse(
    descent: Descent, state: State, rows: FineTuning, X: Floats, criterion: Criterion
) -> tuple[Floats, Floats, int]:
    """`fine_tuned` with early stopping (CSTC §6.2: "early stopping based on the validation data").

    The paper names no optimiser. Here all nodes take proximal gradient steps together, from the weights of the descent
    towards those of `fine_tuned`, with columns in units of their standard deviation. Validation is evaluated before the
    first step, after 1, 2, 4, … 256 steps, and at the end. The first of the best results is taken.

    Args:
        descent: the training rows.
        state: parameters that decide the path.
        rows: as for `fine_tuned`.
        X: float64 (m, columns): validation rows; without rows there is no early stopping.
        criterion: criterion of their predictions; lower is better.

    Returns:
        float64 (nodes, columns), float64 (nodes,), and the number of steps: 0 means no fine-tuning, −1 all of it.
    """
    end = fine_tuned(descent, state, rows)
    if rows == "off" or not len(X):
        return *end, 0 if rows == "off" else -1
    at = walk(state, X)

    def value(beta: Floats, bias: Floats) -> float:
        return criterion(np.asarray(np.einsum("ij,ij->i", X, beta[at]) + bias[at]))

    best, best_value, steps = (state.beta, state.bias), value(state.beta, state.bias), 0
    for taken, beta, bias in _path(descent, state, rows):
        if (now := value(beta, bias)) < best_value:
            best, best_value, steps = (beta, bias), now, taken
    if value(*end) < best_value:
        best, steps = end, -1
    return *best, steps


def _path(descent: Descent, state: State, rows: Literal["soft", "hard"]) -> Iterator[tuple[int, Floats, Floats]]:
    """Steps taken, weights and intercepts of all nodes, at each of `_STEPS`."""
    o = descent.objective
    leaving = _leaving(descent, state, rows)
    parts = []
    for k in sorted({end.node for end in state.shape.terminals}):
        omega = o.weights * leaving[:, k] * (2.0 / len(o.y))
        support = np.flatnonzero(state.beta[k])
        if omega.sum() > 0 and len(support):
            parts.append(_Steps.of(o.X[:, support], o.y, omega, o.rho, state.beta[k, support], o.intercept, k, support))
    beta, bias, taken = state.beta.copy(), state.bias.copy(), 0
    for wanted in _STEPS:
        for part in parts:
            part.go(wanted - taken)
            beta[part.node, part.support], bias[part.node] = part.weights()
        taken = wanted
        yield taken, beta.copy(), bias.copy()


@dataclass(eq=False)
class _Steps:
    """Proximal gradient descent of one node's fine-tuning.

    Attributes:
        node: its index. support: int64 (k,): its columns.
        H, h: float64 (k, k), (k,): second moments of the columns, and with y, in units of the columns' spread.
        rho: float64 (k,): the l1 norm's weight in these units.
        u: float64 (k,): the weights in these units.
        spread, mean: float64 (k,). y_mean: mean target of the rows that leave here.
        rate: length of a step.
    """

    node: int
    support: NDArray[np.int64]
    H: Floats
    h: Floats
    rho: Floats
    u: Floats
    spread: Floats
    mean: Floats
    y_mean: float
    rate: float

    @classmethod
    def of(
        cls,
        Z: Floats,
        y: Floats,
        omega: Floats,
        rho: float,
        beta: Floats,
        intercept: bool,
        node: int,
        support: NDArray[np.int64],
    ) -> _Steps:
        total = float(omega.sum())
        mean = omega @ Z / total if intercept else np.zeros(Z.shape[1])
        y_mean = float(omega @ y) / total if intercept else 0.0
        Z = Z - mean
        H = (Z * omega[:, None]).T @ Z
        spread = np.sqrt(np.maximum(np.diag(H), 1e-300))
        still = spread <= 1e-9 * spread.max()
        spread = np.where(still, np.inf, spread)
        H = H / spread[:, None] / spread
        largest = float(np.linalg.eigvalsh(H)[-1])
        u = np.where(still, 0.0, beta * np.where(still, 1.0, spread))
        h = (omega * (y - y_mean)) @ Z / spread
        rate = 1.0 / largest if largest > 0 else 0.0
        return cls(node, support, H, h, rho / spread, u, spread, mean, y_mean, rate)

    def go(self, steps: int) -> None:
        for _ in range(steps):
            moved = self.u - self.rate * (self.H @ self.u - self.h)
            self.u = np.sign(moved) * np.maximum(np.abs(moved) - self.rate * self.rho, 0.0)

    def weights(self) -> tuple[Floats, float]:
        """Weights in the columns' original units, and the best intercept for them."""
        beta = self.u / self.spread
        return beta, self.y_mean - float(self.mean @ beta)


def tuned_loss(descent: Descent, state: State, beta: Floats, bias: Floats, rows: Literal["soft", "hard"]) -> float:
    """The objective of `fine_tuned`, summed over the nodes that predict."""
    o = descent.objective
    leaving = _leaving(descent, state, rows)
    total = 0.0
    for k in sorted({end.node for end in state.shape.terminals}):
        miss = o.X @ beta[k] + bias[k] - o.y
        total += float(o.weights * leaving[:, k] @ np.square(miss)) / len(o.y) + o.rho * float(np.abs(beta[k]).sum())
    return total


def exact_objective(descent: Descent, state: State, beta: Floats, bias: Floats) -> float:
    """Eq. 10 of the finished tree: training loss + λ × mean price, with hard decisions.

    Args:
        descent: data and λ.
        state: parameters that decide the path.
        beta, bias: weights and intercepts that predict, from `fine_tuned`.
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
