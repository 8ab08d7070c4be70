"""The policy of a decision tree: a row acquires the features that are tested on its path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows
from bench_cost_trees.tree import Tree

__all__ = ["TreePolicy"]


@dataclass(frozen=True, eq=False)
class TreePolicy(Policy):
    """A tree as a policy; class probabilities are the leaf's class frequencies with Laplace smoothing.

    Attributes:
        tree: the pruned tree.
        feature_of_column: int64 (columns,): the feature of each column.
        features: number of features.
    """

    tree: Tree
    feature_of_column: NDArray[np.int64]
    features: int
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        leaf, met = self.tree.route(rows.X)
        acquired = np.zeros((len(rows), self.features), dtype=bool)
        for some, column in met:
            acquired[some, self.feature_of_column[column]] = True
        counts = self.tree.counts + 1.0
        return Decisions(acquired, probabilities=(counts / counts.sum(axis=1, keepdims=True))[leaf])

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The feature of the first test on each row's path that is not known."""
        column = self.tree.next_column(rows.X, known[:, self.feature_of_column])
        wanted = np.zeros_like(known)
        asks = np.flatnonzero(column >= 0)
        wanted[asks, self.feature_of_column[column[asks]]] = True
        return wanted

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes; a row buys what its path tests."""
        tree, counts = self.tree, self.tree.counts + 1.0
        shares = counts / counts.sum(axis=1, keepdims=True)
        nodes: list[dict[str, Any]] = [
            {"value": shares[node].tolist()}
            if tree.column[node] < 0
            else {
                "column": int(tree.column[node]),
                "threshold": float(tree.threshold[node]),
                "left": int(tree.left[node]),
                "right": int(tree.left[node]) + 1,
                "missing": int(tree.left[node]) + (not tree.missing_left[node]),
            }
            for node in range(len(tree))
        ]
        return {"features": None, "model": {"kind": "tree", "single": False, "nodes": nodes}}
