"""The policy: acquire a row's features one by one, then classify it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from bench_models.remembered import FieldsOnly, RememberedRows, row_keys
from numpy.typing import NDArray

from bench_aaco.oracle import Oracle
from bench_core import Decisions, Policy, Rows

__all__ = ["OraclePolicy"]


@dataclass(frozen=True, eq=False)
class OraclePolicy(FieldsOnly, Policy):
    """The acquisition conditioned oracle at one λ.

    Attributes:
        oracle: the fitted look-ahead.
        lambda_: trade-off λ, in nats per price of all features.
        first: bool (features,): the unit that every row buys first; all False if nothing is bought.
    """

    oracle: Oracle
    lambda_: float
    first: NDArray[np.bool_]
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _remembered(self) -> RememberedRows:
        """Purchases by a row's known values, at most 16 MiB. The audit and caps ask for most of them again."""
        return RememberedRows(2**24)

    def decide(self, rows: Rows) -> Decisions:
        known = np.zeros((len(rows), self.oracle.features), dtype=bool)
        asking = np.arange(len(rows))
        while len(asking):
            wanted = self._wanted(rows.X[asking], known[asking])
            known[asking] |= wanted
            asking = asking[wanted.any(axis=1)]
        return self.decide_known(rows, known)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The next unit of each row, or nothing."""
        return self._wanted(rows.X, np.asarray(known))

    def _wanted(self, X: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        def compute(new: NDArray[np.int64]) -> NDArray[np.bool_]:
            return self.oracle.wanted(X[new], known[new], self.lambda_, self.first)

        shown = np.where(known[:, self.oracle.feature_of_column], X, 0.0)
        return self._remembered.of(row_keys(shown, known), compute)

    def decide_known(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        """Answer by the predictor, which takes any set of known features."""
        return Decisions(np.array(known), self.oracle.predictor.probabilities(rows.X, known))
