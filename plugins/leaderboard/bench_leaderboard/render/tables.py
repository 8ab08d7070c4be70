"""The tables of a page: of one data set with its facts, of grids whose end is selected, and of optimism."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from bench_analysis import Grid, GridEnd, Optimism, Row, few_splits
from bench_records import Records, refusal_threshold

from bench_core import Metric
from bench_core.suites import Suite
from bench_leaderboard.render.markdown import number, plain_number, shown, table, text
from bench_leaderboard.render.templates import rendered
from bench_leaderboard.tables_schema import GridEndEntry

__all__ = [
    "dataset_section",
    "dominators",
    "grid_table",
    "head_of",
    "heading",
    "marked",
    "optimism_table",
    "paper_numbers",
]

_NAMED = 4
_OFTEN = 0.1
"""A grid's end is listed if it is selected on more than this share of the data sets."""

Paper = dict[tuple[str, str], dict[tuple[str, str], float]]


def heading(suite: Suite, dataset: str, costs: str) -> str:
    """A data set's heading, as plain text."""
    return dataset + (f" · {costs}" if suite.has_several_costs(dataset) else "")


def head_of(metric: Metric) -> str:
    """A metric's column head."""
    return text(metric.title or metric.name) + (" %" if metric.percent else "")


def marked(cell: str, mark: str) -> str:
    """A number with its mark."""
    return f"**{cell}**" if mark == "best" else f"{cell} ≈" if mark == "near" else cell


def dominators(dominated: Mapping[str, Sequence[str]], method: str) -> str:
    """The cell of a method: at most four of the rows that dominate it and that no row dominates; – if there are none.

    Args:
        dominated: name of each dominated row → the rows that dominate it.
        method: name of the row.
    """
    front = [other for other in dominated.get(method, ()) if other not in dominated]
    if len(front) > _NAMED:
        front = [*front[: _NAMED - 1], f"{len(front) - _NAMED + 1} more"]
    return text("; ".join(front)) or "–"  # names contain commas


def paper_numbers(suite: Suite) -> Paper:
    """(data set, cost scheme) → (method, metric) → the paper's number."""
    numbers: Paper = defaultdict(dict)
    for entry in suite.section("paper"):
        costs = entry.costs or next(c for d, c in suite.grids if d == entry.dataset)
        numbers[entry.dataset, costs][entry.method, entry.metric] = entry.value
    return dict(numbers)


def dataset_section(suite: Suite, records: Records, grid: Grid, paper: Paper) -> str:
    """The section of a data set under a cost scheme."""
    numbers = paper.get((grid.dataset, grid.costs), {})
    columns = grid.columns
    reasons = _inapplicable(records, grid)
    head = ["Method", *(head_of(suite.metrics[n]) for n in columns), "Seeds", "Selected by"]
    if grid.dominated:
        head.append("Dominated by")
    body = [_cells(suite, grid, row, columns, numbers, row.method in reasons) for row in grid.rows]
    known = {row.method for row in grid.rows}
    for method in dict.fromkeys(m for m, _ in numbers if m not in known):
        blank = [_with_paper("–", suite.metrics[n], numbers.get((method, n))) for n in columns]
        body.append([text(method), *blank, "–", "–", *(["–"] if grid.dominated else [])])
    return rendered(
        "dataset",
        heading=heading(suite, grid.dataset, grid.costs),
        columns=columns,
        head=head,
        body=body,
        few=_few(grid),
        over_budget=any(row.over_budget for row in grid.rows),
        inapplicable=", ".join(
            f"{text(row.method)} ({text(reasons[row.method])})" for row in grid.rows if row.method in reasons
        ),
        **(_facts(suite, records, grid) if columns else {}),
    )


def _few(grid: Grid) -> str:
    """``One of 5 splits has been run``, if no method has done more, or two; else nothing."""
    done = max((row.done for row in grid.rows), default=0)
    asked = max((row.expected for row in grid.rows), default=0)
    if not done or not few_splits(done, asked):
        return ""
    return f"One of {asked} splits has been run" if done == 1 else f"Two of {asked} splits have been run"


def _done_trial(suite: Suite, records: Records, grid: Grid) -> str:
    place = grid.dataset, grid.costs
    return next(name for m in suite.methods_on(grid.dataset) for name in records.trials.get((*place, m), ()))


