"""Over all data sets: means of means, average ranks, and the tests that go with them. Nothing is ever imputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from bench_analysis import ALPHA, Analysed, Cells, Grid, Mean, Row, dominated_by, mean_of_means
from numpy.typing import NDArray

from bench_comparison.statistics import (
    FEW_DATA_SETS,
    WILCOXON_NEEDS,
    Friedman,
    average_ranks,
    critical_difference,
    friedman,
    nemenyi,
    wilcoxon_holm,
)

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["Comparison", "Overall", "compare_ranks", "overall", "overall_of"]

_IN_OTHER_WORDS: dict[str, str | None] = {
    "cost": "cost-share",
    "total-cost": None,
    "evaluation-cost": None,
    "mse": None,
}
"""Metric in a data set's own unit, which cannot be averaged over data sets → the metric that replaces it, or None."""


@dataclass(frozen=True)
class Comparison:
    """Methods compared over data sets by one metric.

    Attributes:
        metric: its name.
        methods: names, in the suite's order.
        ranks: average rank of each; 1 is best.
        datasets: how many.
        difference: Nemenyi's critical difference.
        friedman: None for fewer than three methods, or when all tie.
        wilcoxon: pair of methods → p-value corrected by Holm; empty for fewer than `WILCOXON_NEEDS` data sets.
        nemenyi: pair of methods → p-value; empty for fewer than `FEW_DATA_SETS` data sets, or when all tie.
    """

    metric: str
    methods: list[str]
    ranks: NDArray[np.float64]
    datasets: int
    difference: float
    friedman: Friedman | None
    wilcoxon: dict[tuple[str, str], float] = field(default_factory=dict)
    nemenyi: dict[tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Overall:
    """The table over all data sets.

    Attributes:
        datasets: (data set, cost scheme) pairs it is over: the first cost scheme of every data set.
        metrics: of the columns.
        left_out: metrics of the suite that cannot be averaged, or that some data set's table does not show.
        means: method → metric → mean, of complete methods.
        counts: method → (trials done, expected).
        partial: methods that the suite does not run on every data set.
        dominated: method → methods that dominate it, on the means.
        marks: metric → method → ``best`` or ``near``.
        comparisons: metric → ranks and tests; empty when the grid has holes.
        refused: why there are no ranks; empty when there are.
        over_budget: methods that miss their own cap on some data set; they are left out.
        absent: data sets without any record; they are left out.
        incomplete: data sets on which a method lacks splits that others have, left out where at least two are complete.
    """

    datasets: list[tuple[str, str]]
    metrics: list[str]
    left_out: list[str]
    means: dict[str, dict[str, Mean]]
    counts: dict[str, tuple[int, int]]
    partial: list[str]
    dominated: dict[str, list[str]]
    marks: dict[str, dict[str, str]]
    comparisons: dict[str, Comparison]
    refused: str
    over_budget: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)

    @property
    def few(self) -> bool:
        """Whether there are too few data sets for the tests to have power."""
        return len(self.datasets) < FEW_DATA_SETS


def overall_of(analysed: Analysed) -> Overall | None:
    """The table over all data sets of a suite's records; None when there is none to make."""
    return analysed.once("overall", lambda of: overall(of.tables, of.suite, of.cells))


def overall(tables: Sequence[Grid], suite: Suite, cells: Cells) -> Overall | None:
    """The table over all data sets that are complete; None for fewer than two data sets with a record.

    A data set is complete if every method that is run on all data sets has the splits that have been run so far: as
    many as the method with the most. Data sets that are left out are named. If fewer than two are complete, the table
    is over all that have records: it has the means of the methods that are complete on all of these, and no ranks.
    """
    every = list({grid.dataset: grid for grid in reversed(tables)}.values())[::-1]
    there = [grid for grid in every if any(row.done for row in grid.rows)]
    if len(there) < 2:
        return None
    on_all = set.intersection(*(set(suite.methods_on(grid.dataset)) for grid in there))
    complete_sets = [grid for grid in there if not any(row.method in on_all for row in _lacking(grid))]
    first = complete_sets if len(complete_sets) >= 2 else there
    places = [(grid.dataset, grid.costs) for grid in first]
    overlaps = [grid.overlap for grid in first]
    run = [m for m in suite.method_names() if all(m in suite.methods_on(d) for d, _ in places)]
    over = [m for m in run if any(cells.over_budget(d, c, m) for d, c in places)]
    everywhere = [m for m in run if m not in over]
    counts = dict.fromkeys(everywhere, (0, 0))
    for grid in first:
        for row in grid.rows:
            if row.method in counts:
                done, expected = counts[row.method]
                counts[row.method] = done + row.done, expected + row.expected
    lacking = {row.method for grid in first for row in _lacking(grid)}
    complete = [m for m in everywhere if m not in lacking]
    shown = [metric for metric in suite.metrics if all(metric in grid.columns for grid in first)]
    metrics, left_out = _columns(suite, shown, cells, places, complete)
    means = {
        m: {metric: mean_of_means([cells.values(d, c, m, metric) for d, c in places], overlaps) for metric in metrics}
        for m in complete
    }
    holes = [m for m in everywhere if m not in complete]
    refused, comparisons = "", {}
    if holes:
        refused = _refusal(first, holes)
    elif len(everywhere) >= 2:
        for metric in shown:
            table = _means(cells, places, everywhere, metric)
            if table is not None:
                comparisons[metric] = compare_ranks(table, everywhere, metric, suite.metrics[metric].goal)
    aims = _aims(first, metrics)
    points = {m: [means[m][a].value for a in aims] for m in complete} if aims else {}
    return Overall(
        datasets=places,
        metrics=metrics,
        left_out=left_out,
        means=means,
        counts=counts,
        partial=[m for m in suite.method_names() if m not in run],
        over_budget=over,
        absent=[grid.dataset for grid in every if grid not in there],
        incomplete=[grid.dataset for grid in there if grid not in first],
        dominated=dominated_by(points, [suite.metric(a) for a in aims]),
        marks={metric: _marks(means, metric, suite.metric(metric).goal, comparisons) for metric in metrics},
        comparisons=comparisons,
        refused=refused,
    )


