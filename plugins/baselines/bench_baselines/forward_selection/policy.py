"""A fixed set of features, acquired for every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows

if TYPE_CHECKING:
    from bench_baselines.forward_selection.models import Model
    from bench_baselines.forward_selection.search import Subset

__all__ = ["SubsetPolicy"]


@dataclass(frozen=True, eq=False)
class SubsetPolicy(Policy):
    """Acquire the set, run its model once."""

    model: Model
    n_features: int
    features: Subset
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        from bench_models.linear import ClassModel, ScoreModel

        acquired = np.tile(self._set, (len(rows), 1))
        model = self.model
        if not isinstance(model, ClassModel) and (isinstance(model, ScoreModel) or not model.n_classes):
            return Decisions(acquired, score=model.score(rows.X))
        return Decisions(acquired, probabilities=model.probabilities(rows.X))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """All unknown features of the set."""
        return np.asarray(self._set & ~known)

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes."""
        return {"features": [int(feature) for feature in sorted(self.features)], "model": self.model.exported()}

    @property
    def _set(self) -> NDArray[np.bool_]:
        """Whether each feature is in the set: bool (features,)."""
        inside = np.zeros(self.n_features, dtype=bool)
        inside[list(self.features)] = True
        return inside
