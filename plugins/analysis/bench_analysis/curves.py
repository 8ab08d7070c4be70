"""Trade-off curves: what a method's family of policies is worth at every budget.

A seed's curve is a step function of the budget b: of all policies (of every grid point) whose *validation* cost is
within b, the one with the best *validation* quality is taken, and its cost and quality on the *test* part count. So a
curve rises on validation by construction, and nothing is chosen on the test part. A method's curve is the mean over
seeds, budget by budget. Every family is completed with the empty policy (`bench_records.complete`), so a curve begins
at cost 0. If the records do not hold the empty policy, the curve begins at the least budget at which every seed can
afford one of the method's own. Nothing is interpolated between policies: a budget between two of them gets the cheaper
one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_records import Records
from numpy.typing import NDArray

from bench_analysis.fronts import hypervolume, non_dominated, step_front
from bench_analysis.lottery import lottery_areas
from bench_analysis.points import cells_of, points_of
from bench_analysis.quality import Quality, default_quality, largest_cost
from bench_analysis.summary import Mean, margins, mean_with_margin, overlap

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["FEW_SEEDS", "LEVELS", "Curve", "Panel", "curves_of", "has_band", "panel_of"]

LEVELS = (0.95, 0.99, 1.0)
"""Shares of the full model's quality that "cost to reach" is given for."""

FEW_SEEDS = 5
"""With fewer seeds a curve has no band: its width would be mostly due to the t quantile (4.3 for three seeds)."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A method's trade-off on one data set under one cost scheme. Costs are shares of the price of all features.

    Attributes:
        method: its name in the suite.
        seeds: seeds that are done, ascending.
        policies: mean number of policies of a seed's family; the empty policy that completes it is not counted.
        budgets: float64 (steps,), ascending: where the mean curve changes.
        validation: float64 (steps,): mean quality on validation at each budget; never gets worse.
        quality: float64 (steps,): mean quality on the test part.
        margin: float64 (steps,): half the width of the 95 % interval of that mean over seeds, budget by budget,
            corrected for overlapping splits; NaN with one seed.
        cost: float64 (steps,): mean cost on the test part.
        coverage: float64 (steps,): mean share of conclusive answers, or None where nothing is refused.
        start: validation cost of the method's cheapest own policy.
        area: mean over seeds of the area under the curve of test quality, over budgets from 0 to 1; the worst quality
            counts where no policy can be afforded.
        lottery: the same area with lotteries over two policies instead of steps, see
            `bench_analysis.lottery`.
        full: mean test quality of the policy that an unlimited budget buys.
        reach: level → cost at which the mean curve first reaches that share of the full model's quality; NaN if
            never.
        volume: mean over seeds of the policies' hypervolume over coverage, accuracy and 1 − cost share; None where a
            task has no such metrics.
        full_by_seed: seed → test quality of the policy that an unlimited budget buys.
    """

    method: str
    seeds: tuple[int, ...]
    policies: float
    budgets: NDArray[np.float64]
    validation: NDArray[np.float64]
    quality: NDArray[np.float64]
    margin: NDArray[np.float64]
    cost: NDArray[np.float64]
    coverage: NDArray[np.float64] | None
    start: Mean
    area: Mean
    lottery: Mean
    full: float
    reach: Mapping[float, float]
    volume: Mean | None
    full_by_seed: Mapping[int, float]


@dataclass(frozen=True)
class Panel:
    """All curves of one data set under one cost scheme.

    Attributes:
        dataset, costs: their names in the suite.
        quality: what the curves show.
        cost: the metric of the horizontal axis, before it is made a share.
        largest: the value of that metric whose share is 1; 1 for ``cost``.
        floor: quality where nothing can be afforded.
        reference: the full model of "cost to reach", one method for all curves: the suite's, or the one that is best
            on validation with an unlimited budget.
        named: whether the suite named the reference.
        curves: in the suite's order of methods; methods without a done trial are missing.
        rejects: whether any policy refuses an answer.
    """

    dataset: str
    costs: str
    quality: Quality
    cost: str
    floor: float
    reference: str
    curves: tuple[Curve, ...]
    largest: float = 1.0
    named: bool = True

    @property
    def rejects(self) -> bool:
        """Whether any curve refuses answers."""
        return any(curve.coverage is not None for curve in self.curves)


