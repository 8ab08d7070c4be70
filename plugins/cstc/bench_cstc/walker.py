"""Walking rows down a fitted tree, acquiring features as they go; policies of one tree or of one per class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.columns import Columns
from bench_models.linear import Platt, combine
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows, next_of_stages
from bench_cstc.objective import State

__all__ = ["TreePolicy", "Walker", "weighted_sum"]

Floats = NDArray[np.float64]


def weighted_sum(X: Floats, beta: Floats, bias: float) -> Floats:
    """``X β + bias`` over the nonzero weights, column by column, so that a row's sum is the same in any batch."""
    out = np.full(len(X), bias)
    for t in np.flatnonzero(beta):
        out += beta[t] * X[:, t]
    return out


@dataclass(frozen=True, eq=False)
class Walker:
    """A fitted tree, ready to decide.

    Attributes:
        columns: the columns of its classifiers.
        state: weights and thresholds that decide the path.
        beta, bias: float64 (nodes, columns), (nodes,): weights that predict.
        paid: bool (nodes, columns): columns computed for a row that leaves at a node.
        features: bool (nodes, features): features acquired by such a row.
        constant: added to every prediction.
    """

    columns: Columns
    state: State
    beta: Floats
    bias: Floats
    paid: NDArray[np.bool_]
    features: NDArray[np.bool_]
    constant: float = 0.0

    @classmethod
    def of(
        cls, columns: Columns, state: State, beta: Floats, bias: Floats, n_features: int, constant: float = 0.0
    ) -> Walker:
        """Build the walker. An exit's features are those of the classifiers on its path that decide or predict."""
        shape = state.shape
        paid = np.zeros((len(shape), state.beta.shape[1]), dtype=bool)
        for k in range(len(shape)):
            for j in shape.path(k):
                if not shape.is_leaf(j):
                    paid[k] |= state.beta[j] != 0
            paid[k] |= beta[k] != 0
        features = np.zeros((len(shape), n_features), dtype=bool)
        for k in range(len(shape)):
            for t in np.flatnonzero(paid[k]):
                features[k, columns.features_of[t]] = True
        return cls(columns, state, beta, bias, paid, features, constant)

    def __call__(self, phi: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Predictions and exits.

        Args:
            phi: float64 (rows, columns): `Columns.values` of the rows.

        Returns:
            float64 (rows,); and int64 (rows,), the node at which each row leaves.
        """
        shape = self.state.shape
        at = np.zeros(len(phi), dtype=np.int64)
        score = np.zeros(len(phi))
        for k in range(len(shape)):
            here = np.flatnonzero(at == k)
            if not len(here):
                continue
            rows = phi[here]
            if not shape.is_leaf(k):
                up = weighted_sum(rows, self.state.beta[k], float(self.state.bias[k])) > self.state.theta[k]
                for child, chosen in ((shape.upper(k), up), (shape.lower(k), ~up)):
                    if child >= 0:
                        at[here[chosen]] = child
                here = here[at[here] == k]
                rows = phi[here]
            score[here] = weighted_sum(rows, self.beta[k], float(self.bias[k])) + self.constant
        return score, at

    def next_features(self, phi: Floats, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The features of the first node on each row's path whose features are not all known.

        Args:
            phi: as for `__call__`; entries computed from unknown values do not matter.
            known: bool (rows, features).
        """
        wanted = np.zeros_like(known)
        at = self(phi)[1]
        for exit in np.unique(at).tolist():
            rows = np.flatnonzero(at == exit)
            path = self._read_along(exit)
            wanted[rows] = next_of_stages(path, np.full(len(rows), len(path) - 1), known[rows])
        return wanted

    def _read_along(self, exit: int) -> NDArray[np.bool_]:
        """bool (nodes on the path, features): features read after each node on the path to an exit."""
        read = np.zeros((0, self.features.shape[1]), dtype=bool)
        so_far = np.zeros(self.features.shape[1], dtype=bool)
        shape = self.state.shape
        for node in shape.path(exit):
            if not shape.is_leaf(node):
                so_far = so_far.copy()
                for column in np.flatnonzero(self.state.beta[node]):
                    so_far[self.columns.features_of[column]] = True
                read = np.vstack([read, so_far])
        return np.vstack([read, self.features[exit]])


@dataclass(frozen=True, eq=False)
class TreePolicy(Policy):
    """The policy of one λ: one tree, or one per class with normalised sigmoids.

    Attributes:
        walkers: the trees.
        sigmoids: one per tree for classification; empty for scores.
        present: class codes of the trees (or the two classes of a single one).
        n_classes: number of classes; 0 for regression and ranking.

    ``evaluations`` counts classifiers visited, or (trees as features) trees evaluated.
    """

    walkers: tuple[Walker, ...]
    n_classes: int
    sigmoids: tuple[Platt, ...] = ()
    present: tuple[int, ...] = ()
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        """Send every row down every tree; raises ValueError if a value that a classifier reads is missing."""
        n = len(rows)
        acquired = np.zeros((n, self.walkers[0].features.shape[1]), dtype=bool)
        stage = np.ones(n, dtype=np.int64)
        evaluations, price = np.zeros(n), np.zeros(n)
        columns, plain = [], False
        phi, read = np.empty(0), None
        for walker in self.walkers:
            if walker.columns is not read:  # trees of several classes read the same columns
                phi, read = walker.columns.values(rows.X), walker.columns
            score, at = walker(phi)
            if np.isnan(score).any():
                raise ValueError("a value that a classifier reads is missing")
            columns.append(score)
            acquired |= walker.features[at]
            depth = np.array([walker.state.shape.depth(k) for k in range(len(walker.state.shape))])
            stage = np.maximum(stage, depth[at])
            if walker.columns.evaluation is None:
                plain = True
                evaluations += depth[at]
            else:
                evaluations += walker.paid.sum(axis=1)[at]
                price += (walker.paid @ walker.columns.evaluation)[at]
        cost = None if plain else price
        if not self.n_classes:
            return Decisions(acquired, score=columns[0], stage=stage, evaluations=evaluations, evaluation_cost=cost)
        chances = [sigmoid(score) for sigmoid, score in zip(self.sigmoids, columns, strict=True)]
        table = combine(chances, list(self.present), self.n_classes)
        score_of = columns[0] if len(columns) == 1 else None
        return Decisions(acquired, table, score_of, stage, evaluations, cost)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The features that any tree needs next."""
        wanted = np.zeros_like(known)
        for walker in self.walkers:
            wanted |= walker.next_features(walker.columns.values(rows.X), known)
        return wanted
