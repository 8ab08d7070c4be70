"""Nested splits: methods are compared, and their reported figures measured, on rows that no method has seen.

In every split, a method trains on half of the rows and tunes on a fifth, which also chooses its policy. Two thirds of
the other rows are decision rows, on which methods are compared; a third are report rows, for the reported figures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench_core import Outcome, SplitRule

__all__ = ["DECISION_SHARE", "REPORT_SHARE", "RULE", "divided", "report_rows"]

RULE = SplitRule(train=0.5, validation=0.2, test=0.3)
DECISION_SHARE, REPORT_SHARE = 0.2 / 0.7, 0.1 / 0.7
"""Number of decision and of report rows divided by the number of training and validation rows."""


def divided(outcome: Outcome) -> tuple[Outcome, Outcome]:
    """Return the outcome on the decision rows and on the report rows of a test part, with about the same class shares.

    Args:
        outcome: the outcome on the test part, which has three rows or more.
    """
    report = report_rows(outcome.y)
    decision = np.setdiff1d(np.arange(len(outcome.y)), report)
    return _rows(outcome, decision), _rows(outcome, report)


def report_rows(y: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the report rows of a test part with these labels, int64, ascending."""
    return np.sort(np.argsort(y, kind="stable")[1::3])


def _rows(outcome: Outcome, rows: NDArray[np.int64]) -> Outcome:
    return replace(
        outcome,
        y=outcome.y[rows],
        decisions=outcome.decisions.take(rows),
        bill=outcome.bill[rows],
        full_bill=outcome.full_bill[rows],
        evaluation_bill=outcome.evaluation_bill[rows],
        reference=None,
        query=None,
    )
