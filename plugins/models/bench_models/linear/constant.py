"""The policy that reads nothing: for problems with nothing to learn, and as a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Problem, Rows

__all__ = ["ConstantPolicy"]


@dataclass(frozen=True, eq=False)
class ConstantPolicy(Policy):
    """Gives the same answer for every row and reads nothing: there is one class, or nothing to learn."""

    features: int
    probabilities: tuple[float, ...] = ()
    value: float = 0.0
    label: str = "constant"
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def learnt(cls, problem: Problem) -> Self:
        """Training frequencies of the classes, or the mean value."""
        y = problem.train.y
        if not problem.n_classes:
            return cls(problem.n_features, value=float(np.mean(y)) if len(y) else 0.0)
        counts = np.bincount(np.asarray(y, dtype=np.int64), minlength=problem.n_classes).astype(np.float64)
        shares = counts / counts.sum() if counts.sum() else np.full(len(counts), 1.0 / len(counts))
        return cls(problem.n_features, tuple(shares.tolist()))

    def decide(self, rows: Rows) -> Decisions:
        """The constant answer, without an evaluation; for two classes the score is the second class's probability."""
        n = len(rows)
        acquired = np.zeros((n, self.features), dtype=bool)
        stage, free = np.ones(n, dtype=np.int64), np.zeros(n)
        if not self.probabilities:
            return Decisions(acquired, None, np.full(n, self.value), stage, free, free)
        score = np.full(n, self.probabilities[1]) if len(self.probabilities) == 2 else None
        return Decisions(acquired, np.tile(np.array(self.probabilities), (n, 1)), score, stage, free, free)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Nothing."""
        return np.zeros_like(known)

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes."""
        probabilities = list(self.probabilities) or None
        return {"features": [], "model": {"kind": "constant", "probabilities": probabilities, "value": self.value}}
