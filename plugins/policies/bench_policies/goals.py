"""Goals, and the choice of the policy in a family that serves a goal best.

Quality is one of `bench_policies.measures.MEASURES`, by default the share of right answers among all rows; a refused
row does not count as right. For regression, quality is the negative mean squared error. A budget limits the mean cost
over rows; a cap limits the cost of each row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import RequestError, did_you_mean
from bench_policies.answering import Answering
from bench_policies.measures import MEASURES, MSE, Measure
from bench_policies.wording import with_half

_BEST = {
    "accuracy": "the most right answers",
    "balanced-accuracy": "the best balanced accuracy",
    "auc": "the greatest area under the ROC curve",
    "log-loss": "the least log loss",
}

_MISSED = 1e150
"""Goal values of policies that miss a goal are below minus this number; all others are above, as prices and squared
errors are at most 1e100."""


def within(cost: float, limit: float) -> bool:
    """Whether a cost keeps a limit; a sum of decimal prices may exceed it by rounding."""
    return cost <= limit * (1 + 1e-9)


@dataclass(frozen=True)
class Judged:
    """Quality and cost of a policy on some rows.

    Attributes:
        quality: the goal's measure, or the negative mean squared error; greater is better.
        cost: mean price of a row, of features and base models.
        coverage: share of rows that are answered.
        accuracy: share of right answers among answered rows; NaN where no row is answered, and for regression.
        loss: mean cost of wrong answers and refusals; 0 without error costs.
        most: the greatest price of the features of a row.
        total: sum of cost and loss.
    """

    quality: float
    cost: float
    coverage: float
    accuracy: float
    loss: float
    most: float = 0.0

    @property
    def total(self) -> float:
        """Mean total cost of a row: prices, wrong answers and refusals."""
        return self.cost + self.loss


@dataclass(frozen=True)
class Goal:
    """A goal: a budget, a quality or error costs, at most one of them. Without any, the best quality.

    Attributes:
        budget: the largest mean cost of a row; quality is maximised within it.
        cap: the largest price of the features of every row; may be combined with any other goal.
        measure: the measure of quality, a key of `bench_policies.measures.MEASURES`; not used for regression.
        class_shares: share of each class in the data, by code; set by `on` where the measure is balanced accuracy. The
            answer is then the class with the largest ratio of probability to share.
        quality: the least share of right answers; cost is minimised among the policies that reach it.
        error_costs: true class → answered class → cost, in the unit of the prices, for every pair of classes. Total
            cost is minimised, and every row gets the answer of least expected cost.
        refused_cost: cost of a refused row, together with ``error_costs``; a row is refused where every answer has a
            higher expected cost. None: no row is refused for its expected cost.

    Raises:
        RequestError: several of budget, quality and error costs are given, the budget or the cap is negative or not
            finite, the quality is not in (0, 1], or the measure is unknown or does not fit the goal.
    """

    budget: float | None = None
    quality: float | None = None
    error_costs: Mapping[str, Mapping[str, float]] | None = None
    refused_cost: float | None = None
    cap: float | None = None
    measure: str = "accuracy"
    class_shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if sum(target is not None for target in (self.budget, self.quality, self.error_costs)) > 1:
            raise RequestError("give one of a budget, an accuracy and error costs, not several")
        if self.budget is not None and not 0 <= self.budget < math.inf:
            raise RequestError(f"a budget must be a finite number from 0, not {self.budget}")
        if self.cap is not None and not 0 <= self.cap < math.inf:
            raise RequestError(f"a cap must be a finite number from 0, not {self.cap}")
        if self.quality is not None and not 0 < self.quality <= 1:
            raise RequestError(f"an accuracy must be a share above 0 and at most 1, not {self.quality}")
        if self.measure not in MEASURES:
            raise RequestError(f"there is no measure {self.measure!r}; {did_you_mean(self.measure, list(MEASURES))}")
        if self.measure != "accuracy" and (self.quality is not None or self.error_costs is not None):
            raise RequestError(f"the measure {self.measure} cannot be combined with an accuracy or error costs")

    def check(self, task: str, classes: Sequence[str]) -> None:
        """Check that the goal fits the task.

        Raises:
            RequestError: an accuracy, error costs or a measure for classes are given for regression, or error costs
                name an unknown class or lack a pair of classes.
        """
        if not classes and (self.quality is not None or self.error_costs is not None):
            raise RequestError(f"an accuracy and error costs need classes; the task is {task}")
        if not classes and self.measure != "accuracy":
            raise RequestError(f"the measure {self.measure} needs classes; the task is {task}")
        for truth, row in (self.error_costs or {}).items():
            for name in (truth, *row):
                if name not in classes:
                    raise RequestError(
                        f"error costs name {name!r}, which is not a class; {did_you_mean(name, classes)}"
                    )
        if self.error_costs is not None:
            check_every_pair(self.error_costs, classes)

    def on(self, y: NDArray[Any], classes: Sequence[str]) -> Goal:
        """Return the goal with the shares of the classes in the data, where its measure needs them.

        Args:
            y: class codes, or values.
            classes: class names, in the order of their codes; empty for regression.
        """
        if self.measure != "balanced-accuracy" or not classes:
            return self
        counts = np.bincount(np.asarray(y, dtype=np.int64), minlength=len(classes))
        return replace(self, class_shares=tuple((counts / counts.sum()).tolist()))

    def measured_in(self, classes: Sequence[str]) -> Measure:
        """Return the measure of quality for these classes."""
        return MEASURES[self.measure] if classes else MSE

    def quality_text(self, quality: float, classes: Sequence[str]) -> str:
        """Return a quality in words."""
        return self.measured_in(classes).text(quality)

    def behind_text(self, leader: str, difference: float, half: float, classes: Sequence[str]) -> str:
        """Return how far a method is behind another in words: ``worse than lasso by 5.0 ± 3.1 % right answers``.

        Args:
            leader: the other method.
            difference: difference of their `value_on_new_rows`, above 0.
            half: half of its 95 % interval.
            classes: class names; empty for regression.
        """
        if difference >= _MISSED / 1e3:
            return f"further from the goal than {leader}"
        shown, measure = {"": difference, "_half": half}, self.measured_in(classes)
        if self.quality is not None:
            by = f"a mean cost of {with_half(shown, '', 1)}"
        elif self.error_costs is not None:
            by = f"a mean total of {with_half(shown, '', 1)}"
        else:
            by = measure.words.format(with_half(shown, "", abs(measure.factor), measure.unit))
        return f"worse than {leader} by {by}"

    def value_on_new_rows(self, chosen: Judged, found: Judged, rows: int) -> float:
        """Return the value of a policy on rows that did not choose it, for comparisons between methods.

        A budget or cap is checked on the rows that chose the policy. An accuracy counts as reached if it is missed by
        at most one standard error; otherwise chance would decide between equally good methods.

        Args:
            chosen: quality and cost on the rows that chose it.
            found: quality and cost on the new rows.
            rows: number of the new rows.
        """
        if not self.met(chosen):
            return self.value(chosen)
        if self.quality is not None:
            short = self.quality - found.quality - math.sqrt(self.quality * (1 - self.quality) / max(rows, 1))
            return -found.cost if short <= 0 else -_MISSED * (1.0 + short)
        return -found.total if self.error_costs is not None else found.quality

    def value(self, judged: Judged) -> float:
        """Return the goal's value, greater is better; every policy that misses the goal is below all that meet it."""
        if self.cap is not None and not within(judged.most, self.cap):
            return -_MISSED * (1.0 + (judged.most - self.cap) / (1.0 + judged.most))
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
        """Return whether the goal's cap and budget are kept, and its quality is reached."""
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
        free = self.budget is None and self.quality is None and self.error_costs is None and self.cap is None
        if free and self.measure in ("accuracy", "balanced-accuracy") and 0 <= best <= 1:
            slack = math.sqrt(best * (1 - best) / max(rows, 1))
        near = [i for i, value in enumerate(values) if value >= best - slack]
        return min(near, key=lambda i: (family[i].cost, -values[i], i))

    def in_words(self, classes: bool = True) -> str:
        """Return the goal as the end of a sentence.

        Args:
            classes: whether classes are predicted, not values.
        """
        best = _BEST[self.measure] if classes else "the least mean squared error"
        cap = "" if self.cap is None else f", and no row's features may cost more than {self.cap:g}"
        if self.budget is not None:
            return f"{best} at a mean cost of at most {self.budget:g} a row" + (
                cap or ", single rows may cost more" * (self.budget > 0)
            )
        if self.quality is not None:
            return f"at least {100 * self.quality:.4g} % right answers at the least cost{cap}"
        if self.error_costs is not None:
            return f"the least total cost of prices, wrong answers and refusals{cap}"
        if self.cap is not None:
            return f"{best} at a feature cost of at most {self.cap:g} in every row"
        return best + "; of policies within one standard error, the cheapest" * (classes and "accuracy" in self.measure)

    def as_plain(self) -> dict[str, Any]:
        """Return the goal's settings as JSON values, without those that are None."""
        costs = None if self.error_costs is None else {truth: dict(row) for truth, row in self.error_costs.items()}
        given = {
            "budget": self.budget,
            "quality": self.quality,
            "error_costs": costs,
            "refused_cost": self.refused_cost,
            "cap": self.cap,
            "measure": None if self.measure == "accuracy" else self.measure,
        }
        return {name: value for name, value in given.items() if value is not None}

    def answering(self, classes: Sequence[str], threshold: float | None) -> Answering:
        """Return the rule for answers: the most probable class, or with error costs that of least expected cost.

        For balanced accuracy, an error costs one divided by the share of the true class.

        Args:
            classes: class names, in the order of their codes.
            threshold: confidence threshold; None: no row is refused for its confidence.
        """
        if self.error_costs is None and self.class_shares is not None:
            costs = 1.0 / np.maximum(np.array(self.class_shares), 1e-9)
            return Answering(threshold, np.where(np.eye(len(costs), dtype=bool), 0.0, costs[:, None]))
        if self.error_costs is None:
            return Answering(threshold)
        rows = [[float(self.error_costs.get(truth, {}).get(name, 0.0)) for name in classes] for truth in classes]
        return Answering(threshold, np.array(rows), self.refused_cost)


def check_every_pair(error_costs: Mapping[Any, Mapping[Any, float]], classes: Sequence[Any]) -> None:
    """Check that error costs have a cost for every pair of different classes.

    Raises:
        RequestError: a pair has no cost; the message names the first.
    """
    for truth in classes:
        for answer in classes:
            if answer != truth and answer not in error_costs.get(truth, {}):
                raise RequestError(
                    f"error costs have no cost for {truth!r} answered as {answer!r}; write 0 if it is free"
                )