def _lacking(grid: Grid) -> list[Row]:
    """The rows with fewer splits than have been run so far: than the row with the most."""
    most = max((row.done for row in grid.rows), default=0)
    return [row for row in grid.rows if row.done < min(row.expected, most)]


def compare_ranks(table: NDArray[np.float64], methods: list[str], metric: str, goal: str) -> Comparison:
    """Ranks and tests of a table (data sets, methods) without holes."""
    datasets = len(table)
    pairs: dict[tuple[str, str], float] = {}
    if datasets >= WILCOXON_NEEDS:
        pairs = {(methods[a], methods[b]): p for (a, b), p in wilcoxon_holm(table).items()}
    tested = friedman(table)
    posthoc: dict[tuple[str, str], float] = {}
    if tested is not None and datasets >= FEW_DATA_SETS:
        p_values = nemenyi(table)
        posthoc = {(a, b): float(p_values[i, j]) for (i, a), (j, b) in combinations(enumerate(methods), 2)}
    return Comparison(
        metric=metric,
        methods=methods,
        ranks=average_ranks(table, goal),
        datasets=datasets,
        difference=critical_difference(len(methods), datasets),
        friedman=tested,
        wilcoxon=pairs,
        nemenyi=posthoc,
    )


def _columns(
    suite: Suite, shown: Sequence[str], cells: Cells, places: Sequence[tuple[str, str]], complete: Sequence[str]
) -> tuple[list[str], list[str]]:
    columns, left_out = [], []
    for metric in suite.metrics:
        equivalent = _IN_OTHER_WORDS.get(metric, metric) if metric in shown else None
        everywhere = equivalent is not None and all(
            len(cells.values(d, c, m, equivalent)) for d, c in places for m in complete
        )
        if equivalent is None or not everywhere or not complete:
            left_out.append(metric)
        elif equivalent not in columns:
            columns.append(equivalent)
    return columns, left_out


def _means(
    cells: Cells, places: Sequence[tuple[str, str]], methods: Sequence[str], metric: str
) -> NDArray[np.float64] | None:
    values = [[cells.values(d, c, m, metric) for m in methods] for d, c in places]
    if not all(len(cell) for row in values for cell in row):
        return None
    # Rounded, so that means that differ only by rounding errors tie.
    return np.array([[float(f"{np.nanmean(cell):.12g}") for cell in row] for row in values])


def _aims(first: Sequence[Grid], metrics: Sequence[str]) -> list[str]:
    """The objectives that all data sets share, as metrics that can be averaged; empty where they differ."""
    kinds = {tuple(grid.objectives) for grid in first}
    if len(kinds) != 1:
        return []
    equivalents = [_IN_OTHER_WORDS.get(aim, aim) for aim in next(iter(kinds))]
    return [aim for aim in equivalents if aim is not None] if all(aim in metrics for aim in equivalents) else []


def _refusal(first: Sequence[Grid], holes: Sequence[str]) -> str:
    missing = [
        f"{row.method} on {grid.dataset} ({row.done} of {row.expected})"
        for grid in first
        for row in _lacking(grid)
        if row.method in holes
    ]
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return f"{', '.join(missing[:5])}{more}"


def _marks(
    means: dict[str, dict[str, Mean]], metric: str, goal: str, comparisons: dict[str, Comparison]
) -> dict[str, str]:
    values = {method: known[metric].value for method, known in means.items()}
    if len(set(values.values())) < 2:  # nothing to compare
        return {}
    best = (max if goal == "max" else min)(values.values())
    marked = {method: "best" for method, value in values.items() if value == best}
    leader = next(iter(marked))
    compared = comparisons.get(metric)
    for (a, b), p in compared.wilcoxon.items() if compared else ():
        if leader in (a, b) and p >= ALPHA:
            marked.setdefault(b if a == leader else a, "near")
    return marked
