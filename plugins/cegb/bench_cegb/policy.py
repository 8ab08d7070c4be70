"""A boosted forest as a policy: every row pays for the features on its own paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_boosted import AdditiveTrees
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows

__all__ = ["ForestPolicy", "probabilities_of"]


def probabilities_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """LightGBM's link: sigmoid of one output, softmax of several; float64 (rows, classes)."""
    if scores.shape[1] > 1:
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        table: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return table
    small = np.exp(-np.abs(scores[:, 0]))
    second = np.where(scores[:, 0] >= 0, 1.0, small) / (1.0 + small)
    return np.column_stack([1.0 - second, second])


@dataclass(frozen=True, eq=False)
class ForestPolicy(Policy):
    """All trees of a forest, walked.

    Attributes:
        trees: the trees.
        classes: whether probabilities are wanted, not a score.
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
