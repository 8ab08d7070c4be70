"""Block-coordinate descent over the nodes (CSTC Algorithm 1). No step makes the objective rise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_cstc.kernels_inner import inner_descent, inner_gradient, inner_value
from bench_cstc.leaf import Leaf, scale_of
from bench_cstc.objective import Objective, State

__all__ = ["Descent", "NodeView", "Run"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """How an optimisation went.

    Attributes:
        state: where it ended.
        values: the objective before the first sweep and after each.
        converged: whether the last sweep changed it by less than the tolerance.
        stopped: whether validation ended it before that; ``state`` is then the best there, not the last.
    """

    state: State
    values: list[float]
    converged: bool
    stopped: bool = False


@dataclass(frozen=True)
class NodeView:
    """The objective as a function of one branching node: everything else in it held (names as in `kernels_inner`)."""

    p: Floats
    A: Floats
    B: Floats
    U: Floats
    L: Floats
    own: Floats
    const: Floats
    fixed: Floats
    share: float

    def data(self, objective: Objective) -> tuple[Any, ...]:
        """The rows' part of the kernels' arguments."""
        return (
            objective.y,
            objective.weights,
            self.p,
            self.A,
            self.B,
            self.U,
            self.L,
            self.own,
            objective.steep,
        )

    def prices(self, objective: Objective) -> tuple[Any, ...]:
        """The penalties' part of the kernels' arguments, without the columns' groups."""
        return (
            objective.rho,
            objective.v,
            self.const,
            self.fixed,
            self.share,
            objective.variant == "cronus",
        )


