"""The policy of a forest: rows walk through the trees and pay for the tests on their paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows
from bench_models.forest.flat import FlatForest
from bench_models.trees import FlatTrees, next_units

__all__ = ["ForestPolicy", "policy_types"]


class ForestPolicy(Policy):
    """Mean of the leaf distributions (BUDGETPRUNE Algorithm 1, steps 5–6); features tested on the paths are acquired.

    Args:
        forest: the trees, already pruned.
        features: number of features of the problem.
        ranks: for ranking: decisions have a score, the probability of class 1, instead of probabilities.
        label, details: see `bench_core.Policy`.
        threads: number of threads that a decision may use.
    """

    def __init__(
        self,
        forest: FlatForest,
        features: int,
        *,
        ranks: bool = False,
        label: str = "",
        details: Mapping[str, Any] | None = None,
        threads: int = 1,
    ) -> None:
        self.forest, self.features, self.ranks, self.threads = forest, features, ranks, threads
        self.label, self.details = label, dict(details or {})
        roots = forest.offsets[:-1]
        self.tests = int((forest.column[roots] >= 0).sum())
        """Number of trees with at least one test: the base models that a row runs."""

    def decide(self, rows: Rows) -> Decisions:
        from bench_models.forest import walk

        acquired, shares = walk.decide(self.forest.walked[0], rows.X, self.features, self.threads)
        evaluations = np.full(len(rows), float(self.tests))
        if self.ranks:
            return Decisions(acquired, score=np.ascontiguousarray(shares[:, 1]), evaluations=evaluations)
        return Decisions(acquired, probabilities=shares, evaluations=evaluations)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For every tree, the feature of the first test on the row's path that is not known."""
        trees, _ = self.forest.walked
        return next_units(trees, rows.X, known)


def policy_types() -> list[type]:
    """The types that a saved policy of a forest contains, for a plugin's ``bench_policy_types``."""
    return [ForestPolicy, FlatForest, FlatTrees]
