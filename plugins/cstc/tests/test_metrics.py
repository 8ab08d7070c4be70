"""The best policy within a budget: any policy within it beats any beyond it, and beyond it the cheaper is better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench_cstc.metrics import METRICS, best_within

from bench_core import Decisions, Outcome, mse
from bench_core.records import resolve_metric


def outcome(task: str, paid: float, evaluations: float = 0.0, **fields: Any) -> Outcome:
    """Four rows of two features that together cost 10; all answers but the last are right."""
    y = np.array([0, 1, 1, 0]) if task in ("binary", "multiclass") else np.array([0.0, 1.0, 2.0, 0.0])
    acquired = np.zeros((4, 2), dtype=bool)
    if task in ("binary", "multiclass"):
        right = np.array([0, 1, 1, 1])
        decisions = Decisions(acquired, np.eye(2)[right])
    else:
        decisions = Decisions(acquired, score=np.array([0.0, 1.0, 2.0, 2.0]))
    bills = (np.full(4, paid), np.full(4, 10.0), np.full(4, evaluations))
    return Outcome(task, y, decisions, *bills, **fields)


def test_it_is_the_tasks_quality_within_the_budget() -> None:
    assert best_within(outcome("binary", 3.0), 30) == 0.75
    assert best_within(outcome("multiclass", 3.0), 30) == 0.75
    assert best_within(outcome("regression", 3.0), 30) == 0.5  # mean squared error 1
    query = np.zeros(4, dtype=np.int64)
    assert best_within(outcome("binary", 3.0, query=query), 30) == pytest.approx(2 / 5)
    assert 0 < best_within(outcome("ranking", 3.0, query=query), 30) < 1


def test_beyond_the_budget_it_is_minus_the_share_of_the_price() -> None:
    assert best_within(outcome("binary", 3.1), 30) == pytest.approx(-0.31)
    assert best_within(outcome("binary", 0.0, evaluations=5.0), 30) == pytest.approx(-0.5)
    assert best_within(outcome("binary", 0.0, evaluations=5.0), 50) == 0.75


def test_it_resolves_with_a_number() -> None:
    metric = resolve_metric("best-within@30", {one.name: one for one in METRICS})
    assert metric.function(outcome("binary", 3.0)) == 0.75
    assert metric.goal == "max"


def test_a_value_shows_whether_the_policy_is_beyond_the_budget() -> None:
    metric = resolve_metric("best-within@30", {one.name: one for one in METRICS})
    assert metric.missed is not None
    worst = outcome("regression", 3.0)
    assert not metric.missed(metric.function(worst))
    assert not metric.missed(0.0)
    assert metric.missed(metric.function(outcome("binary", 3.1)))


def test_the_error_of_values_is_of_regressions_only() -> None:
    """Early exits shift a ranking's scores by rank, so their squared error is meaningless."""
    metric = resolve_metric("regression-mse", {one.name: one for one in METRICS})
    assert metric.tasks == {"regression"}
    assert metric.function(outcome("regression", 3.0)) == mse(outcome("regression", 3.0)) == 1.0
