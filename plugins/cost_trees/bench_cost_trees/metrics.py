"""Metrics of the total cost of a decision, tests and errors (Turney 1995, §2 and §4.1.1)."""

from __future__ import annotations

import numpy as np

from bench_core import Metric, Outcome

__all__ = ["METRICS", "standard_cost_share", "tests_and_errors"]

_CLASSES = frozenset({"binary", "multiclass"})


def _mean(values: np.ndarray) -> float:
    return float(np.add.reduce(values, dtype=np.float64)) / len(values) if len(values) else 0.0


def tests_and_errors(outcome: Outcome, k: int) -> float:
    """Mean over rows of the bill plus k for a wrong label, in the unit of the prices.

    A refused row counts by its label too, because no cost of refusing is defined.
    """
    return _mean(outcome.bill) + k * _mean(~outcome.correct)


def standard_cost_share(outcome: Outcome, k: int) -> float:
    """`tests_and_errors` divided by the standard cost of making all tests and naming the most frequent class.

    The standard cost is ``T + min_i (1 − f_i) · max_ij C_ij`` (Turney 1995, Eq. 6), which is ``T + (1 − max f) · k``
    for equal error costs. The article takes the class frequencies f over all rows of the data set; here they are
    those of the evaluated part, which is stratified.
    """
    rows = len(outcome.y)
    if not rows:
        return 0.0
    rarest = 1.0 - int(np.unique(outcome.y, return_counts=True)[1].max()) / rows
    standard = _mean(outcome.full_bill) + k * rarest
    return tests_and_errors(outcome, k) / standard if standard > 0 else 0.0


METRICS: tuple[Metric, ...] = (
    Metric("test-plus-error-cost@k", tests_and_errors, "min", "Tests + errors at @k", _CLASSES),
    Metric("standard-cost-share@k", standard_cost_share, "min", "Of standard cost at @k", _CLASSES, percent=True),
)
