"""The empty policy: it buys nothing and gives every row the same answer. The core adds it to every family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench_core.contract.decisions import Decisions, Outcome
from bench_core.contract.method import Problem
from bench_core.contract.readonly import locked

__all__ = ["empty_answer", "empty_outcome"]


def empty_answer(problem: Problem) -> list[float]:
    """Compute the answer for a row without known features from the training part.

    Returns:
        The frequency of each class; for regression and ranking one number, the mean of the target.
    """
    y = problem.train.y
    if not problem.n_classes:
        return [float(np.mean(y)) if len(y) else 0.0]
    counts = np.bincount(np.asarray(y, dtype=np.int64), minlength=problem.n_classes).astype(np.float64)
    shares = counts / counts.sum() if counts.sum() else np.full(len(counts), 1.0 / len(counts))
    return [float(share) for share in shares]


def empty_outcome(answer: Sequence[float], outcome: Outcome) -> Outcome:
    """Return the outcome of the empty policy on the rows of another policy's outcome, without reference and budget.

    Args:
        answer: from `empty_answer`.
        outcome: the outcome of any policy on a part; its labels, prices and threshold are used.
    """
    acquired = np.zeros(outcome.decisions.acquired.shape, dtype=bool)
    nothing = locked(np.zeros(rows := len(acquired)))
    if outcome.decisions.probabilities is None:
        decisions = Decisions(acquired, score=np.full(rows, answer[0]), evaluations=nothing)
    else:
        table = np.tile(np.array(answer, dtype=np.float64), (rows, 1))
        decisions = Decisions(acquired, probabilities=table, evaluations=nothing)
    free = replace(outcome, decisions=decisions, bill=nothing, evaluation_bill=nothing, reference=None, budget=None)
    return replace(free, at_caps={cap: free.label.copy() for cap in outcome.at_caps})
