"""What a rival learns and what it answers: target vectors, and scores turned into decisions; shared by all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Outcome, Policy, Problem, Rows
from bench_core.metrics import combined, error, mse, ndcg_at
from bench_cstc.calibrate import Platt, combine, fit_platt
from bench_cstc.walker import ConstantPolicy

__all__ = [
    "Answer",
    "Outputs",
    "QueryRows",
    "best_first",
    "check_ranges",
    "constant",
    "numeric_grades",
    "one_output",
    "price_of_evaluation",
    "row_weights",
    "several_outputs",
    "worth",
]

Floats = NDArray[np.float64]
Weight = float | Literal["balanced"]
Price = float | Literal["scheme"]


@dataclass(frozen=True)
class QueryRows(Rows):
    """Rows that say which query each belongs to, for policies that judge a document among its query's others.

    Attributes:
        query: int64 (rows,) query ids, or None.
    """

    query: NDArray[np.int64] | None = None

    def take(self, rows: NDArray[Any]) -> QueryRows:
        """Some of the rows, by index or mask."""
        some = super().take(rows)
        return QueryRows(some.X, some.sizes, None if self.query is None else self.query[rows])


@dataclass(frozen=True, eq=False)
class Outputs:
    """The target vectors to learn: grades or values, ±1 for two classes, ±1 per class for more.

    Attributes:
        targets: float64 (rows,) each; none when there is nothing to tell apart.
        present: class codes: of each target, or the two classes of a single one; empty where scores are wanted.
        n_classes: number of classes; 0 where scores are wanted.
    """

    targets: tuple[Floats, ...]
    present: tuple[int, ...]
    n_classes: int

    def positive(self, y: NDArray[np.int64], output: int) -> NDArray[np.bool_]:
        """Which rows are of the class that an output speaks for; bool (rows,)."""
        code = self.present[output if len(self.targets) > 1 else 1]
        return np.asarray(y == code)

    def answer(self, problem: Problem, scores: Sequence[Floats]) -> Answer:
        """How scores become answers: Platt's sigmoid fitted on the validation part, or nothing.

        Args:
            problem: whose validation part is used.
            scores: float64 (validation rows,) per output.
        """
        if not self.n_classes:
            return Answer(0, (), ())
        y = np.asarray(problem.validation.y)
        sigmoids = [fit_platt(score, self.positive(y, o)) for o, score in enumerate(scores)]
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


def several_outputs(problem: Problem) -> Outputs:
    """One target per class where there are more than two, one otherwise; none where one class is all there is.

    Raises:
        ValueError: values or grades that are not numbers.
    """
    if not problem.n_classes:
        return Outputs((numeric_grades(problem.train.y),), (), 0)
    y = np.asarray(problem.train.y)
    present = tuple(int(code) for code in np.unique(y))
    if len(present) < 2:
        return Outputs((), present, problem.n_classes)
    sides = present[1:] if len(present) == 2 else present
    targets = tuple(np.where(y == code, 1.0, -1.0) for code in sides)
    return Outputs(targets, present, problem.n_classes)


def one_output(problem: Problem, relevant_from: float, method: str) -> Outputs:
    """One target of ±1: the two classes, or grades from ``relevant_from`` on against those below.

    Raises:
        ValueError: values to predict, several classes, or grades that are not numbers.
    """
    if problem.task not in ("binary", "ranking"):
        raise ValueError(f"{method} tells two classes apart; the task is {problem.task}")
    if problem.task == "binary":
        return several_outputs(problem)
    grades = numeric_grades(problem.train.y)
    target = np.where(grades >= relevant_from, 1.0, -1.0)
    return Outputs((target,) if len(np.unique(target)) > 1 else (), (), 0)


def numeric_grades(y: NDArray[np.generic]) -> Floats:
    """Targets as float64.

    Raises:
        ValueError: they are not numbers.
    """
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"targets must be numbers, not {str(np.asarray(y).ravel()[0])!r}") from None
    if not np.isfinite(values).all():
        raise ValueError(f"targets must be finite; {int((~np.isfinite(values)).sum())} are not")
    return values


def constant(problem: Problem) -> ConstantPolicy:
    """The policy that reads nothing: training frequencies of the classes, or the mean value."""
    y = problem.train.y
    if not problem.n_classes:
        return ConstantPolicy(problem.n_features, value=float(np.mean(y)) if len(y) else 0.0)
    counts = np.bincount(np.asarray(y, dtype=np.int64), minlength=problem.n_classes).astype(np.float64)
    shares = counts / counts.sum() if counts.sum() else np.full(problem.n_classes, 1.0 / problem.n_classes)
    return ConstantPolicy(problem.n_features, tuple(shares.tolist()))


def row_weights(target: Floats, positive_weight: Weight) -> Floats:
    """w_y of CSTC's Eq. 19, scaled to a mean of 1; ``balanced`` gives both sides the same total.

    Args:
        target: float64 (rows,): above 0 is positive.
        positive_weight: of the positive side.
    """
    up = target > 0
    share = float(up.mean()) if len(up) else 0.0
    if not 0 < share < 1:
        return np.ones(len(target))
    heavy = (1 - share) / share if positive_weight == "balanced" else float(positive_weight)
    weights = np.where(up, heavy, 1.0)
    return np.asarray(weights / weights.mean())


def price_of_evaluation(problem: Problem, evaluation: Price) -> float:
    """e_t: as given, or the cost scheme's price of an evaluation."""
    return problem.costs.evaluation if evaluation == "scheme" else float(evaluation)


