"""The policy: acquire a row's features one by one, then classify it."""

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
"""Number of rows that a thread processes at a time."""


@dataclass(frozen=True, eq=False)
class OraclePolicy(Policy):
    """The acquisition conditioned oracle at one λ.

    Attributes:
        oracle: the fitted look-ahead.
        answer: the classifier of the final answer; None uses the look-ahead's naive Bayes predictor.
        lambda_: trade-off λ, in nats per price of all features.
        neighbours: number k of nearest training rows.
        threads: most threads that decide rows in parallel.
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
        """The first feature of each row that the look-ahead needs and that is not known."""
        _, feature = self._acquired(rows, np.array(known))
        return np.asarray(feature[:, None] == np.arange(known.shape[1]))

    def _acquired(self, rows: Rows, held: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Features acquired among those in `held`, and the first one needed outside it; see `kernels.acquire`."""
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
