"""Which policy of a family is the method's own favourite: the best on validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench_core import Decisions, Outcome, Problem
from bench_core.metrics import combined, error, mse, ndcg_at

__all__ = ["favourite", "worth"]


def worth(problem: Problem, decisions: Decisions) -> tuple[float, float]:
    """How good decisions on the validation rows are, greater is better; ties go to the lower mean bill.

    By the metric that a suite selects by when it says nothing: ``combined`` with a confidence threshold, accuracy
    without one, NDCG@5 for ranking, the mean squared error for regression.
    """
    part = problem.validation
    rows = len(part)
    bill = problem.costs.bill(decisions.acquired, part.sizes)
    outcome = Outcome(
        task=problem.task,
        y=part.y,
        decisions=decisions,
        bill=bill,
        full_bill=problem.costs.total(rows, part.sizes),
        evaluation_bill=np.zeros(rows),
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


def favourite(worths: Sequence[tuple[float, float]]) -> int:
    """The best of them, the first among equals."""
    return max(range(len(worths)), key=lambda i: (*worths[i], -i))
