"""Goals, and the choice of the policy in a family that serves a goal best.

Quality is the share of right answers among all rows; a refused row does not count as right. For regression, quality is
the negative mean squared error. A budget limits the mean cost over rows, not the cost of each row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import ContractError, Outcome, RequestError, did_you_mean
from bench_policies.answering import Answering
from bench_policies.prices import MOST
from bench_policies.toml_file import TomlFile

_MISSED = 1e150
"""Goal values of policies that miss a goal are below minus this number; all others are above, as prices and squared
errors are at most 1e100."""


@dataclass(frozen=True)
class Judged:
    """Quality and cost of a policy on some rows.

    Attributes:
        quality: share of right answers among all rows, or the negative mean squared error; greater is better.
        cost: mean price of a row, of features and base models.
        coverage: share of rows that are answered.
        accuracy: share of right answers among answered rows; NaN where no row is answered, and for regression.
        loss: mean cost of wrong answers and refusals; 0 without error costs.
        total: sum of cost and loss.
    """

    quality: float
    cost: float
    coverage: float
    accuracy: float
    loss: float

    @property
    def total(self) -> float:
        """Mean total cost of a row: prices, wrong answers and refusals."""
        return self.cost + self.loss


@dataclass(frozen=True)
class Goal:
    """A goal: a budget, a quality or error costs, at most one of them. Without any, the best quality.

    Attributes:
        budget: the largest mean cost of a row; quality is maximised within it.
        quality: the least share of right answers; cost is minimised among the policies that reach it.
        error_costs: true class → answered class → cost, in the unit of the prices; pairs that are left out cost 0.
            Total cost is minimised, and every row gets the answer of least expected cost.
        refused_cost: cost of a refused row, together with ``error_costs``; a row is refused where every answer has a
            higher expected cost. None: no row is refused for its expected cost.

    Raises:
        RequestError: several of the first three are given, the budget is negative or not finite, or the quality is not
            in (0, 1].
    """

    budget: float | None = None
    quality: float | None = None
    error_costs: Mapping[str, Mapping[str, float]] | None = None
    refused_cost: float | None = None

    def __post_init__(self) -> None:
        if sum(target is not None for target in (self.budget, self.quality, self.error_costs)) > 1:
            raise RequestError("give one of a budget, an accuracy and error costs, not several")
        if self.budget is not None and not 0 <= self.budget < math.inf:
            raise RequestError(f"a budget must be a finite number from 0, not {self.budget}")
        if self.quality is not None and not 0 < self.quality <= 1:
            raise RequestError(f"an accuracy must be a share above 0 and at most 1, not {self.quality}")

    def check(self, task: str, classes: Sequence[str]) -> None:
        """Check that the goal fits the task.

        Raises:
            RequestError: an accuracy or error costs are given for regression, or error costs name an unknown class.
        """
        if not classes and (self.quality is not None or self.error_costs is not None):
            raise RequestError(f"an accuracy and error costs need classes; the task is {task}")
        for truth, row in (self.error_costs or {}).items():
            for name in (truth, *row):
                if name not in classes:
                    raise RequestError(
                        f"error costs name {name!r}, which is not a class; {did_you_mean(name, classes)}"
                    )

    def value(self, judged: Judged) -> float:
        """Return the goal's value, greater is better; every policy that misses the goal is below all that meet it."""
        if self.budget is not None:
            over = judged.cost - self.budget
            kept = over <= 1e-9 * max(self.budget, 1.0)
            return judged.quality if kept else -_MISSED * (1.0 + over / (1.0 + judged.cost))
        if self.quality is not None:
            short = self.quality - judged.quality
            return -judged.cost if short <= 1e-12 else -_MISSED * (1.0 + short)
        if self.error_costs is not None:
            return -judged.total
        return judged.quality

    def met(self, judged: Judged) -> bool:
        """Return whether the budget is kept, or the quality reached."""
        return self.value(judged) > -_MISSED

    def choose(self, family: Sequence[Judged], rows: int) -> int:
        """Return the index of the policy that serves the goal best; the cheapest among equals.

        Without a budget, quality or error costs: the cheapest policy whose quality is within one standard error of the
        best (the one-standard-error rule, Breiman et al. 1984).

        Args:
            family: the policies' quality and cost on the validation rows.
            rows: number of those rows, for the standard error.
        """
        values = [self.value(judged) for judged in family]
        best = max(values)
        slack = 0.0
        if self.budget is None and self.quality is None and self.error_costs is None and 0 <= best <= 1:
            slack = math.sqrt(best * (1 - best) / max(rows, 1))
        near = [i for i, value in enumerate(values) if value >= best - slack]
        return min(near, key=lambda i: (family[i].cost, -values[i], i))

    def in_words(self) -> str:
        """Return the goal as the end of a sentence."""
        if self.budget is not None:
            return f"the most right answers at a mean cost of at most {self.budget:g} a row"
        if self.quality is not None:
            return f"at least {100 * self.quality:.4g} % right answers at the least cost"
        if self.error_costs is not None:
            return "the least total cost of prices, wrong answers and refusals"
        return "the most right answers; of policies within one standard error, the cheapest"

    def as_plain(self) -> dict[str, Any]:
        """Return the goal's settings as JSON values, without those that are None."""
        costs = None if self.error_costs is None else {truth: dict(row) for truth, row in self.error_costs.items()}
        given = {
            "budget": self.budget,
            "quality": self.quality,
            "error_costs": costs,
            "refused_cost": self.refused_cost,
        }
        return {name: value for name, value in given.items() if value is not None}

    def answering(self, classes: Sequence[str], threshold: float | None) -> Answering:
        """Return the rule for answers: the least expected cost with error costs, else the most probable class.

        Args:
            classes: class names, in the order of their codes.
            threshold: confidence threshold; None: no row is refused for its confidence.
        """
        if self.error_costs is None:
            return Answering(threshold)
        rows = [[float(self.error_costs.get(truth, {}).get(name, 0.0)) for name in classes] for truth in classes]
        return Answering(threshold, np.array(rows), self.refused_cost)


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
    if not classes:
        score = outcome.decisions.score
        error = math.nan if score is None else float(np.mean(np.square(score - outcome.y)))
        return Judged(-error, cost, 1.0, math.nan, 0.0)
    table = outcome.decisions.probabilities
    if table is None:
        raise ContractError("a policy for classes must give probabilities")
    label, refused = goal.answering(classes, outcome.threshold).answers(table)
    return judge_answers(label, refused, outcome.y, cost, classes, goal)


