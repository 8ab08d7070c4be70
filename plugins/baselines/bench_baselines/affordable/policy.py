"""A fixed set of features, acquired for every row; the weighted mean of models that read parts of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.boosting import BoostedModel
from bench_models.linear import ClassModel, ScoreModel
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows

__all__ = ["Linear", "Member", "StackPolicy", "answers"]

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
class Member:
    """A model of a stack.

    Attributes:
        model: reads the columns of its features only.
        features: ascending.
        weight: above 0.
    """

    model: BoostedModel | Linear
    features: tuple[int, ...]
    weight: float


@dataclass(frozen=True, eq=False)
class StackPolicy(Policy):
    """Acquire every feature that a member reads; answer with the weighted mean of the members.

    Attributes:
        members: the models; their weights add up to 1.
        n_features: number of features of the problem.
        classes: whether the answers are probabilities.
    """

    members: tuple[Member, ...]
    n_features: int
    classes: bool
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def features(self) -> tuple[int, ...]:
        """The features that are acquired, ascending."""
        return tuple(sorted({feature for member in self.members for feature in member.features}))

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.tile(self._set, (len(rows), 1))
        answer: Any = 0.0
        for member in self.members:
            answer = answer + member.weight * answers(member.model, rows.X)
        run = np.full(len(rows), float(len(self.members)))
        if self.classes:
            return Decisions(acquired, probabilities=answer, evaluations=run)
        return Decisions(acquired, score=answer, evaluations=run)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """All unknown features of the set."""
        return np.asarray(self._set & ~known)

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes."""
        models = [member.model.exported() for member in self.members]
        weights = [member.weight for member in self.members]
        return {"features": list(self.features), "model": {"kind": "mean", "weights": weights, "models": models}}

    @property
    def _set(self) -> NDArray[np.bool_]:
        """Whether each feature is acquired: bool (features,)."""
        inside = np.zeros(self.n_features, dtype=bool)
        inside[list(self.features)] = True
        return inside
