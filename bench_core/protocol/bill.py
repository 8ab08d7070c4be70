"""The bill: the core charges a policy's decisions, and combines bills and true labels to an outcome for metrics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.costs import Costs
from bench_core.contract.dataset import Part
from bench_core.contract.decisions import Decisions, Outcome
from bench_core.contract.readonly import locked


def outcome_of(
    decisions: Decisions,
    part: Part,
    costs: Costs,
    task: str,
    *,
    threshold: float | None = None,
    full: NDArray[np.float64] | None = None,
    reference: Decisions | None = None,
    budget: float | None = None,
) -> Outcome:
    """Charge the acquired features and the base models of each row, and return the outcome.

    Args:
        decisions: a policy's decisions on the part's rows, in their order.
        part: labels, item sizes and query ids.
        costs: the prices.
        task: the data set's task.
        threshold: confidence threshold p̂, or None when nothing is refused.
        full: float64 (rows,): the cost of all features; None computes it.
        reference: the family's reference decisions on the same rows, or None.
        budget: the greatest cost of any row that the policy promises, or None.
    """
    bill = locked(costs.bill(decisions.acquired, part.sizes))
    full = locked(costs.total(len(part), part.sizes)) if full is None else full
    if (evaluation_bill := decisions.evaluation_cost) is None:
        count = np.ones(len(decisions)) if decisions.evaluations is None else decisions.evaluations
        evaluation_bill = np.asarray(count, dtype=np.float64) * costs.evaluation
    evaluation_bill = locked(np.asarray(evaluation_bill, dtype=np.float64))
    return Outcome(task, part.y, decisions, bill, full, evaluation_bill, threshold, part.query, reference, budget)
