"""ADAPT-GBRT: boosted trees for the cheap model and the gate; a new feature must pay for itself (Algorithm 2).

Both grow in one LightGBM model with separate outputs, so that a feature that either has read is free for both. The
penalty is LightGBM's coupled one of cost-efficient gradient boosting (Peter, Diego, Hamprecht, Nadler 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from bench_models.boosting import flat_trees, train
from bench_models.trees import AdditiveTrees, FlatTrees
from numpy.typing import NDArray

from bench_adapt.linear import gradients
from bench_core import Problem

__all__ = ["BoostedFitter", "BoostedPair", "least_constant"]

_LEAST = 1e-6
"""Least second derivative: a row whose share is 0 or 1 leaves one of the models without weight. Also the least share of
a class, and of rows that the gate keeps or sends on, in the constant that the trees start from."""


@dataclass(frozen=True, eq=False)
class BoostedPair:
    """A fitted pair.

    Attributes:
        flat: the trees; tree t adds to output t modulo the number of outputs, the gate's last.
        width: outputs of the cheap model: 1, or the number of classes.
        start: float64 (outputs + 1,): the scores of every row before the first tree.
    """

    flat: FlatTrees
    width: int
    start: NDArray[np.float64]

    @cached_property
    def _additive(self) -> AdditiveTrees:
        return AdditiveTrees(self.flat, self.width + 1, int(self.flat.unit_of_column.max()) + 1)

    @property
    def columns(self) -> NDArray[np.bool_]:
        """Columns that are read: bool (columns,)."""
        return np.isin(np.arange(len(self.flat.unit_of_column)), self.flat.column[self.flat.column >= 0])

    def outputs(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the cheap model and of the gate: float64 (rows, outputs + 1)."""
        return np.asarray(self._additive.run(X)[0] + self.start)


class BoostedFitter:
    """Fits pairs, each from scratch, from the constant of least loss (Friedman 2001, Algorithm 1, line 1).

    Args:
        problem: its training part.
        price: float64 (columns,): price of each column, as a share of the price of all features.
        gamma: γ, in nats per row for the price of all features.
        n_estimators, max_leaf_nodes, learning_rate, min_samples_leaf: parameters of LightGBM's trees.
    """

    def __init__(
        self,
        problem: Problem,
        price: NDArray[np.float64],
        gamma: float,
        n_estimators: int,
        max_leaf_nodes: int,
        learning_rate: float,
        min_samples_leaf: int,
    ) -> None:
        self.problem, self.n_estimators = problem, n_estimators
        self.width = 1 if problem.n_classes == 2 else problem.n_classes
        # LightGBM's gain of a split is twice the fall of the summed loss.
        penalty = 2.0 * gamma * len(problem.train) * price
        self.settings: dict[str, Any] = {
            "num_class": self.width + 1,
            "num_leaves": max_leaf_nodes,
            "learning_rate": learning_rate,
            "min_data_in_leaf": min_samples_leaf,
            "min_sum_hessian_in_leaf": 1e-3,
        }
        if penalty.any():
            self.settings["cegb_penalty_feature_coupled"] = penalty.tolist()

    def __call__(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        y = self.problem.train.y
        start = least_constant(y, q, self.problem.n_classes)

        def objective(outputs: NDArray[np.float64], _: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            outputs = outputs.reshape(len(y), -1) + start
            slope = gradients(outputs, y, q)
            scores, gate = outputs[:, :-1], outputs[:, -1]
            curve = np.empty_like(slope)
            if scores.shape[1] == 1:
                p = 1.0 / (1.0 + np.exp(-np.clip(scores, -500, 500)))
            else:
                p = np.exp(scores - scores.max(axis=1, keepdims=True))
                p /= p.sum(axis=1, keepdims=True)
            factor = 1.0 if scores.shape[1] == 1 else scores.shape[1] / (scores.shape[1] - 1.0)
            curve[:, :-1] = factor * (1 - q)[:, None] * p * (1 - p)
            sent = 1.0 / (1.0 + np.exp(-np.clip(gate, -500, 500)))
            curve[:, -1] = sent * (1 - sent)
            return slope, np.maximum(curve, _LEAST)

        booster = train(self.problem, self.n_estimators, {**self.settings, "objective": objective})
        self._pair = BoostedPair(flat_trees(booster, self.problem.feature_of_column), self.width, start)
        return self._pair.outputs(self.problem.train.X)

    def pair(self) -> BoostedPair:
        """The pair that was fitted last."""
        return self._pair


def least_constant(y: NDArray[np.int64], q: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return the scores of least loss that are the same for all rows: float64 (outputs + 1,), the gate's last.

    Args:
        y: int64 (rows,): classes.
        q: float64 (rows,): share of each row that is sent to the accurate model.
        n_classes: number of classes.
    """
    kept = np.bincount(y, 1.0 - q, minlength=n_classes)
    share = np.maximum(kept / max(float(kept.sum()), _LEAST), _LEAST)
    sent = min(max(float(q.mean()), _LEAST), 1.0 - _LEAST)
    scores = [np.log(share[1] / share[0])] if n_classes == 2 else np.log(share)
    return np.array([*scores, np.log(sent / (1.0 - sent))])
