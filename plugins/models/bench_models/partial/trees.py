"""LightGBM on rows with random features hidden: a predictor from any set of known features.

The thresholds of the splits are random, one per column and node (extremely randomised trees: Geurts, Ernst, Wehenkel
2006, §2.1, with K = all columns). They reduce overfitting to the copies, which repeat the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Part, Problem
from bench_models.boosting import flat_trees, objective_of, probabilities_of, train
from bench_models.partial.masks import Candidates, hidden, random_masks
from bench_models.threads import run_ranges
from bench_models.trees import AdditiveTrees, FlatTrees

__all__ = ["MaskedTrees", "fit_masked_trees"]

_BLOCK = 64


@dataclass(frozen=True, eq=False)
class MaskedTrees:
    """Boosted trees that treat unknown values as missing.

    Attributes:
        flat: the trees, round by round.
        n_classes: number of classes.
        threads: maximum number of threads for scoring candidate sets.
    """

    flat: FlatTrees
    n_classes: int
    threads: int = 1

    @cached_property
    def _additive(self) -> AdditiveTrees:
        outputs = self.n_classes if self.n_classes > 2 else 1
        return AdditiveTrees(self.flat, outputs, int(self.flat.unit_of_column.max()) + 1)

    @cached_property
    def _depth(self) -> int:
        depth = np.zeros(len(self.flat.column), dtype=np.int64)
        inner = np.flatnonzero(self.flat.column >= 0)
        for node in inner:  # children come after their parents
            for child in (self.flat.left[node], self.flat.left[node] + 1):
                depth[child] = depth[node] + 1
        return int(depth.max(initial=0))

    def probabilities(self, X: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Class probabilities; see `PartialPredictor`."""
        scores, _ = self._additive.run(hidden(X, known, self.flat.unit_of_column))
        return probabilities_of(scores)

    def set_losses(
        self, X: NDArray[np.float64], y: NDArray[np.int64], known: NDArray[np.bool_], candidates: Candidates
    ) -> NDArray[np.float64]:
        """Log losses of rows with each candidate set; see `bench_models.partial.set_losses`."""
        from bench_models.partial._kernels import losses_of_sets

        with_none = Candidates(np.vstack([np.zeros((1, candidates.member.shape[1]), dtype=bool), candidates.member]))
        return self._losses(losses_of_sets, X, y, known, with_none.bits, len(with_none))

    def removal_losses(
        self, X: NDArray[np.float64], y: NDArray[np.int64], known: NDArray[np.bool_], part: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Log losses of rows with their own sets, then without each part; see `bench_models.partial.removal_losses`."""
        from bench_models.partial._kernels import losses_of_removals

        return self._losses(losses_of_removals, X, y, known, np.ascontiguousarray(part), 2 + int(part.max(initial=-1)))

    def _losses(
        self, kernel: Callable[..., None], X: NDArray[np.float64], y: NDArray[np.int64], known: NDArray[np.bool_],
        sets: NDArray[Any], width: int,
    ) -> NDArray[np.float64]:  # fmt: skip
        X, known, losses = np.ascontiguousarray(X), np.ascontiguousarray(known), np.empty((len(X), width))

        def work(start: int, stop: int) -> None:
            kernel(self.flat, self._depth, X, y, known, sets, self.n_classes, start, stop, losses)

        run_ranges(work, len(X), self.threads, _BLOCK)
        return losses


def fit_masked_trees(
    problem: Problem,
    unit_of_feature: NDArray[np.int64],
    *,
    copies: int,
    n_estimators: int,
    max_leaf_nodes: int,
    learning_rate: float,
    min_samples_leaf: int,
    masks: NDArray[np.bool_] | None = None,
) -> MaskedTrees:
    """Train on masked copies of the training rows; each copy knows a uniformly drawn number of random units.

    Args:
        problem: its training part, seed and threads are used; binary or multiclass.
        unit_of_feature: int64 (features,): features of one unit are known together.
        copies: number of masked copies of each row.
        n_estimators, max_leaf_nodes, learning_rate: boosting rounds, and LightGBM's ``num_leaves``, ``learning_rate``.
        min_samples_leaf: fewest training rows of a leaf; multiplied by the number of copies.
        masks: bool (copies, rows, features): further copies, with these features known.
    """
    part, rows = problem.train, len(problem.train)
    rng = problem.rng("partial", "masks")
    drawn = random_masks(rng, copies * rows, unit_of_feature).reshape(copies, rows, -1)
    known = drawn if masks is None else np.concatenate([drawn, masks])
    settings = {
        **objective_of(problem, "pointwise"),
        "num_leaves": max_leaf_nodes,
        "learning_rate": learning_rate,
        "min_data_in_leaf": max(1, min_samples_leaf * len(known)),
        "extra_trees": True,
    }
    X = np.concatenate([hidden(part.X, mask, problem.feature_of_column) for mask in known])
    booster = train(replace(problem, train=Part(X, np.tile(part.y, len(known)))), n_estimators, settings)
    return MaskedTrees(flat_trees(booster, problem.feature_of_column), problem.n_classes, problem.threads)
