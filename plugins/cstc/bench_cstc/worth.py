"""How good a policy is on validation: by it the family's first policy is chosen."""

from __future__ import annotations

import numpy as np

from bench_core import Outcome, Policy, Problem, Rows
from bench_core.metrics import combined, error, mse, ndcg_at

__all__ = ["worth"]


def worth(problem: Problem, policy: Policy) -> tuple[float, float]:
    """The greater the better; equals are told apart by the lower mean bill. (0, 0) without validation rows.

    By the metric that a suite selects by when it says nothing: ``combined`` with a confidence threshold, accuracy
    without one, NDCG@5 for a ranking, the mean squared error for a regression.
    """
    part = problem.validation
    if not len(part):
        return 0.0, 0.0
    decisions = policy.decide(Rows(part.X, part.sizes))
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
    elif problem.task == "ranking":
        value = ndcg_at(outcome, 5)
    else:
        value = -mse(outcome)
    return value, -float(bill.mean())
