"""The policy: gate and cheap model read their features of every row; rows that are sent on buy the accurate model's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from bench_models.boosting import BoostedModel, probabilities_of
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows, next_of_stages

__all__ = ["GatedPolicy", "Pair"]


class Pair(Protocol):
    """A cheap model with a gate."""

    def outputs(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the cheap model and of the gate: float64 (rows, outputs + 1)."""


@dataclass(frozen=True, eq=False)
class GatedPolicy(Policy):
    """A pair before an accurate model.

    Attributes:
        pair: cheap model and gate.
        accurate: the accurate model.
        acquired: bool (2, features): features acquired by a row that is answered by the cheap model, and by the
            accurate one.
        prior: float64 (classes,): class frequencies, the answer of a row that may not buy the gate's features.
    """

    pair: Pair
    accurate: BoostedModel
    acquired: NDArray[np.bool_]
    prior: NDArray[np.float64]
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        outputs = self.pair.outputs(rows.X)
        sent = outputs[:, -1] > 0
        table = probabilities_of(np.ascontiguousarray(outputs[:, :-1]))
        table[sent] = self.accurate.probabilities(rows.X[sent])
        return Decisions(self.acquired[sent.astype(np.int64)], table, stage=1 + sent.astype(np.int64))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The features of the cheap model and the gate, then those of the accurate model where the gate sends a row."""
        sent = self.pair.outputs(rows.X)[:, -1] > 0
        return next_of_stages(self.acquired, sent.astype(np.int64), np.asarray(known))

    def decide_known(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        """Answer by the best model whose features are known; by the class frequencies if there is none."""
        table = np.tile(self.prior, (len(rows), 1))
        cheap = ~(self.acquired[0] & ~known).any(axis=1)
        outputs = self.pair.outputs(rows.X[cheap])
        table[cheap] = probabilities_of(np.ascontiguousarray(outputs[:, :-1]))
        complete = cheap & ~(self.acquired[1] & ~known).any(axis=1)
        complete[cheap] &= outputs[:, -1] > 0
        table[complete] = self.accurate.probabilities(rows.X[complete])
        return Decisions(np.array(known), table)
