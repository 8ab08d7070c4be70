"""Stage-wise regression: trees fitted to the negative gradient, one after another (Xu et al. 2012, §3–4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_greedymiser.bins import Bins
from bench_greedymiser.ensemble import Ensemble, Growing
from bench_greedymiser.losses import Loss
from bench_greedymiser.prices import Penalties
from bench_greedymiser.tree import Spent, Tree, grow_compiled

__all__ = ["Boosted", "Grower", "boost"]

Grower = Callable[..., Tree]


@dataclass(frozen=True, eq=False)
class Boosted:
    """A grown ensemble and its training loss.

    Attributes:
        ensemble: the trees.
        losses: mean training loss after 0, 1, … rounds.
    """

    ensemble: Ensemble
    losses: list[float]


def boost(
    bins: Bins,
    feature_of_column: NDArray[np.int64],
    loss: Loss,
    penalties: Penalties,
    *,
    rounds: int,
    depth: int,
    learning_rate: float,
    least: int,
    newton: bool = False,
    grow: Grower = grow_compiled,
) -> Boosted:
    """Grow an ensemble.

    The trees of a round are fitted to the gradients at its start, in class order. Features that one class's tree
    acquires are free for the next. Boosting ends early at the first round in which no tree splits, because later
    rounds would only change constants.

    Args:
        bins: the binned training rows.
        feature_of_column: int64 (columns,): the feature of each column.
        loss: the loss, with the targets of the training rows.
        penalties: prices in the unit of a *mean* squared residual.
        rounds: most rounds.
        depth: most splits on a path.
        learning_rate: factor applied to each tree's prediction.
        least: fewest training rows of a leaf.
        newton: whether leaves predict a Newton step instead of the mean residual.
        grow: the tree grower: compiled, or the reference implementation in tests.

    Raises:
        ValueError: the scores diverged, because the learning rate is too large.
    """
    start = loss.start()
    rows = bins.codes.shape[1]
    scores = np.tile(start, (rows, 1))
    summed, spent = penalties.times(float(rows)), Spent.nothing(penalties)
    growing = Growing(start, feature_of_column, bins, used=[spent.used.copy()])
    losses = [loss.mean(scores)]
    for number in range(rounds):
        residual = loss.residual(scores)
        curvature = loss.curvature(scores) if newton else None
        trees: list[tuple[Tree, NDArray[np.float64]]] = []
        for output in range(loss.outputs):
            own = np.ascontiguousarray(residual[:, output])
            tree = grow(bins, feature_of_column, own, summed, spent, depth, least)
            weight = None if curvature is None else curvature[:, output]
            trees.append((tree, learning_rate * _leaves(tree, own, weight, loss.step)))
        if all(len(tree.column) == 1 for tree, _ in trees):
            break
        for output, (tree, value) in enumerate(trees):
            scores[:, output] += value[tree.node]
        with np.errstate(over="ignore", invalid="ignore"):
            losses.append(loss.mean(scores))
        if not np.isfinite(scores).all() or not np.isfinite(losses[-1]):
            raise ValueError(f"boosting diverged in round {number + 1}: learning_rate {learning_rate:g} is too large")
        growing.trees += trees
        growing.used.append(spent.used.copy())
    return Boosted(growing.finish(), losses)


def _leaves(
    tree: Tree, residual: NDArray[np.float64], curvature: NDArray[np.float64] | None, step: float
) -> NDArray[np.float64]:
    """Prediction of each leaf; 0 at inner nodes; float64 (nodes,)."""
    nodes = len(tree.column)
    top = np.asarray(np.bincount(tree.node, weights=residual, minlength=nodes), dtype=np.float64)
    below = np.asarray(np.bincount(tree.node, weights=curvature, minlength=nodes), dtype=np.float64)
    if curvature is not None:
        top = top * step
    value = np.zeros(nodes)
    np.divide(top, below, out=value, where=below > 1e-150)
    return value
