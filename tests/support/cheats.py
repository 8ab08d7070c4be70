"""Dishonest policies, whose habits the audit (or the kit) must detect, and honest ones that must pass.

They test the audit, and show plugin authors what is not allowed. `Cheat` answers a binary task with a logistic score of
a few features, `ScoreCheat` a regression or a ranking; the feature ``paid`` is acquired, ``unpaid`` is not.
"""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.method import Method, Policy, Problem

__all__ = [
    "HABITS",
    "SCORE_HABITS",
    "AcquiresByUnpaid",
    "BatchStatistic",
    "Cheat",
    "ClearsWhatItAcquired",
    "DeclaresOnSomeRows",
    "FarScores",
    "HonestEarlyExit",
    "HonestKernel",
    "HonestScores",
    "NearlyEven",
    "OtherDecisions",
    "PeeksWhenPaidIsLarge",
    "ReadsUnpaid",
    "RecognisesTheAudit",
    "RemembersByPlace",
    "RemembersByShape",
    "ReturnsASubclass",
    "ScoreCheat",
    "TinyScores",
]

Floats = NDArray[np.float64]


@dataclass
class _Two(Policy):
    """A policy of two features, given as columns of X (one column each)."""

    n_features: int
    paid: int = 0
    unpaid: int = 1
    level: float = 0.0

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        acquired[:, self.paid] = True
        return _answer(self.score(np.nan_to_num(rows.X), acquired), acquired)

    @abstractmethod
    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        """Log-odds of the second class, float64 (rows,); may mark more features as acquired."""


def _answer(score: Floats, acquired: NDArray[np.bool_]) -> Decisions:
    second = 1.0 / (1.0 + np.exp(-np.clip(score, -30.0, 30.0)))
    return Decisions(acquired=acquired, probabilities=np.column_stack([1.0 - second, second]))


class ReadsUnpaid(_Two):
    """Uses a feature that it never declares."""

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        return X[:, self.paid] + X[:, self.unpaid]


class PeeksWhenPaidIsLarge(_Two):
    """Uses an undeclared feature on the few rows whose paid feature is above ``level``."""

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        return X[:, self.paid] + np.where(X[:, self.paid] > self.level, X[:, self.unpaid], 0.0)


class DeclaresOnSomeRows(_Two):
    """Uses a feature on all rows and declares it only where the paid one is above ``level``."""

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        acquired[:, self.unpaid] = X[:, self.paid] > self.level
        return X[:, self.paid] + X[:, self.unpaid]


_STATISTICS: dict[str, Callable[[Floats], Any]] = {
    "mean": np.mean,
    "max": np.max,
    "median": np.median,
    "rank": lambda column: np.searchsorted(np.sort(column), column) / max(len(column), 1),
}


@dataclass
class BatchStatistic(_Two):
    """Uses a statistic of the whole batch's unpaid column."""

    statistic: str = "mean"

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        shift = _STATISTICS[self.statistic](X[:, self.unpaid]) if len(X) else 0.0
        return np.asarray(X[:, self.paid] + shift, dtype=np.float64)


class AcquiresByUnpaid(_Two):
    """Chooses the next feature by an unpaid value; the answer itself uses paid values."""

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        third = (max(self.paid, self.unpaid) + 1) % self.n_features
        acquired[:, third] = X[:, self.unpaid] > self.level
        return X[:, self.paid]


@dataclass
class RemembersByShape(_Two):
    """Peeks, and repeats its first answers for a matrix of the same shape."""

    memory: dict[tuple[int, ...], Decisions] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        if rows.X.shape not in self.memory:
            self.memory[rows.X.shape] = super().decide(rows)
        return self.memory[rows.X.shape]

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        return X[:, self.paid] + X[:, self.unpaid]


