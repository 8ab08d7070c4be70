"""A data set's table: means over seeds, the best of each column, what a test cannot distinguish from it, dominance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from bench_records import Records, refusal_threshold

from bench_analysis.cells import Cells
from bench_analysis.dominance import dominated_by, objectives
from bench_analysis.resampled import ALPHA, corrected_resampled_t
from bench_analysis.summary import Mean, Row, overlap, summarise

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["Grid", "grids", "marks", "objectives_at"]

_OF_RANKINGS = ("ndcg@", "precision@")


@dataclass(frozen=True)
class Grid:
    """A data set's table under one cost scheme.

    Attributes:
        rows: in the suite's order of methods; their means are of the suite's metrics and the objectives.
        compared: methods that take part in marks and dominance: those with the same seeds as the fullest row, none
            of them over budget.
        objectives: metrics of the Pareto comparison; empty when nothing is done.
        marks: metric → method → ``best`` or ``near`` (not distinguishable from the best).
        dominated: method → methods that dominate it, on the means.
        overlap: of the splits, which every interval and every test of the table is corrected for.
        columns: the suite's metrics that the table shows: those with a number, and metrics of rankings only where rows
            are ranked.
    """

    dataset: str
    costs: str
    rows: list[Row]
    compared: list[str] = field(default_factory=list)
    objectives: list[str] = field(default_factory=list)
    marks: dict[str, dict[str, str]] = field(default_factory=dict)
    dominated: dict[str, list[str]] = field(default_factory=dict)
    overlap: float = 0.0
    columns: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every seed of every row is done."""
        return all(row.done == row.expected for row in self.rows)


def grids(records: Records, suite: Suite, cells: Cells) -> list[Grid]:
    """Every table of a suite, in its order."""
    aims = {place: objectives_at(records, suite, cells, *place) for place in suite.grids}
    metrics = dict.fromkeys([*suite.metrics, *(aim for some in aims.values() for aim in some)])
    tables = summarise(records, cells.chosen, suite, list(metrics))
    return [_grid(records, suite, cells, place, rows, aims[place]) for place, rows in tables.items()]


def _first(cells: Cells, suite: Suite, dataset: str, costs: str) -> str | None:
    """The name of one done trial of a table."""
    return next((n[0] for m in suite.methods_on(dataset) if (n := cells.names(dataset, costs, m))), None)


def objectives_at(records: Records, suite: Suite, cells: Cells, dataset: str, costs: str) -> list[str]:
    """The objectives of a table: those with refusals if any of its methods refuses rows; empty when nothing is done."""
    named = _first(cells, suite, dataset, costs)
    if named is None:
        return []
    names = (name for method in suite.methods_on(dataset) for name in cells.names(dataset, costs, method))
    threshold = refusal_threshold(records.identities[name] for name in names)
    return objectives(records.infos[named]["task"], threshold, list(suite.metrics))


def _grid(
    records: Records, suite: Suite, cells: Cells, place: tuple[str, str], rows: list[Row], aims: list[str]
) -> Grid:
    dataset, costs = place
    named = _first(cells, suite, dataset, costs)
    if named is None:
        return Grid(dataset, costs, rows)
    seeds = {row.method: cells.seeds(dataset, costs, row.method) for row in rows}
    fullest = max(seeds.values(), key=len)
    comparable = {
        row.method: row.means for row in rows if np.array_equal(seeds[row.method], fullest) and not row.over_budget
    }
    points = {m: [means[a].value for a in aims] for m, means in comparable.items() if all(a in means for a in aims)}
    shared = overlap(records.infos[named], suite.drawn_from(dataset))
    marks_by_metric = {
        metric: marks(cells, dataset, costs, comparable, metric, suite.metrics[metric].goal, shared)
        for metric in suite.metrics
    }
    dominated = dominated_by(points, [suite.metric(aim) for aim in aims])
    columns = _columns(suite, rows, records.infos[named]["task"])
    return Grid(dataset, costs, rows, list(comparable), aims, marks_by_metric, dominated, shared, columns)


def _columns(suite: Suite, rows: Sequence[Row], task: str) -> list[str]:
    """The metrics with values; without refused answers, coverage is 1 and conclusive accuracy is accuracy."""
    names = [name for name in suite.metrics if any(name in row.means for row in rows)]
    coverage = [row.means["coverage"].value for row in rows if "coverage" in row.means]
    if all(value == 1.0 for value in coverage):
        same = {"coverage", "conclusive-accuracy"} if "accuracy" in names else {"coverage"}
        names = [name for name in names if name not in same]
    others = [name for name in names if not name.startswith(_OF_RANKINGS)]
    return names if task == "ranking" or not others else others


def marks(
    cells: Cells,
    dataset: str,
    costs: str,
    means: Mapping[str, Mapping[str, Mean]],
    metric: str,
    goal: str,
    overlap: float,
) -> dict[str, str]:
    """Method → ``best`` or ``near``: the best mean (ties too), and those that a paired test cannot distinguish from it.

    The test is the corrected resampled t-test at 5 %, row by row, with the variance that the rows' intervals have. So
    a row is near only if its interval and the best row's meet (see `bench_analysis.summary`). A row whose mean differs
    from the best by more than both margins is not near, even if the test on few seeds cannot distinguish them.

    Args:
        means: method → metric → mean, of the rows that are compared.
        overlap: of the splits, as the means' margins were corrected for.
    """
    values = {method: known[metric].value for method, known in means.items() if metric in known}
    if len(set(values.values())) < 2:  # nothing to compare
        return {}
    best = (max if goal == "max" else min)(values.values())
    marked = {method: "best" for method, value in values.items() if value == best}
    leader = next(iter(marked))
    for rival in values:
        reach = max(means[leader][metric].margin, means[rival][metric].margin)
        if rival not in marked and abs(values[rival] - best) <= reach:
            ours, theirs = cells.paired(dataset, costs, leader, rival, metric)
            if corrected_resampled_t(ours - theirs, overlap) >= ALPHA:
                marked[rival] = "near"
    return marked
