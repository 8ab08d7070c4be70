"""A prefix of an ensemble as a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.trees import next_units
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows
from bench_greedymiser.calibrate import Link
from bench_greedymiser.ensemble import Ensemble

__all__ = ["PrefixPolicy"]


@dataclass(frozen=True, eq=False)
class PrefixPolicy(Policy):
    """The first rounds of an ensemble.

    Attributes:
        ensemble: shared with the other prefixes.
        rounds: how many rounds are run.
        link: scores → probabilities; None where a score is wanted.
        whole: every row acquires all features of the prefix, not only those on its own paths.
    """

    ensemble: Ensemble
    rounds: int
    link: Link | None
    whole: bool
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        scores, acquired = self.ensemble.empty(len(rows))
        self.ensemble.advance(rows.X, 0, self.rounds, scores, acquired)
        return self.decided(scores, acquired)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """In every tree of the prefix the first test on the row's way whose feature is not known; or all of them."""
        if self.whole:
            return np.asarray(self.ensemble.used[self.rounds] & ~known)
        return next_units(self.ensemble.trees.flat, rows.X, known, self.rounds * self.ensemble.outputs)

    def decided(self, scores: NDArray[np.float64], acquired: NDArray[np.bool_]) -> Decisions:
        """Decisions from the scores of this prefix (rows, outputs) and what the rows' paths read."""
        if self.whole:
            acquired = np.tile(self.ensemble.used[self.rounds], (len(scores), 1))
        evaluations = np.full(len(scores), float(self.rounds * self.ensemble.outputs))
        if self.link is None:
            return Decisions(acquired, score=scores[:, 0], evaluations=evaluations)
        return Decisions(acquired, probabilities=self.link.probabilities(scores), evaluations=evaluations)
