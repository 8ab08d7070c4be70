"""Choose a family's default policy by the default metric, and thin out large families by cost."""

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
"""The most policies of a thinned family."""


def validation_score(problem: Problem, decisions: Decisions) -> tuple[float, float]:
    """Score decisions on the validation rows; greater is better, and the lower mean bill breaks ties.

    The score is the metric `bench_core.contract.metric.default_metric`.

    Args:
        problem: has the validation part, costs and threshold.
        decisions: a policy's decisions on ``problem.validation``. Without validation rows the score is ``(0, 0)``.
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
    """Move the policy with the greatest score (the first of equals) to the front; the others keep their order.

    Args:
        policies: the policies of a family.
        scores: a score for each policy, greater is better: its `validation_score` or the method's own measure, followed
            by values that break ties, such as a penalty.

    Raises:
        ValueError: there is no policy, or the number of scores differs.
    """
    if not policies or len(policies) != len(scores):
        raise ValueError(
            f"a family needs policies and one validation score for each, not {len(policies)} and {len(scores)}"
        )
    best = max(range(len(scores)), key=lambda i: (*scores[i], -i))
    return [policies[best], *policies[:best], *policies[best + 1 :]]


def spread_by_cost(problem: Problem, policies: Sequence[P], most: int = MOST_POLICIES) -> list[P]:
    """Thin out a family evenly over costs. The default policy is first, the others follow by rising cost.

    Costs are mean bills on the validation rows. The range from zero to the price of all features is divided into
    ``most`` intervals of equal length on a square-root scale, since small budgets matter most. The policy with the
    greatest `validation_score` of each interval is kept; selection by validation would choose the same one. A family of
    at most ``most`` policies is only sorted.

    Args:
        problem: has the validation part, costs and threshold.
        policies: the policies of a family; at least one.
        most: how many to keep.
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
