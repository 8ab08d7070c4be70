"""Checks of metrics, on outcomes of each of their tasks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.dataset import Part
from bench_core.contract.decisions import Decisions, Outcome
from bench_core.contract.errors import ContractError
from bench_core.contract.facts import ALL_TASKS, Task
from bench_core.contract.metric import Metric
from bench_core.contract.readonly import is_write_refusal
from bench_core.protocol.bill import outcome_of
from bench_core.testing.problems import make_case

__all__ = ["METRIC_CHECKS", "make_outcome"]


def make_outcome(task: Task = "binary", seed: int = 0, *, certainty: float = 0.9, order: Any = None) -> Outcome:
    """A synthetic outcome of a policy with three stages on the kit's problem.

    All scores, and the probabilities of all rows, differ. There is a confidence threshold of 0.8, a budget, and
    reference decisions that read all features. Labels at a cap of 5 are those of the decisions.

    Args:
        task: any of the four tasks.
        seed: the seed of the problem and of the decisions.
        certainty: how close the answers are to the truth: 1 is right and certain, 0 is uninformative.
        order: int64 (rows,): the order of the rows; None keeps the order in which they were drawn.
    """
    case = make_case(task, seed=seed)
    rows, features = len(case.rows), case.problem.n_features
    order = np.arange(rows) if order is None else np.asarray(order)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0x0C]))
    stage = rng.integers(1, 4, rows)
    answers = _answers(case.y, case.problem.n_classes, certainty, rng)
    decided = Decisions(
        np.arange(features) < 2 * stage[:, None], stage=stage, evaluations=stage.astype(np.float64), **answers
    ).take(order)
    certain = _answers(case.y, case.problem.n_classes, 1.0, rng)
    reference = Decisions(np.ones((rows, features), dtype=bool), **certain).take(order)
    sizes, query = (None if x is None else x[order] for x in (case.rows.sizes, case.rows.query))
    outcome = outcome_of(
        decided.checked(rows, features, case.problem.n_classes),
        Part(case.rows.X[order], case.y[order], sizes, query),
        case.problem.costs,
        task,
        threshold=case.problem.threshold,
        reference=reference.checked(rows, features, case.problem.n_classes),
        budget=float(case.problem.costs.feature_prices().sum()),
    )
    labels = outcome.decisions.probabilities
    return outcome if labels is None else replace(outcome, at_caps={5: labels.argmax(axis=1)})


def _answers(y: NDArray[Any], classes: int, certainty: float, rng: np.random.Generator) -> dict[str, Any]:
    if not classes:
        noise = rng.normal(size=len(y))
        return {"score": certainty * y + (1.0 - certainty) * noise + 1e-6 * noise}
    uncertain = rng.dirichlet(np.ones(classes), len(y))
    share = certainty * rng.uniform(0.5, 1.0, len(y))[:, None]
    table = share * np.eye(classes)[y] + (1.0 - share) * uncertain
    return {"probabilities": table / table.sum(axis=1, keepdims=True)}


def _value(metric: Metric, outcome: Outcome) -> float:
    value = metric.function(outcome)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ContractError(f"metric {metric.name!r} must give a number, not {type(value).__name__}")
    return float(value)


def check_metric_declaration(metric: Metric, task: Task) -> None:
    """It is a `Metric` with a name, a goal, tasks, a version, and a function with a docstring."""
    name = metric.name
    if metric.goal not in ("max", "min"):
        raise ContractError(f"metric {name!r}: goal must be 'max' or 'min', not {metric.goal!r}")
    if not metric.tasks or not set(metric.tasks) <= ALL_TASKS:
        raise ContractError(f"metric {name!r}: tasks must be some of {', '.join(sorted(ALL_TASKS))}")
    if isinstance(metric.version, bool) or not isinstance(metric.version, int) or metric.version < 1:
        raise ContractError(f"metric {name!r}: version must be a whole number from 1, not {metric.version!r}")
    function: Any = metric.function
    while isinstance(function, partial):
        function = function.func
    if not (getattr(function, "__doc__", None) or "").strip():
        raise ContractError(f"metric {name!r}: its function needs a docstring that says what the number is")


def check_metric_value(metric: Metric, task: Task) -> None:
    """It gives one finite number, for certain answers and for uncertain ones."""
    for certainty in (1.0, 0.9, 0.3):
        value = _value(metric, make_outcome(task, certainty=certainty))
        if not math.isfinite(value):
            raise ContractError(f"metric {metric.name!r} gives {value} on an ordinary outcome")


def check_metric_unusual(metric: Metric, task: Task) -> None:
    """It gives a number or NaN if no answer is conclusive, nothing was paid, and there is no budget or reference."""
    outcome = make_outcome(task, certainty=0.0)
    nothing = replace(outcome.decisions, acquired=np.zeros_like(outcome.decisions.acquired))
    free = np.zeros(len(outcome.y))
    bare = Outcome(
        task,
        outcome.y,
        nothing,
        free,
        free,
        free,
        None if outcome.threshold is None else 1.0,
        outcome.query,
        outcome.reference if metric.reference else None,
    )
    with np.errstate(all="ignore"):
        _value(metric, bare)


def check_metric_same(metric: Metric, task: Task) -> None:
    """Computing it twice gives the same number to the last bit."""
    if _value(metric, make_outcome(task)) != _value(metric, make_outcome(task)):
        raise ContractError(f"metric {metric.name!r} gives another number the second time")


def check_metric_row_order(metric: Metric, task: Task) -> None:
    """It does not depend on the order of the rows, except for rounding."""
    order = np.random.default_rng(1).permutation(len(make_case(task).rows))
    in_order, shuffled = _value(metric, make_outcome(task)), _value(metric, make_outcome(task, order=order))
    if not math.isclose(in_order, shuffled, rel_tol=1e-9, abs_tol=1e-12):
        raise ContractError(f"metric {metric.name!r} depends on the order of the rows: {in_order} and {shuffled}")


def check_outcome_unchanged(metric: Metric, task: Task) -> None:
    """It does not change the outcome."""
    outcome, before = make_outcome(task), make_outcome(task)
    try:
        _value(metric, outcome)
    except (TypeError, ValueError) as error:
        if not is_write_refusal(error):
            raise
        raise ContractError(f"metric {metric.name!r} changed the outcome in place ({error}); work on a copy") from error
    for name in ("y", "bill", "full_bill", "evaluation_bill", "query"):
        if not np.array_equal(getattr(outcome, name), getattr(before, name)):
            raise ContractError(f"metric {metric.name!r} changed outcome.{name} in place; work on a copy")
    for name, was in vars(before.decisions).items():
        if not np.array_equal(getattr(outcome.decisions, name), was):
            raise ContractError(f"metric {metric.name!r} changed decisions.{name} in place; work on a copy")


METRIC_CHECKS: dict[str, Callable[[Metric, Task], None]] = {
    "declaration": check_metric_declaration,
    "value": check_metric_value,
    "unusual-outcome": check_metric_unusual,
    "same-value": check_metric_same,
    "row-order": check_metric_row_order,
    "outcome-unchanged": check_outcome_unchanged,
}
