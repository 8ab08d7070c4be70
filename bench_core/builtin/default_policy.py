"""A family's default policy: which of its policies a method puts first, by the metric that suites select by unasked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from bench_core.builtin.metrics import BUILT_IN
from bench_core.contract.decisions import Decisions
from bench_core.contract.method import Policy, Problem
from bench_core.contract.metric import default_metric, resolve_metric
from bench_core.protocol.bill import outcome_of

P = TypeVar("P", bound=Policy)


def validation_score(problem: Problem, decisions: Decisions) -> tuple[float, float]:
    """How good decisions on the validation rows are, greater is better; the lower mean bill parts equals.

    The measure is `bench_core.contract.metric.default_metric`.

    Args:
        problem: its validation part, costs and threshold judge.
        decisions: of a policy on ``problem.validation``; without a validation row their score is ``(0, 0)``.
    """
    part = problem.validation
    if not len(part):
        return 0.0, 0.0
    outcome = outcome_of(decisions, part, problem.costs, problem.task, threshold=problem.threshold)
    name = default_metric(problem.task, problem.threshold)
    metric = resolve_metric(name, {known.name: known for known in BUILT_IN})
    value = float(metric.function(outcome))
    return (value if metric.goal == "max" else -value), -float(outcome.bill.mean())


def default_policy_first(policies: Sequence[P], scores: Sequence[tuple[float, ...]]) -> list[P]:
    """The policies with the one of greatest score (the first among equals) put first, the others as they were.

    Args:
        policies: a family's.
        scores: of each what it is chosen by, greater is better: its `validation_score` or a measure of the method's
            own, and behind that what parts equals, such as a penalty.

    Raises:
        ValueError: no policy, or another number of scores.
    """
    if not policies or len(policies) != len(scores):
        raise ValueError(
            f"a family needs policies and one validation score for each, not {len(policies)} and {len(scores)}"
        )
    best = max(range(len(scores)), key=lambda i: (*scores[i], -i))
    return [policies[best], *policies[:best], *policies[best + 1 :]]