def has_band(curve: Curve) -> bool:
    """Whether a curve has enough seeds for a band."""
    return len(curve.seeds) >= FEW_SEEDS


def curves_of(suite: Suite, records: Records, reference: str | None = None) -> list[Panel]:
    """The curves of every data set and cost scheme, in the suite's order, each with its default quality.

    Args:
        reference: see `Panel`; where it did not run, the best method takes its place.
    """
    panels = []
    for dataset, costs in suite.grids:
        cell = cells_of(records).get((dataset, costs))
        quality = default_quality(suite, records, cell) if cell is not None else None
        if cell is not None and quality is not None:
            panel = panel_of(records, cell, suite.methods_on(dataset), quality, reference=reference, suite=suite)
            if panel is not None:
                panels.append(panel)
    return panels


def panel_of(
    records: Records,
    cell: pd.DataFrame,
    methods: Sequence[str],
    quality: Quality,
    cost: str = "cost",
    reference: str | None = None,
    suite: Suite | None = None,
) -> Panel | None:
    """The curves of some methods on one data set; None when there is nothing to draw.

    Args:
        records: the suite's records.
        cell: done policies of one data set under one cost scheme, from `bench_analysis.points.cells_of`.
        methods: what to draw, in order.
        quality: the vertical axis.
        cost: the horizontal axis; see `bench_analysis.quality.cost_shares`.
        reference: the method that is the full model; see `Panel`.
        suite: says what the splits are drawn from and how many are expected; see
            `bench_analysis.summary.mean_with_margin`.
    """
    frame = cell[cell["method"].isin([*methods, *([reference] if reference else [])])]
    if frame.empty or not quality.known(frame):
        return None
    table = points_of(records, frame, quality, cost)
    floor = quality.worst
    if floor is None:
        floor = float(table["quality"].max() if quality.goal == "min" else table["quality"].min())
    dataset, costs = str(frame["dataset"].iloc[0]), str(frame["costs"].iloc[0])
    groups = table.groupby("method", sort=False).indices
    shared = overlap(records.infos[str(frame["name"].iloc[0])], suite.drawn_from(dataset) if suite else None)
    mean = partial(mean_with_margin, overlap=shared, expected=suite.seed_count(dataset) if suite else 0)
    columns = {str(name): table[name].to_numpy() for name in table.columns if name != "method"}
    curves = {
        str(name): _curve(
            str(name), {one: values[rows] for one, values in columns.items()}, quality, floor, shared, mean
        )
        for name, rows in groups.items()
    }
    drawn = [curves[name] for name in methods if name in curves]
    if not drawn:
        return None
    anchor = curves.get(reference) if reference else None
    best = anchor or (max if quality.goal == "max" else min)(drawn, key=lambda curve: curve.validation[-1])
    shown = tuple(_reached(curve, quality, best) for curve in drawn)
    largest = largest_cost(frame, cost)
    return Panel(dataset, costs, quality, cost, floor, best.method, shown, largest, anchor is not None)


