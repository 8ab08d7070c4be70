"""Objectives and Pareto dominance of a table's rows, on their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench_core import Metric

__all__ = ["dominated_by", "dominates", "objectives"]

_REJECTING = ("coverage", "conclusive-accuracy", "cost")
_EQUAL = 1e-12


def objectives(task: str, threshold: float | None, listed: Sequence[str]) -> list[str]:
    """The metrics by which rows dominate each other.

    Coverage, conclusive accuracy and cost where answers can be refused; otherwise the quality and cost: accuracy
    for classes, MSE for numbers, the first ``ndcg@…`` or ``precision@…`` the suite lists for rankings.
    """
    if task in ("binary", "multiclass"):
        return list(_REJECTING) if threshold is not None else ["accuracy", "cost"]
    if task == "ranking":
        ranked = [name for name in listed if name.startswith(("ndcg@", "precision@"))]
        return [ranked[0] if ranked else "ndcg@5", "cost"]
    return ["mse", "cost"]


def dominates(a: Sequence[float], b: Sequence[float], goals: Sequence[str]) -> bool:
    """Whether ``a`` is at least as good as ``b`` in every objective and, beyond rounding, better in at least one."""
    better = False
    for x, y, goal in zip(a, b, goals, strict=True):
        gain = x - y if goal == "max" else y - x
        slack = _EQUAL * max(abs(x), abs(y))
        if gain < -slack:
            return False
        better |= gain > slack
    return better


def dominated_by(points: Mapping[str, Sequence[float]], metrics: Sequence[Metric]) -> dict[str, list[str]]:
    """Name → names of those that dominate it, in the order given; only names that are dominated."""
    goals = [metric.goal for metric in metrics]
    dominators = {
        name: [other for other, theirs in points.items() if dominates(theirs, point, goals)]
        for name, point in points.items()
    }
    return {name: others for name, others in dominators.items() if others}
