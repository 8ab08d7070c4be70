"""A fixed set of features, acquired for every row; one model, or the weighted mean of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.boosting import BoostedModel
from bench_models.linear import ClassModel, ScoreModel
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows

__all__ = ["BlendPolicy", "Linear", "answers"]

Linear = ClassModel | ScoreModel


def answers(model: BoostedModel | Linear, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return class probabilities, float64 (rows, classes), or values, float64 (rows,).

    A linear model reads a missing value as 0, the mean of an encoded column.
    """
    if not isinstance(model, BoostedModel):
        X = np.where(np.isnan(X), 0.0, X)
    if isinstance(model, ScoreModel) or (isinstance(model, BoostedModel) and not model.n_classes):
        return model.score(X)
    return model.probabilities(X)


@dataclass(frozen=True, eq=False)
class BlendPolicy(Policy):
    """Acquire the set; answer the weighted mean of the boosted and the linear model.

    Attributes:
        boosted, linear: the models; None where its weight is 0.
        weight: of the boosted model, from 0 to 1.
        n_features: number of features of the problem.
        features: the set, ascending.
        classes: whether the answers are probabilities.
    """

    boosted: BoostedModel | None
    linear: Linear | None
    weight: float
    n_features: int
    features: tuple[int, ...]
    classes: bool
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.tile(self._set, (len(rows), 1))
        answer: Any = 0.0
        for model, weight in ((self.boosted, self.weight), (self.linear, 1.0 - self.weight)):
            if model is not None:
                answer = answer + weight * answers(model, rows.X)
        run = np.full(len(rows), float((self.boosted is not None) + (self.linear is not None)))
        if self.classes:
            return Decisions(acquired, probabilities=answer, evaluations=run)
        return Decisions(acquired, score=answer, evaluations=run)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The whole set at once."""
        return np.asarray(self._set & ~known)

    @property
    def _set(self) -> NDArray[np.bool_]:
        """Whether each feature is in the set: bool (features,)."""
        inside = np.zeros(self.n_features, dtype=bool)
        inside[list(self.features)] = True
        return inside
