"""The policy of a prefix of an ensemble."""

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
    """The first rounds of an ensemble, as a policy.

    Attributes:
        ensemble: the ensemble, shared with the policies of other prefixes.
        rounds: number of rounds to run.
        link: link from scores to class probabilities; None for tasks with a score.
        whole: whether every row acquires all features of the prefix, and not only those on its own paths.
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
        """For every tree of the prefix, the feature of the first test on the row's path that is not known.

        With `whole`, all features of the prefix that are not known.
        """
        if self.whole:
            return np.asarray(self.ensemble.used[self.rounds] & ~known)
        return next_units(self.ensemble.trees.flat, rows.X, known, self.rounds * self.ensemble.outputs)

    def decided(self, scores: NDArray[np.float64], acquired: NDArray[np.bool_]) -> Decisions:
        """Decisions from this prefix's scores (rows, outputs) and the features on the rows' paths (rows, features)."""
        if self.whole:
            acquired = np.tile(self.ensemble.used[self.rounds], (len(scores), 1))
        evaluations = np.full(len(scores), float(self.rounds * self.ensemble.outputs))
        if self.link is None:
            return Decisions(acquired, score=scores[:, 0], evaluations=evaluations)
        return Decisions(acquired, probabilities=self.link.probabilities(scores), evaluations=evaluations)
