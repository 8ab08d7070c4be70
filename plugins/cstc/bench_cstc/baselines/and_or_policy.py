"""A fitted AND-OR cascade: which rows go on to the next stage, what they pay, and the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.answers import Answer
from bench_models.columns import PlainColumns
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows, next_of_stages
from bench_cstc.baselines.and_or_fit import SeveralBoostings, TrainingContext
from bench_cstc.baselines.and_or_loss import Fit
from bench_cstc.walker import weighted_sum

__all__ = ["Cascade", "CascadePolicy"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cascade:
    """Fitted stages on the columns' own scale.

    Attributes:
        columns: the columns that the stages weight.
        weights, bias: float64 (stages, columns), (stages,).
        paid: bool (stages, columns): columns computed for a row that leaves at a stage.
        features: bool (stages, features): features acquired by such a row.
    """

    columns: PlainColumns | SeveralBoostings
    weights: Floats
    bias: Floats
    paid: NDArray[np.bool_]
    features: NDArray[np.bool_]

    @classmethod
    def of(cls, base: TrainingContext, fit: Fit, n_features: int) -> Cascade:
        """Build the cascade from weights on standardised columns."""
        weights = fit.weights / base.scale
        bias = np.array([b - w @ base.shift for w, b in zip(weights, fit.bias, strict=True)])
        paid = np.logical_or.accumulate(weights != 0, axis=0)
        features = np.zeros((len(weights), n_features), dtype=bool)
        for k, columns in enumerate(paid):
            for t in np.flatnonzero(columns):
                features[k, base.columns.features_of[t]] = True
        return cls(base.columns, weights, bias, paid, features)

    def __call__(self, phi: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Smallest score over the stages that each row reaches, and the stage at which it leaves, from 0: (rows,) each.

        Args:
            phi: float64 (rows, columns).
        """
        score = np.full(len(phi), np.inf)
        stage = np.full(len(phi), len(self.bias) - 1, dtype=np.int64)
        here = np.arange(len(phi))
        for k in range(len(self.bias)):
            outputs = weighted_sum(phi[here], self.weights[k], float(self.bias[k]))
            score[here] = np.minimum(score[here], outputs)
            on = outputs > 0
            stage[here[~on]] = k
            here = here[on]
        return score, stage


@dataclass(frozen=True, eq=False)
class CascadePolicy(Policy):
    """The policy of one λ.

    Attributes:
        cascade: the stages.
        answer: converts scores to decisions.
    """

    cascade: Cascade
    answer: Answer
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        """Run stage after stage until a score is not positive."""
        columns = self.cascade.columns
        score, stage = self.cascade(columns.values(rows.X))
        evaluations, cost = (stage + 1).astype(np.float64), None
        if columns.evaluation is not None:
            evaluations = self.cascade.paid.sum(axis=1).astype(np.float64)[stage]
            cost = (self.cascade.paid @ columns.evaluation)[stage]
        return self.answer([score], self.cascade.features[stage], stage + 1, evaluations, cost)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The unknown features that the next stage reads."""
        left_at = self.cascade(self.cascade.columns.values(rows.X))[1]
        return next_of_stages(self.cascade.features, left_at, known)