@dataclass
class RecognisesTheAudit(_Two):
    """Peeks, and repeats its first answer for a row with a known paid value; only the kit detects it."""

    memory: dict[float, float] = field(default_factory=dict)

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        honest = X[:, self.paid] + X[:, self.unpaid]
        return np.array(
            [self.memory.setdefault(float(x), float(s)) for x, s in zip(X[:, self.paid], honest, strict=True)],
            dtype=np.float64,
        )


@dataclass
class RemembersByPlace(_Two):
    """Acquires nothing, peeks, and repeats its first answer for each place in the batch."""

    memory: list[Floats] = field(default_factory=list)

    def decide(self, rows: Rows) -> Decisions:
        decisions = super().decide(rows)
        table = np.array(decisions.probabilities)
        if self.memory:
            known = min(len(table), len(self.memory[0]))
            table[:known] = self.memory[0][:known]
        elif len(table):
            self.memory.append(table)
        return Decisions(np.zeros_like(decisions.acquired), table)

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        return X[:, self.unpaid]


class NearlyEven(_Two):
    """Encodes an unpaid value in probabilities that differ from 1/2 by less than the allowed rounding."""

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        little = np.where(self.score(rows.X, acquired) > self.level, 4e-10, -4e-10)
        return Decisions(acquired, np.column_stack([0.5 - little, 0.5 + little]))

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        return X[:, self.unpaid]


@dataclass
class ClearsWhatItAcquired(_Two):
    """Reads and declares two features, and clears the declarations of earlier answers when it is asked again.

    The core bills its own copy of the first answer.
    """

    earlier: list[NDArray[np.bool_]] = field(default_factory=list)

    def decide(self, rows: Rows) -> Decisions:
        for acquired in self.earlier:
            acquired[:] = False
        decisions = super().decide(rows)
        self.earlier.append(decisions.acquired)
        return decisions

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        acquired[:, self.unpaid] = True
        return X[:, self.paid] + X[:, self.unpaid]


class OtherDecisions(Decisions):
    """Decisions that override their own check, and drop the acquired features."""

    def checked(self, rows: int, features: int, classes: int) -> Decisions:
        return Decisions(np.zeros((rows, features), dtype=bool), self.probabilities)


class ReturnsASubclass(_Two):
    """Reads two features and returns a subclass of Decisions that hides it."""

    def decide(self, rows: Rows) -> Decisions:
        decisions = super().decide(rows)
        return OtherDecisions(decisions.acquired, decisions.probabilities)

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        acquired[:, self.unpaid] = True
        return X[:, self.paid] + X[:, self.unpaid]


class HonestScores(_Two):
    """Honest: the paid feature as a score."""

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        acquired[:, self.paid] = True
        return Decisions(acquired, score=self.score(np.nan_to_num(rows.X), acquired))

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        return X[:, self.paid] * 1.0


class TinyScores(HonestScores):
    """Ranks by an unpaid value, with scores so small that they differ by less than the allowed rounding."""

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        acquired[:] = False
        return X[:, self.unpaid] * 1e-10


class FarScores(HonestScores):
    """Ranks by an unpaid value, with scores so large that a relative tolerance would pass anything."""

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        acquired[:] = False
        return X[:, self.unpaid] + 1e12


class HonestKernel(_Two):
    """Honest: a compiled kernel walks the whole matrix and acquires the second feature only where it reads it."""

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        score: Floats = _kernel()(np.ascontiguousarray(X), self.paid, self.unpaid, self.level, acquired)
        return score


@cache
def _kernel() -> Callable[..., Any]:
    import numba

    @numba.njit
    def walk(X, first, second, level, acquired):  # type: ignore[no-untyped-def]
        score = np.empty(len(X))
        for i in range(len(X)):
            score[i] = X[i, first]
            if abs(X[i, first]) <= 1.0 + level:
                acquired[i, second] = True
                score[i] += X[i, second]
        return score

    kernel: Callable[..., Any] = walk
    return kernel


