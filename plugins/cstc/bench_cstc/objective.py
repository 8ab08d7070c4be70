"""The objective of a tree of classifiers: Eq. 12 (CSTC), 19 (CSCC), §4.1 (Cronus), and 22 with trees as features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from bench_models.penalty import Penalty
from numpy.typing import NDArray

from bench_cstc.kernels import group_squares
from bench_cstc.shape import Shape

__all__ = ["Objective", "State", "Variant"]

Floats = NDArray[np.float64]
Variant = Literal["cstc", "cscc", "cronus"]


@dataclass(frozen=True, eq=False)
class State:
    """The parameters of all nodes.

    Attributes:
        shape: the nodes.
        beta: float64 (nodes, columns).
        bias: float64 (nodes,): unpenalised intercepts.
        theta: float64 (nodes,): thresholds; unused at leaves.
    """

    shape: Shape
    beta: Floats
    bias: Floats
    theta: Floats

    @classmethod
    def zeros(cls, shape: Shape, columns: int) -> State:
        """All weights 0."""
        return cls(shape, np.zeros((len(shape), columns)), np.zeros(len(shape)), np.zeros(len(shape)))

    def with_node(self, node: int, beta: Floats, bias: float, theta: float) -> State:
        """A copy with one node's parameters changed."""
        changed = replace(self, beta=self.beta.copy(), bias=self.bias.copy(), theta=self.theta.copy())
        changed.beta[node], changed.bias[node], changed.theta[node] = beta, bias, theta
        return changed

    def onto(self, shape: Shape, fallback: State | None = None) -> State:
        """A copy on another shape: nodes keep their parameters by name; new ones take those of ``fallback``, or 0."""
        new = fallback or State.zeros(shape, self.beta.shape[1])
        beta, bias, theta = new.beta.copy(), new.bias.copy(), new.theta.copy()
        for name, i in shape.index.items():
            j = self.shape.index.get(name)
            if j is not None:
                beta[i], bias[i], theta[i] = self.beta[j], self.bias[j], self.theta[j]
        return State(shape, beta, bias, theta)


@dataclass(frozen=True, eq=False)
class Objective:
    """The data and the trade-off of one tree.

    Attributes:
        X: float64 (rows, columns), preferably Fortran-ordered, since columns are read.
        y: float64 (rows,).
        penalty: prices.
        rho: ρ, weight of the l1 norm.
        lambda_: λ, weight of the cost.
        weights: float64 (rows,): class weights w_y of Eq. 19; 1 without weights.
        steep: factor of the sigmoid's argument; 1 is Eq. 4.
        variant: ``cstc``: a node's loss is that of rows that reach it; ``cscc``: that of rows that leave there;
            ``cronus``: as cscc, with its own cost term.
        intercept: whether nodes have an unpenalised intercept.
    """

    X: Floats
    y: Floats
    penalty: Penalty
    rho: float
    lambda_: float
    weights: Floats
    steep: float = 1.0
    variant: Variant = "cstc"
    intercept: bool = True

    @property
    def v(self) -> Floats:
        """λ times the prices: float64 (groups,)."""
        return self.lambda_ * self.penalty.weights

    def scores(self, state: State) -> Floats:
        """Every node's prediction: float64 (rows, nodes)."""
        return np.asarray(self.X @ state.beta.T + state.bias)

    def score(self, state: State, node: int) -> Floats:
        """One node's prediction: float64 (rows,)."""
        used = np.flatnonzero(state.beta[node])
        if len(used) > self.X.shape[1] // 2:
            return np.asarray(self.X @ state.beta[node] + state.bias[node])
        return np.asarray(self.X[:, used] @ state.beta[node, used] + state.bias[node])

    def up(self, state: State, scores: Floats) -> Floats:
        """Probability of going up at every node (Eq. 4): float64 (rows, nodes)."""
        from scipy.special import expit

        return np.asarray(expit(self.steep * (scores - state.theta)))

    def squares(self, state: State) -> Floats:
        """Σ of squared weights of each group at each node: float64 (nodes, groups)."""
        penalty = self.penalty
        return np.array(
            [group_squares(row, penalty.ptr, penalty.rows, len(penalty.weights)) for row in state.beta]
        ).reshape(len(state.beta), len(penalty.weights))

    def loss_weights(self, shape: Shape, p: Floats, up: Floats) -> Floats:
        """Weight of each row's loss at each node, without class weights: float64 (rows, nodes)."""
        if self.variant == "cstc":
            return p
        out = np.zeros_like(p)
        leaving = shape.leave(p, up)
        for number, end in enumerate(shape.terminals):
            out[:, end.node] += leaving[:, number]
        return out

    def value(self, state: State) -> float:
        """The exact objective, without auxiliary variables."""
        scores = self.scores(state)
        up = self.up(state, scores)
        p = state.shape.reach(up)
        weighed = self.loss_weights(state.shape, p, up) * self.weights[:, None]
        loss = float((weighed * np.square(scores - self.y[:, None])).sum()) / len(self.y)
        return loss + self.rho * float(np.abs(state.beta).sum()) + self.cost(state, p, up)

    def cost(self, state: State, p: Floats, up: Floats) -> float:
        """λ times the relaxed cost."""
        shape, squares = state.shape, self.squares(state)
        if self.variant == "cronus":
            return float(self.v @ np.sqrt(np.square(p.mean(axis=0)) @ squares))
        mass = shape.leave(p, up).mean(axis=0)
        total = 0.0
        for number, end in enumerate(shape.terminals):
            total += mass[number] * float(self.v @ np.sqrt(squares[shape.path(end.node)].sum(axis=0)))
        return total
