"""Policies for tests of asking step by step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows, next_of_stages


class ByQuery(Policy):
    """Buys the second feature for all documents of a query except the one with the least first feature."""

    decision_scope = "query"

    def decide(self, rows: Rows) -> Decisions:
        query = np.zeros(len(rows)) if rows.query is None else rows.query
        least = np.array([rows.X[query == q, 0].min() for q in query])
        acquired = np.column_stack([np.ones(len(rows), dtype=bool), rows.X[:, 0] > least])
        return Decisions(acquired, score=rows.X[:, 0] + np.where(acquired[:, 1], rows.X[:, 1], 0.0))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        left = np.where(self.decide(rows).acquired[:, 1], 1, 0)
        return next_of_stages(np.array([[True, False], [True, True]]), left, known)