def _inapplicable(records: Records, grid: Grid) -> dict[str, str]:
    """Methods without a number that cannot be tried on a data set → why."""
    empty = {row.method for row in grid.rows if not row.done}
    return {
        method: reason
        for (dataset, costs, method, _), reason in records.inapplicable.items()
        if (dataset, costs) == (grid.dataset, grid.costs) and method in empty
    }


def _cells(
    suite: Suite, grid: Grid, row: Row, columns: list[str], paper: dict[tuple[str, str], float], inapplicable: bool
) -> list[str]:
    cells = []
    for name in columns:
        metric = suite.metrics[name]
        cell = "–"
        if name in row.means:
            cell = number(row.means[name], metric.percent)
        cell = marked(cell, grid.marks.get(name, {}).get(row.method, ""))
        cells.append(_with_paper(cell, metric, paper.get((row.method, name))))
    count = f"{row.done}" if row.done == row.expected else f"{row.done} of {row.expected}"
    if inapplicable:
        count = "not applicable"
    line = [text(row.method), *cells, count, _selected_by(row)]
    if grid.dominated:
        line.append(dominators(grid.dominated, row.method))
    return line


def _selected_by(row: Row) -> str:
    """The rule of selection, and whether its cap was exceeded."""
    if not row.over_budget:
        return text(row.rule) or "–"
    seeds = "" if row.over_budget == row.done else f" on {row.over_budget} of {row.done} seeds"
    return f"{text(row.rule)}, *over budget*{seeds}"


def _with_paper(cell: str, metric: Metric, value: float | None) -> str:
    return cell if value is None else f"{cell} (paper {shown(value, metric.percent)})"


def _facts(suite: Suite, records: Records, grid: Grid) -> dict[str, Any]:
    """Facts on the data: rows of each part, features, threshold, objectives, content hash."""
    name = _done_trial(suite, records, grid)
    info, identity = records.infos[name], records.identities[name]
    trials = [records.trials.get((grid.dataset, grid.costs, m), []) for m in suite.methods_on(grid.dataset)]
    return {
        "features": len(info["features"]),
        "rows": info["rows"],
        "threshold": refusal_threshold(records.identities[name] for names in trials for name in names),
        "objectives": ", ".join(text(suite.metric(aim).title or aim) for aim in grid.objectives),
        "content": identity["dataset"][:12],
    }


def grid_table(suite: Suite, grid_ends: Sequence[GridEnd]) -> str:
    """The table of grids whose end is selected on more than a tenth of the data sets, and why they end there."""
    reasons: Sequence[GridEndEntry] = suite.section("grid_ends")
    body = []
    for one in grid_ends:
        if len(one.datasets) <= _OFTEN * one.of:
            continue
        tried = {f"{_end(grid[0])} to {_end(grid[-1])}, {len(grid)} values" for grid in one.grids}
        values = {_end(grid[0 if one.end == "least" else -1]) for grid in one.grids}
        why = [
            reason.why
            for reason in reasons
            if (reason.parameter, reason.end) == (one.parameter, one.end)
            and one.method in (reason.methods or [one.method])
        ]
        body.append([
            text(one.method),
            text(one.parameter),
            tried.pop() if len(tried) == 1 else "by data set",
            f"{values.pop()}, the {one.end}" if len(values) == 1 else f"the {one.end}",
            text(why[0]) if why else "–",
            f"{len(one.datasets)} of {one.of}",
        ])  # fmt: skip
    head = ["Method", "Parameter", "Tried", "Selected", "Why the grid ends there", "Data sets"]
    return table(head, body, 5) if body else ""


def optimism_table(rows: Sequence[Optimism]) -> str:
    """The table of how much better methods look on validation than on test; empty without a row."""
    head = ["Method", "Policies", "Validation − test, points", "Largest", "on", "Data sets"]
    body = [
        [
            text(row.method),
            plain_number(row.policies, 3),
            f"{100 * row.value:.1f}".replace("-", "−"),
            f"{100 * row.worst[0]:.1f}".replace("-", "−"),
            text(row.worst[1]),
            str(row.datasets),
        ]
        for row in rows
    ]
    return table(head, body) if body else ""


def _end(value: float) -> str:
    return plain_number(value) if abs(value) >= 1e9 or value != round(value, 6) else f"{value:g}"