def _curve(
    method: str,
    column: Mapping[str, NDArray[Any]],
    quality: Quality,
    floor: float,
    shared: float,
    mean: Callable[[Sequence[float] | NDArray[np.float64]], Mean],
) -> Curve:
    """The curve of one method, from the columns of `bench_analysis.points.points_of` in its rows.

    Args:
        shared: overlap of the splits.
        mean: `mean_with_margin` for these splits.
    """
    sign = 1.0 if quality.goal == "max" else -1.0
    seeds, group = np.unique(column["seed"], return_inverse=True)
    chosen = step_front(group.astype(np.int64), column["chosen_cost"], sign * column["chosen_quality"])
    seed, budget = group[chosen], column["chosen_cost"][chosen]
    bounds = np.searchsorted(seed, np.arange(len(seeds) + 1))
    first, last = bounds[:-1], bounds[1:] - 1

    own = column["own"].astype(bool)
    cheapest = np.full(len(seeds), np.inf)
    np.minimum.at(cheapest, group[own], column["chosen_cost"][own])
    ends = np.append(budget[1:], 1.0)
    ends[last] = 1.0
    width = np.clip(ends, 0.0, 1.0) - np.clip(budget, 0.0, 1.0)
    area = np.bincount(seed, weights=width * column["quality"][chosen], minlength=len(seeds))
    area = area + floor * np.clip(budget[first], 0.0, 1.0)

    refuses = bool((column["coverage"] < 1).any())
    names = ["chosen_quality", "quality", "cost", *(["coverage"] if refuses else [])]
    grid = np.unique(budget[budget >= budget[first].max()])
    steps = {name: _steps(grid, budget, bounds, column[name][chosen]) for name in names}
    means = {name: values.sum(axis=0) / len(seeds) for name, values in steps.items()}
    full = column["quality"][chosen][last]
    return Curve(
        method=method,
        seeds=tuple(int(s) for s in seeds),
        policies=int(own.sum()) / len(seeds),
        budgets=grid,
        validation=means["chosen_quality"],
        quality=means["quality"],
        margin=margins(steps["quality"], shared),
        cost=means["cost"],
        coverage=means.get("coverage"),
        start=mean(cheapest),
        area=mean(area),
        lottery=mean(
            lottery_areas(budget, sign * column["chosen_quality"][chosen], column["quality"][chosen], bounds, floor)
        ),
        full=float(full.mean()),
        reach={},
        volume=_volume(group, len(seeds), column, mean),
        full_by_seed={int(s): float(value) for s, value in zip(seeds, full, strict=True)},
    )


def _steps(
    grid: NDArray[np.float64], budget: NDArray[np.float64], bounds: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Each seed's step function at the grid's budgets, (seeds, grid); seed s owns ``bounds[s]:bounds[s + 1]``."""
    rows = []
    for start, stop in pairwise(bounds):
        place = np.searchsorted(budget[start:stop], grid, side="right") - 1
        rows.append(values[start:stop][place])
    return np.stack(rows)


def _volume(
    group: NDArray[np.int64],
    count: int,
    column: Mapping[str, NDArray[np.float64]],
    mean: Callable[[Sequence[float]], Mean],
) -> Mean | None:
    """Test hypervolume of the policies that are non-dominated on validation; mean over seeds."""
    known = [column[name] for name in ("chosen_coverage", "chosen_accuracy", "coverage", "accuracy")]
    if any(np.isnan(values).any() for values in known):
        return None
    chosen = np.column_stack([*known[:2], 1.0 - column["chosen_cost"]])
    tested = np.column_stack([*known[2:], 1.0 - column["cost"]])
    bounds = np.searchsorted(group, np.arange(count + 1))
    volumes = [hypervolume(tested[start:stop][non_dominated(chosen[start:stop])]) for start, stop in pairwise(bounds)]
    return mean(volumes)


def _reached(curve: Curve, quality: Quality, anchor: Curve) -> Curve:
    """The curve with its costs to reach the full model's quality, which is a mean over the seeds that both have."""
    common = [seed for seed in curve.seeds if seed in anchor.full_by_seed]
    full = float(np.mean([anchor.full_by_seed[seed] for seed in common])) if common else float("nan")
    reach = {}
    for level in LEVELS:
        there = quality.reaches(curve.quality, quality.target(full, level))
        reach[level] = float(curve.cost[int(there.argmax())]) if there.any() else float("nan")
    return replace(curve, reach=reach)
