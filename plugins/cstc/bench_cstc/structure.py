"""The tree's structure: top-down initialisation (CSTC §3.4.2), pruning (§3.6.1), greedy building (§3.6.2).

The module also contains the criterion on validation for these steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from bench_models.targets import Target
from numpy.typing import NDArray

from bench_core import Decisions, Outcome, Problem, ndcg_at, precision_at
from bench_cstc.descent import Descent
from bench_cstc.objective import State
from bench_cstc.shape import Shape

__all__ = ["Criterion", "build_greedily", "criterion_of", "initialise", "prune", "split_point", "walk"]

Floats = NDArray[np.float64]
Criterion = Callable[[Floats], float]
"""A function from predictions of the validation rows to a number; lower is better."""


def split_point(scores: Floats, p: Floats, split_quantile: float = 0.5) -> float:
    """The threshold whose share of weight above it is nearest to ``split_quantile``.

    It is halfway between two neighbouring scores; in a tie, the lowest. If all scores are equal, it is that score:
    every row goes down, and the sigmoid gives 1/2.
    """
    levels, at = np.unique(scores, return_inverse=True)
    if len(levels) < 2 or p.sum() <= 0:
        return float(levels[0]) if len(levels) else 0.0
    weight = np.bincount(at.reshape(-1), weights=p)
    above = 1.0 - np.cumsum(weight)[:-1] / weight.sum()
    best = int(np.argmin(np.abs(above - split_quantile)))
    return float((levels[best] + levels[best + 1]) / 2)


def initialise(descent: Descent, shape: Shape, split_quantile: float = 0.5) -> State:
    """Fit every node in level order as a leaf; its threshold sends the share ``split_quantile`` of its rows up.

    A node's rows are those that reach it by hard decisions, so that both children get rows.
    """
    o = descent.objective
    state = State.zeros(Shape((1,)), o.X.shape[1])
    hard = np.zeros((len(o.X), len(shape)), dtype=bool)
    hard[:, 0] = True
    for k, name in enumerate(shape.names):
        if k:
            state = state.onto(state.shape.with_names([name]))
        node = state.shape.index[name]
        beta, bias, _ = descent.as_leaf(state, node)
        state = state.with_node(node, beta, bias, 0.0)
        scores = o.score(state, node)
        reaching = hard[:, k].astype(np.float64)
        theta = split_point(scores[hard[:, k]], np.ones(int(reaching.sum())), split_quantile)
        state = state.with_node(node, beta, bias, theta)
        for child, goes in ((shape.upper(k), scores > theta), (shape.lower(k), scores <= theta)):
            if child >= 0:
                hard[:, child] = hard[:, k] & goes
    return state


def walk(state: State, X: Floats) -> NDArray[np.int64]:
    """The node at which each row leaves, with its prediction: int64 (rows,)."""
    shape = state.shape
    at = np.zeros(len(X), dtype=np.int64)
    above = X @ state.beta.T + state.bias > state.theta
    for node in range(len(shape)):
        here = at == node
        for child, chosen in ((shape.upper(node), above[:, node]), (shape.lower(node), ~above[:, node])):
            if child >= 0:
                at[here & chosen] = child
    return at


def predictions(state: State, X: Floats, path: State | None = None) -> Floats:
    """Predictions by hard decisions: float64 (rows,); if ``path`` is given, its parameters decide the paths."""
    at = walk(path or state, X)
    return np.asarray(np.einsum("ij,ij->i", X, state.beta[at]) + state.bias[at])


def prune(state: State, X: Floats, criterion: Criterion) -> State:
    """Remove nodes, from the deepest up, whose removal does not make the criterion on validation rows worse."""
    best = criterion(predictions(state, X))
    for name in reversed(state.shape.names[1:]):
        shape = state.shape
        node = shape.index.get(name)
        if node is None or not shape.is_leaf(node):
            continue
        smaller = state.onto(shape.without(node))
        value = criterion(predictions(smaller, X))
        if value <= best:
            state, best = smaller, value
    return state


def build_greedily(
    descent: Descent, depth: int, X: Floats, criterion: Criterion, split_quantile: float = 0.5, chain: bool = False
) -> State:
    """Starting with the root, add the child that improves the criterion most, until no child improves it.

    Args:
        descent: for the training rows.
        depth: greatest level; the root's is 1.
        X: float64 (rows, columns): validation rows.
        criterion: criterion of their predictions.
        split_quantile: share of the rows that a threshold sends up.
        chain: whether only upper children are added (a cascade).
    """
    o = descent.objective
    state = initialise(descent, Shape((1,)), split_quantile)
    best = criterion(predictions(state, X))
    candidates: dict[int, State] = {}
    while True:
        for name in state.shape.names:
            for child in (2 * name,) if chain else (2 * name, 2 * name + 1):
                if child.bit_length() > depth or child in state.shape.index or child in candidates:
                    continue
                grown = state.onto(state.shape.with_names([child]))
                node = grown.shape.index[child]
                beta, bias, _ = descent.as_leaf(grown, node)
                grown = grown.with_node(node, beta, bias, 0.0)
                here = walk(grown, o.X) == node
                theta = split_point(o.score(grown, node)[here], np.ones(int(here.sum())), split_quantile)
                candidates[child] = grown.with_node(node, beta, bias, theta)
        values = {}
        for child, trained in candidates.items():
            joined = trained.onto(state.shape.with_names([child]), state.onto(state.shape.with_names([child])))
            values[child] = criterion(predictions(joined, X))
        if not values or min(values.values()) >= best:
            return state
        chosen = min(values, key=lambda child: (values[child], child))
        state = candidates.pop(chosen).onto(
            state.shape.with_names([chosen]), state.onto(state.shape.with_names([chosen]))
        )
        best = values[chosen]


def criterion_of(
    name: Literal["auto", "loss", "ndcg@5", "precision@5"], problem: Problem, target: Target, constant: float
) -> Criterion:
    """A function from predictions of the validation rows to a number, where lower is better; 0 without rows.

    Args:
        name: see `TreeParameters`.
        problem: its query ids are used.
        target: the target.
        constant: added to every prediction.

    Raises:
        ValueError: the criterion is for rankings, and the task cannot be ranked.
    """
    wanted = ("ndcg@5" if problem.task == "ranking" else "loss") if name == "auto" else name
    part = problem.validation
    if not len(part):
        return lambda scores: 0.0
    if wanted == "loss":
        y, weights = target.y_validation - constant, target.weights_validation

        def loss(scores: Floats) -> float:
            return float(weights @ np.square(scores - y)) / len(y)

        return loss
    if problem.task not in ("ranking", "binary"):
        raise ValueError(f"criterion {wanted!r} is for rankings and two classes, not for a {problem.task} task")
    metric = ndcg_at if wanted == "ndcg@5" else precision_at
    rows = len(part)
    nothing = np.zeros((rows, problem.n_features), dtype=bool)

    def ranked(scores: Floats) -> float:
        free = np.zeros(rows)
        decisions = Decisions(nothing, score=scores)
        return -metric(Outcome(problem.task, part.y, decisions, free, free, free, query=part.query), 5)

    return ranked
