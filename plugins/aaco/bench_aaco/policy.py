"""A row's features are acquired one by one, then it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.boosting import BoostedModel
from bench_models.threads import run_ranges
from numpy.typing import NDArray

from bench_aaco.answers import masked
from bench_aaco.oracle import Oracle
from bench_core import Decisions, Policy, Rows

__all__ = ["OraclePolicy"]

_BLOCK = 256
"""Rows that a thread takes at a time."""


@dataclass(frozen=True, eq=False)
class OraclePolicy(Policy):
    """The acquisition conditioned oracle at one λ.

    Attributes:
        oracle: the look-ahead.
        answer: what answers in the end; None: the look-ahead's own predictor.
        lambda_: trade-off.
        neighbours: k.
        threads: how many threads may decide rows.
    """

    oracle: Oracle
    answer: BoostedModel | None
    lambda_: float
    neighbours: int
    threads: int = 1
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        oracle = self.oracle
        acquired, _ = self._acquired(rows, np.zeros((0, oracle.features), dtype=bool))
        if self.answer is None:
            return Decisions(acquired, oracle.naive_bayes(rows.X, acquired))
        known = masked(rows.X, acquired, oracle.feature_of_column)
        return Decisions(acquired, self.answer.probabilities(known))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What the look-ahead acquires after what is known."""
        _, feature = self._acquired(rows, np.array(known))
        return np.asarray(feature[:, None] == np.arange(known.shape[1]))

    def _acquired(self, rows: Rows, held: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """What the look-ahead acquires of what is there, and the first feature that is not, see `kernels.acquire`."""
        from bench_aaco.kernels import acquire

        oracle = self.oracle
        Z = oracle.bins.standardised(rows.X)
        acquired = np.zeros((len(rows), oracle.features), dtype=bool)
        wanted = np.full(len(rows), -1, dtype=np.int64)
        first = oracle.first(self.lambda_)

        def work(start: int, stop: int) -> None:
            acquire(oracle.look, self.lambda_, self.neighbours, first, Z, start, stop, acquired, held, wanted)

        run_ranges(work, len(rows), self.threads, _BLOCK)
        return acquired, wanted
