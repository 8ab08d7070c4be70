"""The quality and cost of decisions under a goal, and of answers that need no feature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import ContractError, Costs, Decisions, Outcome, Part, outcome_of
from bench_policies.goals import Goal, Judged
from bench_policies.measures import measured_on, row_qualities

__all__ = ["judge", "judge_answers", "row_values", "trivial_answers"]


def judge(outcome: Outcome, classes: Sequence[str], goal: Goal) -> Judged:
    """Return an outcome's quality and cost under a goal.

    Args:
        outcome: decisions with their bill and the truth.
        classes: class names, in the order of their codes; empty for regression.
        goal: the goal, which says how answers are given and what errors cost.

    Raises:
        ContractError: the policy gives no probabilities though there are classes.
    """
    cost = float(np.mean(outcome.bill + outcome.evaluation_bill)) if len(outcome.y) else 0.0
    most = float(np.max(outcome.bill, initial=0.0))
    if not classes:
        score = outcome.decisions.score
        error = math.nan if score is None else float(np.mean(np.square(score - outcome.y)))
        return Judged(-error, cost, 1.0, math.nan, 0.0, most)
    table = outcome.decisions.probabilities
    if table is None:
        raise ContractError("a policy for classes must give probabilities")
    label, refused = goal.answering(classes, outcome.threshold).answers(table)
    return replace(judge_answers(label, refused, outcome.y, cost, classes, goal, table), most=most)


def paid(decided: Decisions, costs: Costs, sizes: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the price of the features and base models of every row, float64 (rows,), as budgets count it.

    Args:
        decided: a policy's decisions.
        costs: the prices.
        sizes: float64 (rows,): item sizes; None where no price depends on them.
    """
    rows = len(decided)
    outcome = outcome_of(decided, Part(np.zeros((rows, 0)), np.zeros(rows), sizes), costs, "regression")
    return np.asarray(outcome.bill + outcome.evaluation_bill)


def row_values(outcome: Outcome, classes: Sequence[str], goal: Goal) -> NDArray[np.float64]:
    """Return the value of every row, float64 (rows,), for paired comparisons; greater is better.

    Args:
        outcome, classes, goal: as for `judge`.
    """
    paid = outcome.bill + outcome.evaluation_bill
    table = outcome.decisions.probabilities
    if table is None or not classes:
        return np.asarray(-np.square(np.asarray(outcome.decisions.score) - outcome.y), dtype=np.float64)
    if goal.quality is not None:
        return np.asarray(-paid)
    label, refused = goal.answering(classes, outcome.threshold).answers(table)
    errors = goal.answering(classes, None).error_costs
    if goal.error_costs is not None and errors is not None:
        return np.asarray(-paid - np.where(refused, goal.refused_cost or 0.0, errors[outcome.y, label]))
    return row_qualities(goal.measure, (label == outcome.y) & ~refused, outcome.y, table)


def judge_answers(
    label: NDArray[np.int64],
    refused: NDArray[np.bool_],
    y: NDArray[np.int64],
    cost: float,
    classes: Sequence[str],
    goal: Goal,
    probabilities: NDArray[np.float64] | None = None,
) -> Judged:
    """Return the quality and cost of given answers.

    Args:
        label: int64 (rows,), class codes that are answered.
        refused: bool (rows,), whether each answer is refused.
        y: int64 (rows,), true codes.
        cost: mean price of a row.
        classes, goal: as for `judge`.
        probabilities: float64 (rows, classes); None suffices for the two accuracies.
    """
    right = (label == y) & ~refused
    accuracy = math.nan if refused.all() else float(right.sum() / (~refused).sum())
    loss, errors = 0.0, goal.answering(classes, None).error_costs
    if goal.error_costs is not None and errors is not None:
        loss = float(np.mean(np.where(refused, goal.refused_cost or 0.0, errors[y, label])))
    quality = measured_on(goal.measure, right, y, probabilities)
    return Judged(quality, cost, float(1 - refused.mean()), accuracy, loss)


def trivial_answers(
    train: NDArray[Any], y: NDArray[Any], classes: Sequence[str], goal: Goal, threshold: float | None = None
) -> dict[str, Judged]:
    """Return the quality and cost of answers that need no feature, by their description.

    Args:
        train: true codes (int64), or values, of the training rows.
        y: likewise of the rows that are answered.
        classes, goal: as for `judge`.
        threshold: confidence threshold.

    Returns:
        An entry for each class, given as the answer to every row, if the measure is an accuracy; one for refusing every
        row, if refusals have a cost or the threshold refuses every row; and one for the answer that follows from the
        class frequencies, if it is not refused for the threshold. For regression, an entry for the mean of the training
        rows.
    """
    if not classes:
        error = float(np.mean(np.square(y - np.mean(train)))) if len(y) else math.nan
        return {"the mean of the target": Judged(-error, 0.0, 1.0, math.nan, 0.0)}
    frequencies = np.bincount(train, minlength=len(classes)) / len(train)

    def same(label: int, refused: bool = False) -> Judged:
        table = np.tile(frequencies, (len(y), 1))
        return judge_answers(np.full(len(y), label), np.full(len(y), refused), y, 0.0, classes, goal, table)

    found = {}
    if goal.measure in ("accuracy", "balanced-accuracy"):
        found = {f"always {name}": same(code) for code, name in enumerate(classes)}
    if goal.refused_cost is not None:
        found["refuse every row"] = same(0, refused=True)
    label, refused = goal.answering(classes, threshold).answers(frequencies[None, :])
    refuses = goal.refused_cost is None and bool(refused[0])
    name = "refuse every row" if refuses else "by the frequencies of the classes"
    return {**found, name: same(int(label[0]), bool(refused[0]))}
