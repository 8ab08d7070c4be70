"""What a method of real-valued scores learns and answers: its targets, and its scores turned into decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Problem, Rows, default_policy_first, validation_score
from bench_models.linear import ConstantPolicy, Platt, combine, fit_platt
from bench_models.targets import Target, targets_of

__all__ = ["Answer", "Outputs", "best_first", "constant", "one_output", "several_outputs"]

Floats = NDArray[np.float64]
Weight = float | Literal["balanced"]


@dataclass(frozen=True, eq=False)
class Outputs:
    """What is learned: grades or values, ±1 for two classes, ±1 per class for more.

    Attributes:
        targets: target vectors with their weights; none when there is nothing to tell apart.
        present: class codes: of each target, or the two classes of a single one; empty where scores are wanted.
        n_classes: number of classes; 0 where scores are wanted.
    """

    targets: tuple[Target, ...]
    present: tuple[int, ...]
    n_classes: int

    def answer(self, problem: Problem, scores: Sequence[Floats]) -> Answer:
        """How scores become answers: Platt's sigmoid fitted on the validation part, or nothing.

        Args:
            problem: whose validation part is used.
            scores: float64 (validation rows,) per output.
        """
        if not self.n_classes:
            return Answer(0, (), ())
        y = np.asarray(problem.validation.y)
        sigmoids = [fit_platt(score, y == t.positive) for t, score in zip(self.targets, scores, strict=True)]
        return Answer(self.n_classes, self.present, tuple(sigmoids))


@dataclass(frozen=True, eq=False)
class Answer:
    """Scores → decisions.

    Attributes:
        n_classes: 0 where the score itself is the answer.
        present: class codes, as in `Outputs`.
        sigmoids: one per output.
    """

    n_classes: int
    present: tuple[int, ...]
    sigmoids: tuple[Platt, ...]

    def __call__(
        self,
        scores: Sequence[Floats],
        acquired: NDArray[np.bool_],
        stage: NDArray[np.int64] | None = None,
        evaluations: Floats | None = None,
        cost: Floats | None = None,
        rank: Floats | None = None,
    ) -> Decisions:
        """Decisions.

        Args:
            scores: float64 (rows,) per output.
            acquired, stage, evaluations, cost: as in `Decisions`.
            rank: float64 (rows,): the score to report where it is not the first output's.

        Raises:
            ValueError: a score is NaN: a value that was read is missing.
        """
        if any(np.isnan(score).any() for score in scores):
            raise ValueError("a value that a classifier reads is missing")
        score = rank if rank is not None else scores[0]
        if not self.n_classes:
            return Decisions(acquired, None, score, stage, evaluations, cost)
        chances = [sigmoid(score) for sigmoid, score in zip(self.sigmoids, scores, strict=True)]
        table = combine(chances, list(self.present), self.n_classes)
        return Decisions(acquired, table, score if len(scores) == 1 else None, stage, evaluations, cost)


def several_outputs(problem: Problem, positive_weight: Weight) -> Outputs:
    """One target per class where there are more than two, one otherwise; none where one class is all there is.

    Raises:
        ValueError: values or grades that are not numbers; a weight of the positive side where values are predicted.
    """
    targets = tuple(targets_of(problem, positive_weight))
    if not problem.n_classes:
        return Outputs(targets, (), 0)
    return Outputs(targets, tuple(int(code) for code in np.unique(problem.train.y)), problem.n_classes)


def one_output(problem: Problem, positive_weight: Weight, relevant_from: float, method: str) -> Outputs:
    """One target of ±1: the two classes, or grades from ``relevant_from`` on against those below.

    Raises:
        ValueError: values to predict, several classes, or grades that are not numbers.
    """
    if problem.task == "binary":
        return several_outputs(problem, positive_weight)
    if problem.task != "ranking":
        raise ValueError(f"{method} tells two classes apart; the task is {problem.task}")
    several_outputs(problem, positive_weight)
    train, validation = (
        replace(part, y=(np.asarray(part.y, dtype=np.float64) >= relevant_from).astype(np.int64))
        for part in (problem.train, problem.validation)
    )
    two = replace(problem, task="binary", n_classes=2, train=train, validation=validation)
    return Outputs(tuple(targets_of(two, positive_weight)), (), 0)


@dataclass(frozen=True, eq=False)
class SilentPolicy(ConstantPolicy):
    """A constant that fills the fields which its siblings in a family fill.

    Attributes:
        scored: whether they give a score.
    """

    scored: bool = True

    def decide(self, rows: Rows) -> Decisions:
        decisions = super().decide(rows)
        return replace(decisions, score=np.zeros(len(rows))) if decisions.score is None and self.scored else decisions


def constant(problem: Problem) -> ConstantPolicy:
    """The policy that reads nothing: training frequencies of the classes, or the mean value."""
    silent = SilentPolicy.learnt(problem)
    return replace(silent, scored=sum(share > 0 for share in silent.probabilities) <= 2)


def best_first(problem: Problem, policies: Sequence[Policy]) -> list[Policy]:
    """The policies, the best on validation in front (the first among equals), the others in their order."""
    rows = problem.validation.rows()
    return default_policy_first(policies, [validation_score(problem, policy.decide(rows)) for policy in policies])
