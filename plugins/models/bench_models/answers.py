"""Targets of methods with real-valued scores, and the conversion of their scores into decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Part, Policy, Problem, Rows, default_policy_first, validation_score
from bench_models.folds import folds, others, taking
from bench_models.linear import ConstantPolicy, Platt, combine, fit_platt
from bench_models.targets import Target, targets_of

__all__ = ["Answer", "Outputs", "best_first", "constant", "one_output", "several_outputs"]

Floats = NDArray[np.float64]
Weight = float | Literal["balanced"]
Scorer = Callable[[Part], Floats]

_FOLDS = 3


@dataclass(frozen=True, eq=False)
class Outputs:
    """The targets: grades or values, ±1 for two classes, one vector of ±1 per class for more.

    Attributes:
        targets: target vectors with their weights; none if there is only one class.
        present: class codes: one per target, or both classes of a single target; empty for tasks with scores.
        n_classes: number of classes; 0 for tasks with scores.
    """

    targets: tuple[Target, ...]
    present: tuple[int, ...]
    n_classes: int

    def answers(self, problem: Problem, policies: int, learn: Callable[[Problem, Target], Scorer]) -> list[Answer]:
        """Fit Platt's sigmoids, which convert the scores of every policy to answers. Tasks with scores need none.

        The sigmoids are fitted on the training part, to scores that three models, each learned without a third of the
        rows, give to that third, as Platt (1999) recommends. The validation part, which selects, is not used. A fold
        without which a target has only one class is left out; without any fold, answers are class frequencies.

        Args:
            problem: its training part is divided into folds.
            policies: number of policies.
            learn: function that learns a target on the training part of a problem, and returns a function from rows to
                scores, float64 (policies, rows).
        """
        y = np.asarray(problem.train.y if self.n_classes else ())
        scores = np.full((len(self.targets), policies, len(y)), np.nan)
        for held in folds(problem, _FOLDS) if len(y) else []:
            rest = others(problem, held)
            part, unseen = taking(problem, rest), taking(problem, held).train
            for target, out in zip(self.targets, scores, strict=True):
                if len(np.unique(target.y[rest])) > 1:
                    out[:, held] = learn(part, target.taking(rest))(unseen)
        return self.fitted(y, scores)

    def fitted(self, y: NDArray[np.generic], scores: Floats) -> list[Answer]:
        """Fit the sigmoids of every policy to its scores of held-out rows.

        Args:
            y: (rows,): class codes.
            scores: float64 (outputs, policies, rows), of models that were learned without these rows; NaN is left out.
        """
        policies = scores.transpose(1, 0, 2)
        if not self.n_classes:
            return [Answer(0, (), ())] * len(policies)
        return [
            Answer(self.n_classes, self.present, tuple(map(partial(_sigmoid, y), self.targets, s))) for s in policies
        ]


def _sigmoid(y: NDArray[np.generic], target: Target, score: Floats) -> Platt:
    """Platt's sigmoid of one target: ``y`` are the class codes of the training rows, NaN marks rows without a score."""
    known = np.isfinite(score)
    if not known.any():
        return fit_platt(np.zeros(len(y)), y == target.positive)
    return fit_platt(score[known], y[known] == target.positive)


@dataclass(frozen=True, eq=False)
class Answer:
    """Converts scores to decisions.

    Attributes:
        n_classes: number of classes; 0 if the score itself is the answer.
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
            rank: float64 (rows,): the score to report, if it is not the first output.

        Raises:
            ValueError: a score is NaN, because a value that was read is missing.
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
    """One target per class for more than two classes, otherwise one; none if there is only one class.

    Raises:
        ValueError: values or grades are not numbers, or a weight of positives is given for a regression.
    """
    targets = tuple(targets_of(problem, positive_weight))
    if not problem.n_classes:
        return Outputs(targets, (), 0)
    return Outputs(targets, tuple(int(code) for code in np.unique(problem.train.y)), problem.n_classes)


def one_output(problem: Problem, positive_weight: Weight, relevant_from: float, method: str) -> Outputs:
    """One target of ±1: the two classes, or grades of at least ``relevant_from`` against lower ones.

    Raises:
        ValueError: the task is regression, there are more than two classes, or grades are not numbers.
    """
    if problem.task == "binary":
        return several_outputs(problem, positive_weight)
    if problem.task != "ranking":
        raise ValueError(f"{method} needs two classes; the task is {problem.task}")
    several_outputs(problem, positive_weight)
    train, validation = (
        replace(part, y=(np.asarray(part.y, dtype=np.float64) >= relevant_from).astype(np.int64))
        for part in (problem.train, problem.validation)
    )
    two = replace(problem, task="binary", n_classes=2, train=train, validation=validation)
    return Outputs(tuple(targets_of(two, positive_weight)), (), 0)


@dataclass(frozen=True, eq=False)
class SilentPolicy(ConstantPolicy):
    """A constant policy that fills the same fields as the other policies of its family.

    Attributes:
        scored: whether the others give a score.
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
    """The policies with the best on validation first (in a tie, the earliest), the others in their order."""
    rows = problem.validation.rows()
    return default_policy_first(policies, [validation_score(problem, policy.decide(rows)) for policy in policies])
