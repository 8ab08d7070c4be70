"""The arrays of `kernels_node.Node`, through which a branching node's objective depends on the tree (Eq. 17, 18)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_cstc.kernels_node import Node
from bench_cstc.objective import Objective, State

__all__ = ["view"]

Floats = NDArray[np.float64]


def view(objective: Objective, state: State, k: int, columns: NDArray[np.int64]) -> Node:
    """The objective as a function of one branching node, with all else fixed.

    Args:
        objective: data and trade-off.
        state: all parameters.
        k: index of the node.
        columns: int64: the node's columns that may have weight.
    """
    o, shape = objective, state.shape
    n, q = len(o.y), len(shape)
    scores = o.scores(state)
    up = o.up(state, scores)
    p = shape.reach(up)
    misses = np.square(scores - o.y[:, None])
    squares = o.squares(state)
    children = (shape.upper(k), shape.lower(k))
    reaches = [shape.reach(up, child) if child >= 0 else np.zeros((n, q)) for child in children]
    A, B = ((o.loss_weights(shape, reach, up) * misses).sum(axis=1) for reach in reaches)
    own = np.array([1.0, 0.0, 0.0])
    if o.variant != "cstc":
        own = np.array([0.0, float(children[0] < 0), float(children[1] < 0)])
    fixed, share = np.zeros(len(o.v)), 1.0
    if o.variant == "cronus":
        below = shape.below(k)
        others = [j for j in range(q) if j != k and j not in below]
        U, L = (reach[:, below] for reach in reaches)
        mean = p.mean(axis=0)
        fixed, share = np.square(mean[others]) @ squares[others], float(mean[k])
        const = squares[below].T
    else:
        U, L, const = _leaving(state, k, up, reaches, squares)
    return Node(
        o.y,
        o.weights,
        np.ascontiguousarray(p[:, k]),
        A,
        B,
        np.ascontiguousarray(U),
        np.ascontiguousarray(L),
        own,
        o.steep,
        o.rho,
        o.v,
        np.ascontiguousarray(const),
        fixed,
        share,
        o.variant == "cronus",
        *o.penalty.of(columns),
    )


def _leaving(state: State, k: int, up: Floats, reaches: list[Floats], squares: Floats) -> tuple[Floats, Floats, Floats]:
    """Probability of each terminal below the upper and the lower child; squared weights on its path, except at k."""
    shape = state.shape
    ends = [i for i, end in enumerate(shape.terminals) if k in shape.path(end.node)]
    U, L = np.zeros((len(up), len(ends))), np.zeros((len(up), len(ends)))
    const = np.zeros((squares.shape[1], len(ends)))
    behind = [shape.leave(reach, up) for reach in reaches]
    for column, i in enumerate(ends):
        end = shape.terminals[i]
        const[:, column] = squares[[j for j in shape.path(end.node) if j != k]].sum(axis=0)
        if end.node == k:
            (U if end.side > 0 else L)[:, column] = 1.0
        else:
            U[:, column], L[:, column] = behind[0][:, i], behind[1][:, i]
    return U, L, const
