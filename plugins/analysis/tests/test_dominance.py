"""Dominance of a table's rows: at least as good throughout, and better somewhere."""

from __future__ import annotations

import pytest
from bench_analysis.dominance import dominated_by, objectives

from bench_core.builtin.metrics import BUILT_IN

METRICS = {metric.name: metric for metric in BUILT_IN}
GOALS = METRICS["coverage"], METRICS["cost"]  # the more, the better; the less, the better


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0.9, 10.0), (0.8, 10.0), True),
        ((0.8, 9.0), (0.8, 10.0), True),
        ((0.9, 9.0), (0.8, 10.0), True),
        ((0.8, 10.0), (0.8, 10.0), False),
        ((0.9, 11.0), (0.8, 10.0), False),
        ((0.7, 9.0), (0.8, 10.0), False),
        ((0.8 + 1e-14, 10.0), (0.8, 10.0), False),  # better only by rounding
        ((0.8 - 1e-14, 9.0), (0.8, 10.0), True),  # worse only by rounding
    ],
)
def test_who_dominates_whom(a: tuple[float, float], b: tuple[float, float], expected: bool) -> None:
    found = dominated_by({"a": a, "b": b}, GOALS)
    assert ("a" in found.get("b", [])) is expected
    assert not (expected and "a" in found)


def test_equal_rows_do_not_dominate_each_other_and_all_dominators_are_named() -> None:
    points = {"worst": (0.7, 12.0), "twin": (0.8, 10.0), "other twin": (0.8, 10.0), "cheap": (0.75, 1.0)}
    found = dominated_by(points, GOALS)
    assert found == {"worst": ["twin", "other twin", "cheap"]}


@pytest.mark.parametrize(
    ("task", "threshold", "listed", "expected"),
    [
        ("binary", 0.7, [], ["coverage", "conclusive-accuracy", "cost"]),
        ("multiclass", None, [], ["accuracy", "cost"]),
        ("ranking", None, ["cost", "precision@5", "ndcg@3"], ["precision@5", "cost"]),
        ("ranking", None, ["cost"], ["ndcg@5", "cost"]),
        ("regression", None, [], ["mse", "cost"]),
    ],
)
def test_what_a_row_is_judged_by(task: str, threshold: float | None, listed: list[str], expected: list[str]) -> None:
    assert objectives(task, threshold, listed) == expected
