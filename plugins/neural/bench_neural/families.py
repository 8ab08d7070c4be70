"""Operating points along a trade-off: budgets, penalties and confidences; and the family that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bench_models.tradeoff import evenly_spaced, lambdas_in_cost

from bench_core import Family, Part, Problem, default_policy_first, validation_score
from bench_neural.policy import StepPolicy
from bench_neural.view import Units

__all__ = [
    "budget_points",
    "budgets",
    "confidences",
    "family",
    "named",
    "penalties",
    "penalties_in_cost",
    "penalty_point",
]


def budgets(units: Units, count: int) -> list[float]:
    """At most `count` prices that a row may spend, evenly spaced in log from the cheapest unit to all units.

    If all units cost the same and share no price, the budgets are multiples of that price.
    """
    first = units.prices(np.zeros((1, units.count), dtype=bool))[0]
    paid = first[first > 0]
    if not len(paid):
        return [0.0]
    if (units.group < 0).all() and (first == first[0]).all():
        bought = np.unique(np.geomspace(1, units.count, count).round().astype(int))
        if units.count <= count:
            bought = np.arange(1, units.count + 1)
        return [float(first[0] * number) for number in bought]
    between = [float(f"{price:.6g}") for price in np.geomspace(paid.min(), units.full, count)[1:-1]]
    return sorted({float(paid.min()), *between, units.full})


_ROWS = 500
"""Number of validation rows on which the cost of a λ is measured."""


def loss_of_nothing(problem: Problem, loss: str = "log-loss") -> float:
    """The loss of the class frequencies; 1 for a regression, whose loss is in variances of the target.

    Args:
        problem: its training part's labels are used.
        loss: ``log-loss`` (in nats) or ``error``.
    """
    if not problem.n_classes:
        return 1.0
    shares = np.bincount(problem.train.y, minlength=problem.n_classes) / len(problem.train)
    some = shares[shares > 0]
    return float(1 - some.max() if loss == "error" else -(some * np.log(some)).sum()) or 1.0


def penalty_point(units: Units, value: float) -> dict[str, Any]:
    """Fields of a `StepPolicy` for a λ per unit of price."""
    return {"lambda_": value * units.scale, **named("lambda", value)}


def penalties_in_cost(
    problem: Problem, units: Units, make: Callable[[Mapping[str, Any]], StepPolicy], count: int
) -> list[dict[str, Any]]:
    """Fields of a `StepPolicy` for at most `count` λ, from 0 to one at which nothing is bought, evenly spread in cost.

    Args:
        problem: prices and the validation part, whose labels are not used.
        units: their mean price is used.
        make: makes a policy from the fields of an operating point.
        count: maximum number of λ.
    """
    unit = loss_of_nothing(problem) / units.scale
    values = lambdas_in_cost(problem, lambda value: make(penalty_point(units, value)), unit, _ROWS, count)
    return [penalty_point(units, value) for value in values]


def penalties(problem: Problem, units: Units, count: int, loss: str = "log-loss") -> list[float]:
    """`count` values of λ, evenly spaced in log, per unit of price.

    At the highest, a unit of mean price has to save half of the loss of the class frequencies; at the lowest, a
    five-hundredth of it.

    Args:
        problem: its training part's labels are used.
        units: their mean price is used.
        count: number of values.
        loss: ``log-loss`` (in nats) or ``error``; the loss of a regression is in variances of the target.
    """
    nothing = loss_of_nothing(problem, loss)
    return [float(f"{value:.6g}") for value in np.geomspace(0.002, 0.5, count) * nothing / units.scale]


def confidences(classes: int, count: int) -> list[float]:
    """`count` probabilities, whose differences from 1 are evenly spaced in log, down to 0.01."""
    return [float(f"{1 - lack:.6g}") for lack in np.geomspace(0.9 * (1 - 1 / classes), 0.01, count)]


def budget_points(problem: Problem, units: Units, given: Sequence[float], count: int) -> list[dict[str, Any]]:
    """Fields of a `StepPolicy` for each budget: the given ones, or `budgets`.

    The bill never exceeds a budget, unless prices depend on item size: then a budget is in mean prices.
    """
    points = sorted(set(given)) or budgets(units, count)
    promised = not problem.costs.depends_on_size
    return [{"limit": point, "budget": point if promised else None, **named("budget", point)} for point in points]


def named(name: str, value: float) -> dict[str, Any]:
    """The label and details of an operating point."""
    return {"label": f"{name}={value:g}", "details": {name: value}}


def family(
    problem: Problem,
    make: Callable[[Mapping[str, Any]], StepPolicy],
    points: Sequence[Mapping[str, Any]],
    history: Mapping[str, Sequence[float]],
    most_rows: int | None = None,
) -> Family:
    """A policy for each operating point; the one with the best validation score comes first.

    Args:
        problem: the policies are scored on its validation part.
        make: makes a policy from the fields of an operating point.
        points: the operating points.
        history: kept in the record.
        most_rows: largest number of validation rows to score on, evenly spaced; all when None.
    """
    policies = [make(point) for point in points]
    full = problem.validation
    few = evenly_spaced(len(full), most_rows or len(full))
    part = Part(full.X[few], full.y[few], None if full.sizes is None else full.sizes[few])
    chosen = replace(problem, validation=part)
    scores = [validation_score(chosen, policy.decide(part.rows())) for policy in policies]
    return Family(default_policy_first(policies, scores), history=history)