class Descent:
    """Updates nodes of one objective.

    Args:
        objective: data and trade-off.
        turns: most alternations with the auxiliary variables in one visit of a branching node.
        steps: most conjugate-gradient steps in an alternation.
        tol: relative change of the objective below which a node, or the whole, is left.
    """

    def __init__(self, objective: Objective, turns: int = 8, steps: int = 12, tol: float = 1e-4) -> None:
        self.objective, self.turns, self.steps, self.tol = objective, turns, steps, tol
        self.scale = scale_of(objective.X, objective.y)

    def run(self, state: State, sweeps: int) -> Run:
        """Sweeps over all nodes in level order until the objective changes little."""
        values = [self.objective.value(state)]
        for _ in range(sweeps):
            for node in range(len(state.shape)):
                state = self.update(state, node)
            values.append(self.objective.value(state))
            if values[-2] - values[-1] <= self.tol * max(abs(values[-2]), 1e-300):
                return Run(state, values, True)
        return Run(state, values, sweeps == 0)

    def update(self, state: State, node: int) -> State:
        """One block: all parameters of a node."""
        if state.shape.is_leaf(node):
            beta, bias, _ = self.as_leaf(state, node)
            return state.with_node(node, beta, bias, state.theta[node])
        return self._update_inner(state, node)

    def as_leaf(self, state: State, node: int, p: Floats | None = None) -> tuple[Floats, float, bool]:
        """The best weights of a node if nothing were below it (a leaf's update, and the initialisation).

        Args:
            state: where to start.
            node: its index.
            p: float64 (rows,): probability of reaching it; computed when None.
        """
        o = self.objective
        if p is None:
            p = state.shape.reach(o.up(state, o.scores(state)))[:, node]
        share = float(p.mean())
        squares = o.squares(state)
        above = [j for j in state.shape.path(node) if j != node]
        if o.variant == "cronus":
            reach = state.shape.reach(o.up(state, o.scores(state))).mean(axis=0)
            others = [j for j in range(len(state.shape)) if j != node and j not in state.shape.below(node)]
            const = np.square(reach[others]) @ squares[others] / max(share, 1e-12) ** 2
        else:
            const = squares[above].sum(axis=0)
        leaf = Leaf(o.X, o.y, o.weights * p, o.rho, o.v * share, const, o.penalty, self.scale, o.intercept)
        return leaf.solve(state.beta[node], float(state.bias[node]))

    def view(self, state: State, node: int) -> NodeView:
        """What a branching node sees of the rest of the tree."""
        o, shape = self.objective, state.shape
        scores = o.scores(state)
        up = o.up(state, scores)
        p = shape.reach(up)
        misses = np.square(scores - o.y[:, None])
        squares = o.squares(state)
        n = len(o.y)
        children = (shape.upper(node), shape.lower(node))
        expected: list[Floats] = []
        reaches: list[Floats] = []
        for child in children:
            if child < 0:
                expected.append(np.zeros(n))
                reaches.append(np.zeros((n, len(shape))))
                continue
            below = shape.reach(up, child)
            expected.append((o.loss_weights(shape, below, up) * misses).sum(axis=1))
            reaches.append(below)
        R = len(o.v)
        leave_up, leave_down = float(children[0] < 0), float(children[1] < 0)
        own = np.array([1.0, 0.0, 0.0]) if o.variant == "cstc" else np.array([0.0, leave_up, leave_down])
        if o.variant == "cronus":
            below_nodes = shape.below(node)
            U, L = reaches[0][:, below_nodes], reaches[1][:, below_nodes]
            others = [j for j in range(len(shape)) if j != node and j not in below_nodes]
            share = p.mean(axis=0)
            fixed = np.square(share[others]) @ squares[others] if others else np.zeros(R)
            const = squares[below_nodes].T
            return NodeView(
                np.ascontiguousarray(p[:, node]),
                *expected,
                np.ascontiguousarray(U),
                np.ascontiguousarray(L),
                own,
                np.ascontiguousarray(const),
                fixed,
                float(share[node]),
            )
        ends = [i for i, end in enumerate(shape.terminals) if node in shape.path(end.node)]
        U, L = np.zeros((n, len(ends))), np.zeros((n, len(ends)))
        const = np.zeros((R, len(ends)))
        leaving = [shape.leave(reach, up) for reach in reaches]
        for column, i in enumerate(ends):
            end = shape.terminals[i]
            const[:, column] = squares[[j for j in shape.path(end.node) if j != node]].sum(axis=0)
            if end.node == node:
                (U if end.side > 0 else L)[:, column] = 1.0
            else:
                U[:, column], L[:, column] = leaving[0][:, i], leaving[1][:, i]
        return NodeView(np.ascontiguousarray(p[:, node]), *expected, U, L, own, const, np.zeros(R), 1.0)

    def gradient(self, state: State, node: int) -> tuple[Floats, Floats, float, float]:
        """Exact derivatives at a branching node; see `kernels_inner.inner_gradient`."""
        o, view = self.objective, self.view(state, node)
        return inner_gradient(  # type: ignore[no-any-return, unused-ignore]
            o.X, o.score(state, node), float(state.theta[node]), state.beta[node], *view.data(o), *view.prices(o),
            o.penalty.ptr, o.penalty.rows,
        )  # fmt: skip

    def _update_inner(self, state: State, node: int) -> State:
        o, view = self.objective, self.view(state, node)
        data, prices = view.data(o), view.prices(o)
        groups = (o.penalty.ptr, o.penalty.rows)
        beta, bias, theta = state.beta[node].copy(), float(state.bias[node]), float(state.theta[node])
        s = o.score(state, node)
        gradient, slack, _, _ = inner_gradient(o.X, s, theta, beta, *data, *prices, *groups)
        excess = np.where(np.isfinite(self.scale) & (beta == 0), np.abs(gradient) - slack, 0.0)
        worth = excess * np.where(np.isfinite(self.scale), self.scale, 0.0)
        now = inner_value(s, theta, beta, *data, *prices, *groups)
        found = np.flatnonzero(worth > 1e-7 * abs(now))
        if len(found):
            found = found[np.argsort(-worth[found], kind="stable")[: max(32, np.count_nonzero(beta))]]
            Z = o.X[:, found]
            curve = 2.0 * ((o.weights * view.p) @ np.square(Z)) / len(o.y) + 1e-300
            step = np.zeros_like(beta)
            step[found] = -np.sign(gradient[found]) * excess[found] / curve
            along = Z @ step[found]
            factor = 1.0
            for _ in range(12):
                if (
                    inner_value(s + factor * along, theta, beta + factor * step, *data, *prices, *groups)
                    < now
                ):
                    beta = beta + factor * step
                    break
                factor *= 0.3
        columns = np.flatnonzero(beta)
        Z = np.ascontiguousarray(o.X[:, columns])
        found_beta, bias, theta, _ = inner_descent(
            Z, beta[columns], bias, theta, o.intercept, *data, *prices, *o.penalty.of(columns),
            1e-4 * self.scale[columns], self.turns, self.steps, self.tol,
        )  # fmt: skip
        beta = np.zeros_like(beta)
        beta[columns] = found_beta
        return state.with_node(node, beta, bias, theta)
