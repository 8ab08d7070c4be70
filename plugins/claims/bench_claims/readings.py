"""Reads the quality of a family of policies at a budget: of the best policy within it, or of a lottery over two.

*Steps*: the best policy on validation among those whose validation cost is within the budget. *Hull*: a policy may also
be drawn at random for each row, see `bench_analysis.lottery`. The policies and their probabilities are
chosen on validation; cost and quality are measured on the test part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from bench_analysis import Quality, cost_shares, hull, step_front
from bench_records import Records
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["first_of_curves", "quality_matched", "quality_within"]

Numbers = NDArray[np.float64]
Reading = Literal["steps", "hull"]
_ROUNDING = 1e-9
"""A number keeps a limit that it exceeds by at most this share."""


def quality_within(
    records: Records, frame: pd.DataFrame, quality: Quality, budget: float, reading: Reading, cost: str = "cost"
) -> tuple[NDArray[np.int64], Numbers]:
    """Test quality of one method's family within a budget, by seed; NaN for a seed without an affordable policy.

    Args:
        frame: the method's done policies on one data set.
        quality: the metric of quality.
        budget: share of the price of all features (of the largest cost, for another ``cost``).
        reading: ``steps`` or ``hull``.

    Returns:
        Seeds, ascending, and their numbers.
    """
    frame = frame.sort_values(["seed", "point", "policy"], kind="stable")
    sign = 1.0 if quality.goal == "max" else -1.0
    spent, chosen = cost_shares(records, frame, "validation", cost), sign * quality.values(frame, "validation")
    tested = quality.values(frame, "test")
    known = np.isfinite(spent) & np.isfinite(chosen) & np.isfinite(tested)
    seeds, group = np.unique(frame["seed"].to_numpy()[known], return_inverse=True)
    spent, chosen, tested = spent[known], chosen[known], tested[known]
    front = step_front(group.astype(np.int64), spent, chosen)
    bounds = np.searchsorted(group[front], np.arange(len(seeds) + 1))
    qualities = [_at(spent[own], chosen[own], tested[own], budget, reading) for own in _pieces(front, bounds)]
    return seeds.astype(np.int64), np.array(qualities, dtype=np.float64)


def quality_matched(
    frame: pd.DataFrame,
    quality: Quality,
    spent: str,
    most: float,
    reading: Reading,
    full: Sequence[float] | None = None,
) -> tuple[NDArray[np.int64], Numbers]:
    """Test quality of one method's family where a metric reaches a value on the test part, by seed.

    Which policies are on the curve is decided on validation, as for `quality_within`: the Pareto-optimal policies in
    the metric and the quality, and of these only the vertices of the hull for lotteries. The curve is followed from the
    smallest value of the metric to the greatest, up to the point where the metric *on the test part* first exceeds the
    value. The result is the quality of the last policy before (``steps``), or of the lottery over it and the next
    policy that has exactly this value (``hull``). So methods are compared at the same value, and nothing else is chosen
    on the test part.

    Args:
        frame: the method's done policies on one data set.
        quality: the metric of quality.
        spent: the metric, of which less is better.
        most: its value.
        reading: ``steps`` or ``hull``.
        full: (metric, quality) of the full model, which every family contains. If no policy has less of the metric on
            validation, the curve begins with it, even if another policy is equal there.

    Returns:
        Seeds, ascending, and their numbers; the last policy's if the curve ends below the value, NaN if it begins
        above.
    """
    seeds, qualities = [], []
    for seed, front in _matched_curves(frame, quality, spent, reading, full):
        seeds.append(seed)
        qualities.append(_passing(front[:, 1], front[:, 3], most, reading))
    return np.array(seeds, dtype=np.int64), np.array(qualities, dtype=np.float64)


def first_of_curves(frame: pd.DataFrame, quality: Quality, spent: str, reading: Reading) -> Numbers:
    """The metric on the test part, by seed, of the first policy on the family's own curve; see `quality_matched`.

    Below it the family has no policy of its own.
    """
    fronts = [front for _, front in _matched_curves(frame, quality, spent, reading, None)]
    return np.array([front[0, 1] for front in fronts], dtype=np.float64)


def _matched_curves(
    frame: pd.DataFrame, quality: Quality, spent: str, reading: Reading, full: Sequence[float] | None
) -> Iterator[tuple[int, Numbers]]:
    """Seed and curve: rows of the metric on validation and test, the quality on validation and test."""
    frame = frame.sort_values(["seed", "point", "policy"], kind="stable")
    sign = 1.0 if quality.goal == "max" else -1.0
    table = np.column_stack(
        [
            *(frame[f"{part}.{spent}"].to_numpy(dtype=np.float64) for part in ("validation", "test")),
            *(quality.values(frame, part) for part in ("validation", "test")),
        ]
    )
    known = np.isfinite(table).all(axis=1)
    of_row = frame["seed"].to_numpy()[known]
    for seed in np.unique(of_row):
        own = table[known][of_row == seed]
        full_model = np.array([] if full is None else [full[0], full[0], full[1], full[1]]).reshape(-1, 4)
        own = np.vstack([full_model, own])
        front = own[step_front(np.zeros(len(own), dtype=np.int64), own[:, 0], sign * own[:, 2])]
        if reading == "hull":
            front = front[hull(front[:, 0], sign * front[:, 2])]
        # A policy that equals the full model on validation, at a lower cost, may differ from it on the test part.
        if len(full_model) and full_model[0, 0] <= front[0, 0]:
            front = np.vstack([full_model, front])
        yield int(seed), front


def _passing(spent: Numbers, tested: Numbers, most: float, reading: Reading) -> float:
    """The quality where a curve's metric first passes a value."""
    beyond = np.flatnonzero(spent > most * (1 + _ROUNDING))
    if not len(beyond):
        return float(tested[-1])
    after = int(beyond[0])
    if after == 0:
        return float("nan")
    share = (most - spent[after - 1]) / (spent[after] - spent[after - 1]) if reading == "hull" else 0.0
    return float(tested[after - 1] + max(share, 0.0) * (tested[after] - tested[after - 1]))


def _pieces(front: NDArray[np.int64], bounds: NDArray[np.int64]) -> Sequence[NDArray[np.int64]]:
    return [front[start:stop] for start, stop in pairwise(bounds)]


def _at(spent: Numbers, chosen: Numbers, tested: Numbers, budget: float, reading: Reading) -> float:
    """One seed's quality within a budget."""
    limit = budget * (1 + _ROUNDING)
    if limit < spent[0]:
        return float("nan")
    if reading == "hull":
        own = hull(spent, chosen)
        return float(np.interp(budget, spent[own], tested[own]))
    return float(tested[np.searchsorted(spent, limit, side="right") - 1])
