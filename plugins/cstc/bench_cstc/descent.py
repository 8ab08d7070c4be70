"""Block-coordinate descent over the nodes (CSTC Algorithm 1). No step raises the objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_cstc.kernels_descent import node_descent
from bench_cstc.leaf import Leaf, scale_of
from bench_cstc.objective import Objective, State
from bench_cstc.view import view

__all__ = ["Descent", "Run"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """The result of an optimisation.

    Attributes:
        state: the final parameters.
        values: the objective before the first sweep and after each.
        converged: whether the last sweep changed the objective by less than the tolerance.
        stopped: whether validation stopped the descent; ``state`` is then the best on validation, not the last.
    """

    state: State
    values: list[float]
    converged: bool
    stopped: bool = False


class Descent:
    """Updates nodes of one objective.

    Args:
        objective: data and trade-off.
        turns: maximum number of alternations with the auxiliary variables in one visit of a branching node.
        steps: maximum number of conjugate-gradient steps in an alternation.
        tol: relative change of the objective below which a node's update, or the descent, ends.

    A weight that is 0 stays 0, since its auxiliary variable is 0 (Lemma 1). So after the initialisation, a node can
    only lose columns.
    """

    def __init__(self, objective: Objective, turns: int = 8, steps: int = 12, tol: float = 1e-4) -> None:
        self.objective, self.turns, self.steps, self.tol = objective, turns, steps, tol
        self.scale = scale_of(objective.X, objective.y)

    def run(self, state: State, max_iter: int) -> Run:
        """Sweep over all nodes in level order until the objective changes by less than the tolerance."""
        values = [self.objective.value(state)]
        for _ in range(max_iter):
            for node in range(len(state.shape)):
                state = self.update(state, node)
            values.append(self.objective.value(state))
            if values[-2] - values[-1] <= self.tol * max(abs(values[-2]), 1e-300):
                return Run(state, values, True)
        return Run(state, values, max_iter == 0)

    def update(self, state: State, node: int) -> State:
        """Update one block, all parameters of a node, without raising the objective."""
        if state.shape.is_leaf(node):
            beta, bias, _ = self.as_leaf(state, node, np.flatnonzero(state.beta[node]))
            return state.with_node(node, beta, bias, state.theta[node])
        return self._update_inner(state, node)

    def as_leaf(self, state: State, node: int, allowed: NDArray[np.int64] | None = None) -> tuple[Floats, float, bool]:
        """The best β (columns,) and b of a node as a leaf, and whether the solver converged (update, initialisation).

        Args:
            state: the start.
            node: index of the node.
            allowed: int64: the columns that may have weight; all if None.
        """
        o = self.objective
        reached = state.shape.reach(o.up(state, o.scores(state)))
        p = reached[:, node]
        share = float(p.mean())
        squares = o.squares(state)
        above = [j for j in state.shape.path(node) if j != node]
        if o.variant == "cronus":
            reach = reached.mean(axis=0)
            others = [j for j in range(len(state.shape)) if j != node and j not in state.shape.below(node)]
            const = np.square(reach[others]) @ squares[others] / max(share, 1e-12) ** 2
        else:
            const = squares[above].sum(axis=0)
        leaf = Leaf(o.X, o.y, o.weights * p, o.rho, o.v * share, const, o.penalty, self.scale, o.intercept, allowed)
        return leaf.solve(state.beta[node], float(state.bias[node]))

    def _update_inner(self, state: State, k: int) -> State:
        o = self.objective
        columns = np.flatnonzero(state.beta[k])
        weights, bias, theta, _ = node_descent(
            view(o, state, k, columns),
            np.ascontiguousarray(o.X[:, columns]),
            state.beta[k, columns],
            float(state.bias[k]),
            float(state.theta[k]),
            o.intercept,
            1e-4 * self.scale[columns],
            self.turns,
            self.steps,
            self.tol,
        )
        beta = np.zeros_like(state.beta[k])
        beta[columns] = weights
        return state.with_node(k, beta, bias, theta)
