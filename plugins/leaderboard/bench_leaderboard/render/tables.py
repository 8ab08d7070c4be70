"""The sections of a page that belong to one data set: its table, its facts."""

from __future__ import annotations

from collections import defaultdict

from bench_records import Records

from bench_core import Metric, Suite
from bench_leaderboard.analysis.summary import Row
from bench_leaderboard.analysis.tables import Grid
from bench_leaderboard.render.markdown import code, number, shown, table, text

__all__ = ["MARKS_READ", "dataset_section", "head_of", "heading", "marked", "paper_numbers"]

Paper = dict[tuple[str, str], dict[tuple[str, str], float]]

MARKS_READ = (
    "**Bold** is the best mean of a column; ≈ marks what cannot be told from it at the 5 % level by a paired t-test "
    "over common seeds, one row at a time. The test has the same variance as ±: where a row's mean ± margin does not "
    "meet the best row's, it is never marked ≈; where the two meet, the paired test may still tell them apart, because "
    "what one split makes hard for both rows drops out of their difference. Rows with fewer seeds than the fullest "
    "take no part. *Dominated by*: a row that is at least as good in all objectives and better in one, on the means."
)

OVER_BUDGET_READ = (
    "A row is *over budget* where no policy of its family and grid keeps, on validation, the cap that it was to be "
    "selected within: the row shows the last resort, and is compared with nothing."
)


def heading(suite: Suite, dataset: str, costs: str) -> str:
    """A data set's heading, as plain text."""
    return dataset + (f" · {costs}" if suite.has_several_costs(dataset) else "")


def head_of(metric: Metric) -> str:
    """A metric's column head."""
    return text(metric.title or metric.name) + (" %" if metric.percent else "")


def marked(cell: str, mark: str) -> str:
    """A number with its mark."""
    return f"**{cell}**" if mark == "best" else f"{cell} ≈" if mark == "near" else cell


def paper_numbers(suite: Suite) -> Paper:
    """(data set, cost scheme) → (method, metric) → the paper's number."""
    numbers: Paper = defaultdict(dict)
    for entry in suite.section("paper"):
        costs = entry.costs or next(c for d, c in suite.grids if d == entry.dataset)
        numbers[entry.dataset, costs][entry.method, entry.metric] = entry.value
    return dict(numbers)


def dataset_section(suite: Suite, records: Records, grid: Grid, paper: Paper) -> list[str]:
    """The section of a data set under a cost scheme."""
    lines = [f"## {text(heading(suite, grid.dataset, grid.costs))}", ""]
    numbers = paper.get((grid.dataset, grid.costs), {})
    columns = [n for n in suite.metrics if any(n in row.means for row in grid.rows)]
    reasons = _inapplicable(records, grid)
    inapplicable = ", ".join(
        f"{text(row.method)} ({text(reasons[row.method])})" for row in grid.rows if row.method in reasons
    )
    notes = [f"Not applicable here: {inapplicable}.", ""] if inapplicable else []
    if not columns:
        return [*lines, "No trial of this data set is done.", "", *notes]
    head = ["Method", *(head_of(suite.metrics[n]) for n in columns), "Seeds", "Selected by"]
    if grid.dominated:
        head.append("Dominated by")
    body = [_cells(suite, grid, row, columns, numbers, row.method in reasons) for row in grid.rows]
    known = {row.method for row in grid.rows}
    for method in dict.fromkeys(m for m, _ in numbers if m not in known):
        blank = [_with_paper("–", suite.metrics[n], numbers.get((method, n))) for n in columns]
        body.append([text(method), *blank, "–", "–", *(["–"] if grid.dominated else [])])
    over = [OVER_BUDGET_READ, ""] if any(row.over_budget for row in grid.rows) else []
    return [*lines, *_facts(suite, records, grid), table(head, body), "", *over, *notes]


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
        cell = number(row.means[name], metric.percent) if name in row.means else "–"
        cell = marked(cell, grid.marks.get(name, {}).get(row.method, ""))
        cells.append(_with_paper(cell, metric, paper.get((row.method, name))))
    count = f"{row.done}" if row.done == row.expected else f"{row.done} of {row.expected}"
    if inapplicable:
        count = "not applicable"
    line = [text(row.method), *cells, count, _selected_by(row)]
    if grid.dominated:
        line.append(text(", ".join(grid.dominated.get(row.method, []))) or "–")
    return line


def _selected_by(row: Row) -> str:
    """The rule, and whether nothing kept its cap."""
    if not row.over_budget:
        return text(row.rule) or "–"
    seeds = "" if row.over_budget == row.done else f" on {row.over_budget} of {row.done} seeds"
    return f"{text(row.rule)}, *over budget*{seeds}"


def _with_paper(cell: str, metric: Metric, value: float | None) -> str:
    return cell if value is None else f"{cell} (paper {shown(value, metric.percent)})"


def _facts(suite: Suite, records: Records, grid: Grid) -> list[str]:
    """A line on the data: rows of each part, features, threshold, objectives, content hash."""
    dataset, costs = grid.dataset, grid.costs
    name = next(name for m in suite.methods_on(dataset) for name in records.trials.get((dataset, costs, m), ()))
    info, identity = records.infos[name], records.identities[name]
    rows = info["rows"]
    threshold = identity["threshold"]
    refused = f"; confidence threshold p̂ = {threshold:g}" if threshold is not None else ""
    aims = ", ".join(text(suite.metric(aim).title or aim) for aim in grid.objectives)
    return [
        f"{len(info['features'])} features; {rows['train']} training, {rows['validation']} validation and "
        f"{rows['test']} test rows{refused}; objectives: {aims}; data {code(identity['dataset'][:12])}.",
        "",
    ]
