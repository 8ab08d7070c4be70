"""A forest that decides: rows walk through the trees and pay for what they meet."""

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
    """Mean of the leaf distributions (BUDGETPRUNE Algorithm 1, steps 5–6); the tests on the way are acquired.

    Args:
        forest: the trees, already pruned.
        features: number of features of the problem.
        ranks: the score is the probability of class 1, and no probabilities are given (for ranking).
        label, details: see `bench_core.Policy`.
        threads: how many threads a decision may use.
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
        """Trees that test anything: the base models a row runs."""

    def decide(self, rows: Rows) -> Decisions:
        from bench_models.forest import walk

        acquired, shares = walk.decide(self.forest.walked[0], rows.X, self.features, self.threads)
        evaluations = np.full(len(rows), float(self.tests))
        if self.ranks:
            return Decisions(acquired, score=np.ascontiguousarray(shares[:, 1]), evaluations=evaluations)
        return Decisions(acquired, probabilities=shares, evaluations=evaluations)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """In every tree the first test on the row's way whose feature is not known."""
        trees, _ = self.forest.walked
        return next_units(trees, rows.X, known)


def policy_types() -> list[type]:
    """What a saved policy of a forest holds, for a plugin's ``bench_policy_types``."""
    return [ForestPolicy, FlatForest, FlatTrees]