class HonestEarlyExit(_Two):
    """Honest: two stages; a row that is uncertain after the first pays for the second."""

    def decide(self, rows: Rows) -> Decisions:
        X = np.nan_to_num(rows.X)
        first = X[:, self.paid]
        unsure = np.abs(first) <= 1.0 + self.level
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        acquired[:, self.paid] = True
        acquired[unsure, self.unpaid] = True
        decided = _answer(self.score(X, acquired), acquired)
        stage = np.where(unsure, 2, 1)
        return Decisions(acquired, decided.probabilities, stage=stage, evaluations=stage.astype(np.float64))

    def score(self, X: Floats, acquired: NDArray[np.bool_]) -> Floats:
        return X[:, self.paid] + np.where(acquired[:, self.unpaid], X[:, self.unpaid], 0.0)


HABITS: dict[str, Callable[..., _Two]] = {
    "reads-unpaid": ReadsUnpaid,
    "peeks-when-paid-is-large": PeeksWhenPaidIsLarge,
    "declares-on-some-rows": DeclaresOnSomeRows,
    "batch-mean": partial(BatchStatistic, statistic="mean"),
    "batch-max": partial(BatchStatistic, statistic="max"),
    "batch-median": partial(BatchStatistic, statistic="median"),
    "batch-rank": partial(BatchStatistic, statistic="rank"),
    "acquires-by-unpaid": AcquiresByUnpaid,
    "remembers-by-shape": RemembersByShape,
    "remembers-by-place": RemembersByPlace,
    "recognises-the-audit": RecognisesTheAudit,
    "nearly-even": NearlyEven,
    "returns-a-subclass": ReturnsASubclass,
    "clears-what-it-acquired": ClearsWhatItAcquired,
    "writes-prices": ReadsUnpaid,
    "honest-kernel": HonestKernel,
    "honest-early-exit": HonestEarlyExit,
}


@dataclass(frozen=True)
class Cheat(Method):
    """A method with one policy of a chosen habit, honest or not, to test the contract kit.

    Attributes:
        habit: a key of `HABITS`.
        paid, unpaid: the features.
    """

    tasks: ClassVar[frozenset[str]] = frozenset({"binary"})
    habit: Literal[
        "reads-unpaid",
        "peeks-when-paid-is-large",
        "declares-on-some-rows",
        "batch-mean",
        "batch-max",
        "batch-median",
        "batch-rank",
        "acquires-by-unpaid",
        "remembers-by-shape",
        "remembers-by-place",
        "recognises-the-audit",
        "nearly-even",
        "returns-a-subclass",
        "clears-what-it-acquired",
        "writes-prices",
        "honest-kernel",
        "honest-early-exit",
    ] = "reads-unpaid"
    paid: int = 0
    unpaid: int = 1

    def fit(self, problem: Problem) -> list[Policy]:
        paid, unpaid = (min(feature, problem.n_features - 1) for feature in (self.paid, self.unpaid))
        if self.habit == "writes-prices":
            prices = problem.costs.prices
            # Written without NumPy, because NumPy cannot make an array of the core writable.
            ctypes.memset(prices.ctypes.data, 0, prices.nbytes)
        return [HABITS[self.habit](problem.n_features, paid, unpaid)]


SCORE_HABITS: dict[str, Callable[..., _Two]] = {
    "tiny-scores": TinyScores,
    "far-scores": FarScores,
    "honest-scores": HonestScores,
}


@dataclass(frozen=True)
class ScoreCheat(Method):
    """A method for rankings and regressions with one policy of a chosen habit, to test the contract kit.

    Attributes:
        habit: a key of `SCORE_HABITS`.
    """

    tasks: ClassVar[frozenset[str]] = frozenset({"ranking", "regression"})
    habit: Literal["tiny-scores", "far-scores", "honest-scores"] = "tiny-scores"

    def fit(self, problem: Problem) -> list[Policy]:
        return [SCORE_HABITS[self.habit](problem.n_features, 0, min(1, problem.n_features - 1))]
