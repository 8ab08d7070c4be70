"""Metrics of the smallest and the largest items (PolyDom, appendix, "Estimated Versus Actual").

The price of all features grows with an item's size, so it identifies the smallest and the largest items.
"""

from __future__ import annotations

import numpy as np

from bench_core import Metric, Outcome

__all__ = ["METRICS", "accuracy_largest", "accuracy_smallest"]


def _accuracy_at(outcome: Outcome, price: float) -> float:
    return float(np.mean(outcome.correct[outcome.full_bill == price]))


def accuracy_smallest(outcome: Outcome) -> float:
    """Accuracy on the items with the lowest price of all features; 0 if there are no items."""
    return _accuracy_at(outcome, outcome.full_bill.min()) if len(outcome.full_bill) else 0.0


def accuracy_largest(outcome: Outcome) -> float:
    """Accuracy on the items with the highest price of all features; 0 if there are no items."""
    return _accuracy_at(outcome, outcome.full_bill.max()) if len(outcome.full_bill) else 0.0


_TASKS = frozenset({"binary", "multiclass"})

METRICS = (
    Metric("accuracy-smallest", accuracy_smallest, "max", "Accuracy, smallest items", _TASKS, percent=True),
    Metric("accuracy-largest", accuracy_largest, "max", "Accuracy, largest items", _TASKS, percent=True),
)