def judge_answers(
    label: NDArray[np.int64],
    refused: NDArray[np.bool_],
    y: NDArray[np.int64],
    cost: float,
    classes: Sequence[str],
    goal: Goal,
) -> Judged:
    """Return the quality and cost of given answers.

    Args:
        label: int64 (rows,), class codes that are answered.
        refused: bool (rows,), whether each answer is refused.
        y: int64 (rows,), true codes.
        cost: mean price of a row.
        classes, goal: as for `judge`.
    """
    right = (label == y) & ~refused
    accuracy = math.nan if refused.all() else float(right.sum() / (~refused).sum())
    loss, errors = 0.0, goal.answering(classes, None).error_costs
    if errors is not None:
        loss = float(np.mean(np.where(refused, goal.refused_cost or 0.0, errors[y, label])))
    return Judged(float(right.mean()), cost, float(1 - refused.mean()), accuracy, loss)


def trivial_answers(
    train: NDArray[np.int64], y: NDArray[np.int64], classes: Sequence[str], goal: Goal, threshold: float | None = None
) -> dict[str, Judged]:
    """Return the quality and cost of answers that need no feature, by their description.

    Args:
        train: int64 (rows,), true codes of the training rows, for the class frequencies.
        y: int64 (rows,), true codes of the rows that are answered.
        classes, goal: as for `judge`.
        threshold: confidence threshold.

    Returns:
        One entry for each class, answered for every row; one for refusing every row, where refusals have a cost; and
        one for the answer that the class frequencies lead to.
    """

    def same(label: int, refused: bool = False) -> Judged:
        return judge_answers(np.full(len(y), label), np.full(len(y), refused), y, 0.0, classes, goal)

    found = {f"always {name}": same(code) for code, name in enumerate(classes)}
    if goal.refused_cost is not None:
        found["refuse every row"] = same(0, refused=True)
    frequencies = np.bincount(train, minlength=len(classes)) / len(train)
    label, refused = goal.answering(classes, threshold).answers(frequencies[None, :])
    return {**found, "by the frequencies of the classes": same(int(label[0]), bool(refused[0]))}


def read_error_costs(path: str | Path, classes: Sequence[str]) -> Goal:
    """Read a goal from a TOML file of error costs.

    The file holds the cost of a wrong answer by true class and answered class, in the unit of the prices::

        refused = 30                  # a refused row; without it no row is refused for its expected cost
        [error_costs.sick]
        healthy = 500                 # a sick row that is answered healthy

    Raises:
        RequestError: the file cannot be read, or has an unknown key or class, or a cost that is not a number from 0;
            the message names the file, the line and the nearest name.
    """
    file = TomlFile(path)
    for key in file.content:
        if key not in ("refused", "error_costs"):
            hint = did_you_mean(key, ("refused", "error_costs"))
            raise RequestError(f"{file.at(key)}: unknown key {key!r}; {hint}")
    table = file.content.get("error_costs")
    if not isinstance(table, dict) or not table or not all(isinstance(row, dict) for row in table.values()):
        raise RequestError(f"{file.at('error_costs')}: needs tables [error_costs.TRUTH] with ANSWER = cost")
    _check_cost(file.content.get("refused", 0), "refused", file.at("refused"))
    for truth, row in table.items():
        section = f"error_costs.{truth}"
        _check_class(truth, classes, file.at(section))
        for answer, cost in row.items():
            _check_class(answer, classes, file.at(section, answer))
            _check_cost(cost, f"{truth}.{answer}", file.at(section, answer))
    refused = file.content.get("refused")
    goal = Goal(error_costs=table, refused_cost=None if refused is None else float(refused))
    try:
        goal.check("", classes)
    except RequestError as error:
        raise RequestError(f"{file.where}: {error}") from None
    return goal


def _check_class(name: str, classes: Sequence[str], where: str) -> None:
    if classes and name not in classes:
        raise RequestError(f"{where}: error costs name {name!r}, which is not a class; {did_you_mean(name, classes)}")


def _check_cost(cost: Any, name: str, where: str) -> None:
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= MOST:
        raise RequestError(f"{where}: {name} must be a number from 0 to {MOST:g}, not {cost!r}")
