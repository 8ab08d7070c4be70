"""Boosted trees as flat arrays, shared by all policies that use a prefix of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.trees import NAN_LEFT, NAN_RIGHT, AdditiveTrees, FlatTrees
from numpy.typing import NDArray

from bench_greedymiser.bins import Bins
from bench_greedymiser.tree import Tree

__all__ = ["Ensemble", "Growing"]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Rounds of trees, in the order of growing.

    Attributes:
        start: float64 (outputs,): scores before the first tree.
        trees: one tree per round and output.
        used: bool (rounds + 1, features): row r marks the features in the trees of the first r rounds.
    """

    start: NDArray[np.float64]
    trees: AdditiveTrees
    used: NDArray[np.bool_]

    @property
    def outputs(self) -> int:
        """Number of trees of a round."""
        return len(self.start)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.used) - 1

    def empty(self, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """State before the first round: start scores (rows, outputs), and no feature acquired (rows, features)."""
        return np.tile(self.start, (rows, 1)), np.zeros((rows, self.used.shape[1]), dtype=bool)

    def advance(
        self, X: NDArray[np.float64], first: int, last: int, scores: NDArray[np.float64], acquired: NDArray[np.bool_]
    ) -> None:
        """Run rounds ``first`` … ``last − 1``, updating scores and acquired features in place.

        Args:
            X: float64 (rows, columns).
            first: first round to run, from 0.
            last: round after the last one to run.
            scores: float64 (rows, outputs): the trees' predictions are added.
            acquired: bool (rows, features): the features on each row's paths are marked.

        Raises:
            ValueError: the number of columns differs from that of the training rows.
        """
        self.trees.advance(X, first * self.outputs, last * self.outputs, scores, acquired)


@dataclass
class Growing:
    """Builder of an ensemble."""

    start: NDArray[np.float64]
    feature_of_column: NDArray[np.int64]
    bins: Bins
    trees: list[tuple[Tree, NDArray[np.float64]]] = field(default_factory=list)
    used: list[NDArray[np.bool_]] = field(default_factory=list)

    def finish(self) -> Ensemble:
        """Return the ensemble, with its trees as flat arrays."""
        sizes = [len(tree.column) for tree, _ in self.trees]
        roots = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)

        def flat(parts: list[NDArray[Any]], kind: type) -> NDArray[Any]:
            return np.concatenate([np.zeros(0, dtype=kind), *parts]).astype(kind)

        column = flat([tree.column for tree, _ in self.trees], np.int32)
        cut = flat([tree.cut for tree, _ in self.trees], np.int64)
        left = flat([tree.left + root for (tree, _), root in zip(self.trees, roots, strict=False)], np.int32)
        missing_left = flat([tree.missing_left for tree, _ in self.trees], np.bool_)
        used = np.array(self.used)
        flat_trees = FlatTrees(
            root=roots[:-1],
            column=column,
            threshold=np.where(column >= 0, self.bins.thresholds[column, cut], np.nan),
            left=left,
            missing=np.where(missing_left, NAN_LEFT, NAN_RIGHT).astype(np.int8),
            value=flat([value for _, value in self.trees], np.float64)[:, None],
            unit_of_column=np.require(self.feature_of_column, requirements="W"),
        )
        trees = AdditiveTrees(flat_trees, len(self.start), used.shape[1])
        return Ensemble(self.start, trees, used)
