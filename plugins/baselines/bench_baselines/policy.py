"""All features acquired, one LightGBM model run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.boosting import BoostedModel
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows

__all__ = ["FullPolicy"]


@dataclass(frozen=True, eq=False)
class FullPolicy(Policy):
    """Acquire all features and decide once; ``evaluations`` counts the trees."""

    model: BoostedModel
    n_features: int
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.ones((len(rows), self.n_features), dtype=bool)
        evaluations = np.full(len(rows), float(self.model.trees))
        if not self.model.n_classes:
            return Decisions(acquired, score=self.model.score(rows.X), evaluations=evaluations)
        return Decisions(acquired, probabilities=self.model.probabilities(rows.X), evaluations=evaluations)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Everything at once."""
        return ~known

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes."""
        return {"features": list(range(self.n_features)), "model": self.model.exported()}