def worth(problem: Problem, policy: Policy) -> tuple[float, float]:
    """How good a policy is on validation, greater is better; ties go to the lower mean bill.

    By what a suite selects by when it says nothing: ``combined`` under a confidence threshold, accuracy without
    one, NDCG@5 for rankings, the mean squared error for values.
    """
    part = problem.validation
    if not len(part):
        return 0.0, 0.0
    decisions = policy.decide(QueryRows(part.X, part.sizes, part.query))
    bill = problem.costs.bill(decisions.acquired, part.sizes)
    outcome = Outcome(
        task=problem.task,
        y=part.y,
        decisions=decisions,
        bill=bill,
        full_bill=problem.costs.total(len(part), part.sizes),
        evaluation_bill=np.zeros(len(part)),
        threshold=problem.threshold,
        query=part.query,
    )
    if problem.n_classes:
        value = -error(outcome) if problem.threshold is None else combined(outcome)
    else:
        value = ndcg_at(outcome, 5) if problem.task == "ranking" else -mse(outcome)
    return value, -float(bill.mean())


def best_first(problem: Problem, policies: Sequence[Policy]) -> list[Policy]:
    """The policies, the best on validation in front (the first among equals), the others in their order."""
    worths = [worth(problem, policy) for policy in policies]
    best = max(range(len(policies)), key=lambda i: (*worths[i], -i))
    return [policies[best], *policies[:best], *policies[best + 1 :]]


def check_ranges(method: object, whole: dict[str, tuple[int, int]], above_zero: Sequence[str]) -> None:
    """Check parameters of a method that mean the same in all of them.

    Args:
        method: has the parameters as attributes, ``evaluation`` and ``positive_weight`` maybe among them.
        whole: name → least and most.
        above_zero: names of numbers that must be above 0 and finite.

    Raises:
        ValueError: one is out of range; the message names it.
    """
    for name, (low, high) in whole.items():
        if not low <= getattr(method, name) <= high:
            raise ValueError(f"{name} must be {low} to {high}, not {getattr(method, name)}")
    for name in above_zero:
        if not 0 < getattr(method, name) < math.inf:
            raise ValueError(f"{name} must be above 0 and finite, not {getattr(method, name)}")
    evaluation = getattr(method, "evaluation", 0.0)
    if evaluation != "scheme" and not 0 <= float(evaluation) < math.inf:
        raise ValueError(f"evaluation must be 'scheme' or a price from 0, not {evaluation}")
    weight = getattr(method, "positive_weight", 1.0)
    if weight != "balanced" and not 0 < float(weight) < math.inf:
        raise ValueError(f"positive_weight must be 'balanced' or above 0, not {weight}")
