"""Measure chosen policies on the test parts of random splits, whose rows were not used to choose them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Method, RequestError
from bench_policies.goals import Goal, Judged
from bench_policies.judging import judge, trivial_answers
from bench_policies.trials import Bench

__all__ = ["corrected_half_width", "measure", "measure_trivial", "summary"]


def corrected_half_width(values: Sequence[float], test_share: float) -> float:
    """Return half of the 95 % interval of a mean over random splits, corrected for their overlap.

    The correction is that of Nadeau and Bengio (2003, Inference for the generalization error).

    Args:
        values: one value per split.
        test_share: number of test rows divided by the number of training rows.

    Returns:
        The half-width, in the unit of the values; NaN for fewer than two values.
    """
    count = len(values)
    if count < 2:
        return math.nan
    from scipy.stats import t

    variance = float(np.var(values, ddof=1)) * (1.0 / count + test_share)
    return float(t.ppf(0.975, count - 1)) * math.sqrt(variance)


def summary(chosen: Sequence[Judged], test_share: float) -> dict[str, Any]:
    """Return the mean of every figure over the splits, and its half-width under ``<name>_half``, as plain values.

    ``most`` is the greatest price of the features of a single row, on any split.

    Args:
        chosen: quality and cost of the chosen policy, one entry per split.
        test_share: as for `corrected_half_width`.
    """
    out: dict[str, Any] = {"splits": len(chosen)}
    for name in ("quality", "cost", "coverage", "accuracy", "loss", "total"):
        values = [getattr(judged, name) for judged in chosen]
        out[name] = float(np.mean(values)) if values else math.nan
        out[f"{name}_half"] = corrected_half_width(values, test_share)
    out["most"] = max((judged.most for judged in chosen), default=math.nan)
    return out


def measure(
    bench: Bench, name: str, method: Method, goal: Goal, splits: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Measure a method's chosen policies, and the answers without features, on the test parts of random splits.

    Returns:
        The values of `summary` and ``met``, the number of splits on which the goal is met (without splits, only
        ``splits``, 0); and the rows of `measure_trivial`.

    Raises:
        RequestError: the method failed on a split.
    """
    if not splits:
        return {"splits": 0}, []
    chosen: list[Judged] = []
    classes = bench.dataset.classes
    for seed in range(1, splits + 1):
        tried = bench.run_all(name, method, seed)
        if tried.error:
            raise RequestError(f"{name} failed on split {seed}: {tried.error}")
        number = goal.choose(
            [judge(outcome, classes, goal) for outcome in tried.validation], len(tried.validation[0].y)
        )
        chosen.append(judge(tried.test[number], classes, goal))
    measured = {**summary(chosen, bench.test_share), "met": sum(goal.met(judged) for judged in chosen)}
    return measured, measure_trivial(bench, goal, splits, bench.test_share)


def measure_trivial(
    bench: Bench,
    goal: Goal,
    splits: int,
    share: float,
    rows_of: Callable[[NDArray[np.generic]], NDArray[np.int64]] | None = None,
) -> list[dict[str, Any]]:
    """Measure the answers without features: ``answer`` and the values of `summary`, best first.

    Args:
        bench, goal, splits: as for `measure`.
        share: number of measured rows divided by the number of training and validation rows.
        rows_of: the rows of a test part to measure on, by its labels; None: all.
    """
    classes = bench.dataset.classes
    found: dict[str, list[Judged]] = {}
    for seed in range(1, splits + 1):
        prepared = bench.prepared(seed)
        y = prepared.test.y if rows_of is None else prepared.test.y[rows_of(prepared.test.y)]
        trivial = trivial_answers(prepared.problem.train.y, y, classes, goal, bench.setup.threshold)
        for answer, judged in trivial.items():
            found.setdefault(answer, []).append(judged)
    rows = [{"answer": answer, **summary(judged, share)} for answer, judged in found.items()]
    by = "total" if goal.error_costs is not None else "quality"
    return sorted(rows, key=lambda row: row[by] if by == "total" else -row[by])
