"""Policies of fitted linear models: acquire the features with nonzero coefficients, decide once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.linear import ClassModel, ScoreModel
from numpy.typing import NDArray

from bench_core import Decisions, Outcome, Part, Policy, Problem, Rows, outcome_of
from bench_lasso.families import Fitted

__all__ = ["LinearPolicy", "outcome_on", "policies_of"]

_DIGITS = 12
"""Decimals of a probability. Under the l1 penalty, two classes with equally many rows often have the same coefficients
but for rounding errors. Without them, the first of the two is answered, on every machine."""


@dataclass(frozen=True, eq=False)
class LinearPolicy(Policy):
    """One linear model on a fixed set of features.

    Attributes:
        features: indices of the features acquired for every row, in ascending order; may be empty.
    """

    n_features: int
    features: tuple[int, ...]
    model: ClassModel | ScoreModel
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        acquired[:, list(self.features)] = True
        stage = np.ones(len(rows), dtype=np.int64)
        if isinstance(self.model, ClassModel):
            probabilities = np.round(self.model.probabilities(rows.X), _DIGITS)
            return Decisions(acquired, probabilities=probabilities, stage=stage)
        return Decisions(acquired, score=self.model.score(rows.X), stage=stage)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        wanted = np.zeros_like(known)
        wanted[:, list(self.features)] = True
        return wanted & ~known

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes."""
        return {"features": list(self.features), "model": self.model.exported() | {"digits": _DIGITS}}


def policies_of(problem: Problem, fitted: list[Fitted], unit: float = 1.0) -> list[LinearPolicy]:
    """One policy per model, in the same order.

    Args:
        problem: the problem that the models were fitted to.
        fitted: the models.
        unit: factor from the mean-loss λ to the λ shown in labels and details.
    """
    policies = []
    for fit in fitted:
        features = np.unique(problem.feature_of_column[fit.model.columns])
        details: dict[str, Any] = {
            "lambda": float(f"{fit.penalty * unit:.12g}"),
            "features": len(features),
            "stands_for": fit.stands_for,
            "converged": fit.converged,
        }
        if np.isfinite(fit.residual):
            details["kkt_residual"] = fit.residual
        label = f"lambda={fit.penalty * unit:.6g}"
        policies.append(LinearPolicy(problem.n_features, tuple(features.tolist()), fit.model, label, details))
    return policies


def outcome_on(policy: Policy, problem: Problem, part: Part) -> Outcome:
    """Outcome of a policy on a part, with the core's bill."""
    decisions = policy.decide(Rows(part.X, part.sizes))
    return outcome_of(decisions, part, problem.costs, problem.task, threshold=problem.threshold)
