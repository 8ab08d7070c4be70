"""Metrics of the items at either end of the sizes (PolyDom, appendix, "Estimated Versus Actual").

What all features would cost grows with an item's size, and tells the core which items are the smallest.
"""

from __future__ import annotations

import numpy as np

from bench_core import Metric, Outcome

__all__ = ["METRICS", "accuracy_largest", "accuracy_smallest"]


def _accuracy_at(outcome: Outcome, price: float) -> float:
    return float(np.mean(outcome.correct[outcome.full_bill == price]))


def accuracy_smallest(outcome: Outcome) -> float:
    """Share of right answers among the items on which all features together are cheapest; 0 without items."""
    return _accuracy_at(outcome, outcome.full_bill.min()) if len(outcome.full_bill) else 0.0


def accuracy_largest(outcome: Outcome) -> float:
    """Share of right answers among the items on which all features together are most expensive; 0 without items."""
    return _accuracy_at(outcome, outcome.full_bill.max()) if len(outcome.full_bill) else 0.0


_TASKS = frozenset({"binary", "multiclass"})

METRICS = (
    Metric("accuracy-smallest", accuracy_smallest, "max", "Accuracy, smallest items", _TASKS, percent=True),
    Metric("accuracy-largest", accuracy_largest, "max", "Accuracy, largest items", _TASKS, percent=True),
)
