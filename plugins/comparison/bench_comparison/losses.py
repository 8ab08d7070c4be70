"""What is lost by taking a method, from draws of means: expected loss, intervals, practical equality."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BAND", "CLEARLY", "beaten", "group_of", "intervals", "losses", "outcomes", "plain"]

Numbers = NDArray[np.float64]

BAND = 0.01
"""Practically equal: within one point of the task's metric (of accuracy; of the share of the variance explained; of
NDCG), on average over data sets."""

LIKELY, CLEARLY = 0.5, 0.95
"""A method is practically equal to the recommended one, or clearly worse (it loses more than the band), if that has at
least this probability."""


def losses(means: Numbers, groups: Sequence[int], rivals: Sequence[bool]) -> Numbers:
    """What each unit loses against the best of the others; float64 (draws, units), never negative.

    Args:
        means: float64 (draws, units); NaN for a unit that is missing.
        groups: the group of each unit; units of one group are not rivals.
        rivals: whether each unit is a rival of the units of other groups.
    """
    best = np.full(means.shape, -np.inf)
    numbers, counted = np.asarray(groups), np.asarray(rivals)
    filled = np.where(np.isnan(means), -np.inf, means)
    for group in np.unique(numbers):
        others = counted & (numbers != group)
        if others.any():
            best[:, numbers == group] = filled[:, others].max(axis=1, keepdims=True)
    lost = np.where(np.isinf(best), 0.0, best - means)
    return np.asarray(np.where(np.isnan(means), np.nan, np.maximum(lost, 0.0)))


def beaten(means: Numbers, rivals: Sequence[bool]) -> Numbers:
    """Probability that a unit has the best mean of the rivals, a tie divided; float64 (units,), NaN without draws.

    Args:
        means: float64 (draws, units).
        rivals: whether each unit is a rival; others have probability 0.
    """
    if np.isnan(means).all():
        return np.full(means.shape[1], np.nan)
    filled = np.where(np.isnan(means) | ~np.asarray(rivals)[None], -np.inf, means)
    best = (filled == filled.max(axis=1, keepdims=True)) & np.isfinite(filled)
    return np.asarray((best / np.maximum(best.sum(axis=1, keepdims=True), 1)).sum(axis=0) / len(means))


def outcomes(differences: Numbers) -> tuple[float, float, float]:
    """Probabilities that a difference is above the band, within it, and below it.

    Args:
        differences: float64 (draws,), in the metric, more is better; NaN where there is none.
    """
    if not len(differences) or np.isnan(differences).any():
        return float("nan"), float("nan"), float("nan")
    better, worse = float((differences > BAND).mean()), float((differences < -BAND).mean())
    return better, 1.0 - better - worse, worse


def group_of(better: float, equal: float, worse: float) -> str:
    """``equal`` where that is at least as likely as not, ``worse`` where it is clear, else ``open``.

    Args:
        better, equal, worse: of a method against the recommended one, from `outcomes`.
    """
    if np.isnan(equal):
        return "open"
    if equal >= LIKELY:
        return "equal"
    return "worse" if worse >= CLEARLY else "open"


def intervals(means: Numbers, *, mean: bool = False) -> list[list[float | None]]:
    """``[value, low, high]`` of each unit: 95 % of the draws lie between the ends; both None without draws.

    Args:
        means: float64 (draws + 1, units); the first row is the observed one.
        mean: take the mean of the draws as the value, for an expected loss.
    """
    draws = means[1:]
    if not len(draws):
        return [[plain(value), None, None] for value in means[0].tolist()]
    values = np.add.accumulate(draws)[-1] / len(draws) if mean else means[0]
    values = np.where(np.isnan(draws).any(axis=0), means[0], values)
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    rows = zip(values.tolist(), low.tolist(), high.tolist(), strict=True)
    return [[plain(number) for number in row] for row in rows]


def plain(value: float) -> float | None:
    """A number to four digits, the same on every machine; None for NaN."""
    return round(value, 4) + 0.0 if np.isfinite(value) else None
