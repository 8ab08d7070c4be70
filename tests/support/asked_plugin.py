"""Cascades that request features step by step, correctly or with a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Method, Policy, Problem, Rows, hookimpl, next_of_stages

BENCH_CONTRACT_VERSION = 1

Fault = Literal["", "asks less", "asks more", "asks again", "answers otherwise", "says numbers", "raises"]


@dataclass
class Asked(Policy):
    """Buys the first feature, and the second if the first is near 0."""

    fault: Fault = ""

    def decide(self, rows: Rows) -> Decisions:
        stages = self._stages(rows.X.shape[1])
        acquired = stages[self._left(rows.X)]
        score = np.where(acquired, rows.X, 0.0) @ np.array([2.0, 1.0] + [0.0] * (rows.X.shape[1] - 2))
        if self.fault == "answers otherwise" and not rows.X[:, 2:].any():
            score = -score
        second = 1.0 / (1.0 + np.exp(-score))
        return Decisions(acquired, probabilities=np.column_stack([1.0 - second, second]))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        unknown = rows.X[~known]
        if unknown.any():
            raise RuntimeError("a value is here that nobody asked for")
        if self.fault == "raises":
            raise ValueError("no idea")
        if self.fault == "asks less":
            return np.asarray((np.arange(known.shape[1]) == 0) & ~known)
        if self.fault == "asks more":
            return ~known
        if self.fault == "asks again":
            return np.ones_like(known)
        if self.fault == "says numbers":
            return np.zeros(known.shape)  # type: ignore[return-value]
        return next_of_stages(self._stages(known.shape[1]), self._left(rows.X), known)

    def _left(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.where(np.abs(X[:, 0]) < 0.5, 1, 0)

    def _stages(self, columns: int) -> NDArray[np.bool_]:
        return np.arange(columns) <= np.arange(2)[:, None]


@dataclass
class AskedEarly(Asked):
    """The same, but it answers the first class if the second feature is needed and unknown."""

    def decide_known(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        return Decisions(known, np.tile([1.0, 0.0], (len(rows), 1)))


@dataclass(frozen=True)
class Asking(Method):
    """Two such cascades."""

    fault: Fault = ""
    early: bool = False

    def fit(self, problem: Problem) -> list[Policy]:
        return [Asked(), AskedEarly() if self.early else Asked(self.fault)]


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    register("asking", Asking)
