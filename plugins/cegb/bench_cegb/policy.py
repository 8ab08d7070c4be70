"""The policy of a boosted forest: every row pays for the features on its own paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.boosting import probabilities_of
from bench_models.trees import AdditiveTrees, next_units
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows

__all__ = ["ForestPolicy"]


@dataclass(frozen=True, eq=False)
class ForestPolicy(Policy):
    """A boosted forest as a policy.

    Attributes:
        trees: the trees.
        classes: whether decisions are class probabilities and not a score.
    """

    trees: AdditiveTrees
    classes: bool
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        scores, acquired = self.trees.run(rows.X)
        evaluations = np.full(len(rows), float(self.trees.trees))
        if not self.classes:
            return Decisions(acquired, score=scores[:, 0], evaluations=evaluations)
        return Decisions(acquired, probabilities=probabilities_of(scores), evaluations=evaluations)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For every tree, the feature of the first test on the row's path that is not known."""
        return next_units(self.trees.flat, rows.X, known)
