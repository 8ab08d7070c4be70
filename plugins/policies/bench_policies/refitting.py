"""Fit the chosen policy again on all rows, where its method can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench_core import Method, Part, Policy, Problem
from bench_policies.goals import within

__all__ = ["refitted"]


def refitted(method: Method, policy: Policy, problem: Problem, cap: float | None = None) -> Policy:
    """Return a policy fitted again on training and validation rows if its method offers ``refitted``; else unchanged.

    ``refitted(policy, problem)`` returns the same operating point with the same settings, fitted on more rows. The
    validation rows have already chosen the policy, so it may train on them.

    Args:
        method: the method.
        policy: its policy.
        problem: training and validation rows.
        cap: with a cap, the policy is unchanged if more rows would exceed the cap after refitting.
    """
    again = getattr(method, "refitted", None)
    if again is None:
        return policy
    train, validation = problem.train, problem.validation
    sizes = None
    if train.sizes is not None and validation.sizes is not None:
        sizes = np.concatenate([train.sizes, validation.sizes])
    X, y = np.concatenate([train.X, validation.X]), np.concatenate([train.y, validation.y])
    fitted: Policy = again(policy, replace(problem, train=Part(X, y, sizes)))
    if cap is not None and _above(fitted, problem, cap) > _above(policy, problem, cap):
        return policy  # it may choose a set above the cap, which would buy nothing
    return fitted


def _above(policy: Policy, problem: Problem, cap: float) -> int:
    """The number of validation rows that would cost more than a cap."""
    rows = problem.validation.rows()
    acquired = policy.decide(rows).acquired
    return sum(not within(float(bill), cap) for bill in problem.costs.bill(acquired, problem.validation.sizes))
