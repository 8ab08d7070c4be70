"""A family's default policy, by the metric that suites select by unasked; and large families thinned out by cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from bench_core.builtin.metrics import BUILT_IN
from bench_core.contract.decisions import Decisions
from bench_core.contract.method import Policy, Problem
from bench_core.contract.metric import default_metric, resolve_metric
from bench_core.protocol.bill import outcome_of

P = TypeVar("P", bound=Policy)

MOST_POLICIES = 40
"""Policies of a family that was thinned out, at most."""


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


def spread_by_cost(problem: Problem, policies: Sequence[P], most: int = MOST_POLICIES) -> list[P]:
    """A family with about as many policies at any cost: the default policy first, the others by rising cost.

    Costs are mean bills on the validation rows. The range from nothing to the price of all features is cut into
    ``most`` pieces, evenly on the scale of the square root, as budgets of interest are small ones. Of each piece the
    policy of greatest `validation_score` is kept, which is the one that selection by validation would take of it. A
    family of at most ``most`` policies is only ordered.

    Args:
        problem: its validation part, costs and threshold judge.
        policies: a family's; at least one.
        most: of them to keep.
    """
    rows = problem.validation.rows()
    scores = [validation_score(problem, policy.decide(rows)) for policy in policies]
    cost = np.array([-minus_cost for _, minus_cost in scores])
    order = sorted(range(len(policies)), key=lambda i: (cost[i], -scores[i][0]))
    if len(policies) > most:
        full = float(problem.costs.total(len(rows), rows.sizes).mean()) if len(rows) else 0.0
        share = np.clip(cost / full, 0.0, 1.0) if full > 0 else np.zeros(len(cost))
        piece = np.minimum((np.sqrt(share) * most).astype(np.int64), most - 1)
        pieces: dict[int, list[int]] = {}
        for i in order:
            pieces.setdefault(int(piece[i]), []).append(i)
        order = [max(there, key=lambda i: scores[i][0]) for there in pieces.values()]
    return default_policy_first([policies[i] for i in order], [scores[i] for i in order])
