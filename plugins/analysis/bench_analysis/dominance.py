"""Objectives and Pareto dominance of a table's rows, on their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bench_core import Metric

__all__ = ["dominated_by", "objectives"]

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


def dominated_by(points: Mapping[str, Sequence[float]], metrics: Sequence[Metric]) -> dict[str, list[str]]:
    """Name → names of those that dominate it, in the order given; only names that are dominated.

    A point dominates another if it is at least as good in every metric and, beyond rounding, better in at least one.
    """
    names, goals = list(points), [metric.goal for metric in metrics]
    dominating = _dominating(np.array(list(points.values()), dtype=np.float64).reshape(len(names), len(goals)), goals)
    found = {name: np.flatnonzero(column).tolist() for name, column in zip(names, dominating.T, strict=True)}
    return {name: [names[i] for i in others] for name, others in found.items() if others}


def _dominating(points: NDArray[np.float64], goals: Sequence[str]) -> NDArray[np.bool_]:
    """Whether point i dominates point j; bool (points, points), from float64 (points, goals)."""
    signed = points * np.where(np.array(goals) == "max", 1.0, -1.0)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        gain = signed[:, None] - signed[None]
    slack = _EQUAL * np.maximum(np.abs(points)[:, None], np.abs(points)[None])
    return np.asarray(~(gain < -slack).any(axis=2) & (gain > slack).any(axis=2))
