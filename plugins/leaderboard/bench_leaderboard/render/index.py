"""``suite.json``, what an export says about itself, and what is made of those of all exports: one table of results."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench_core import RequestError, Suite, canonical_json
from bench_leaderboard.analysis.records import Records
from bench_leaderboard.analysis.summary import Row
from bench_leaderboard.analysis.tables import Grid
from bench_leaderboard.analysis.verdicts import Checked
from bench_leaderboard.render.claims import claim_counts
from bench_leaderboard.render.front import render_front
from bench_leaderboard.render.tables import heading

__all__ = ["COMPARISON", "DESCRIPTION", "RESULTS", "describe", "read_descriptions", "render_results"]

DESCRIPTION, COMPARISON = "suite.json", "comparison.json"
RESULTS = "results.csv"
_FORMAT = 1
_SHOWN = ("name", "title", "source", "metrics", "rows")
_FAULTS = (ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError)
"""What comes of a description that is not one."""


def describe(suite: Suite, records: Records, tables: Sequence[Grid], checked: Sequence[Checked] = ()) -> bytes:
    """The contents of ``suite.json``: the suite's title and source, how its claims fared, the means of every row.

    Numbers have six significant digits, so that they are the same on every machine. A row's ``ended``, where
    there is one, says how many of its seeds will have no result, by why.
    """
    head = suite.file.suite

    def ended_of(grid: Grid, row: Row) -> dict[str, dict[str, int]]:
        ended = records.ended.get((grid.dataset, grid.costs, row.method))
        return {"ended": ended} if ended else {}

    metrics = {
        name: {"title": metric.title or name, "goal": metric.goal, "percent": metric.percent}
        for name, metric in suite.metrics.items()
    }
    rows = [
        {
            "dataset": grid.dataset,
            "costs": grid.costs,
            "heading": heading(suite, grid.dataset, grid.costs),
            "method": row.method,
            "done": row.done,
            "expected": row.expected,
            **ended_of(grid, row),
            "means": {
                name: [_digits(row.means[name].value), _digits(row.means[name].margin)]
                for name in suite.metrics
                if name in row.means
            },
        }
        for grid in tables
        for row in grid.rows
    ]
    description = {
        "format": _FORMAT,
        "name": suite.name,
        "title": head.title or head.name,
        "source": head.source,
        "metrics": metrics,
        "columns": list(suite.metrics),
        "claims": claim_counts(checked),
        "rows": rows,
    }
    return (canonical_json(description) + "\n").encode()


def _digits(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def read_descriptions(out: Path, instead: Mapping[Path, bytes]) -> list[dict[str, Any]]:
    """What every export below ``out`` says about itself, by name; ``comparison`` is in it where there is one.

    Args:
        instead: files that are about to be written, taken instead of those on the disk.

    Raises:
        RequestError: a description is damaged.
    """
    paths = {path for path in instead if path.name == DESCRIPTION}
    paths |= set(out.glob(f"*/{DESCRIPTION}"))
    descriptions = []
    for path in sorted(paths):
        description = _read(path, instead)
        beside = path.with_name(COMPARISON)
        if beside in instead or (path not in instead and beside.is_file()):
            description["comparison"] = _read(beside, instead)
            _checked(beside, [description])
        descriptions.append(description)
    return sorted(descriptions, key=lambda description: str(description["name"]))


def _read(path: Path, instead: Mapping[Path, bytes]) -> dict[str, Any]:
    try:
        description = json.loads(instead[path] if path in instead else path.read_bytes())
        if path.name == DESCRIPTION and any(key not in description for key in _SHOWN):
            raise ValueError("it lacks a key")
        if not isinstance(description, dict):
            raise TypeError("it is no table")
    except _FAULTS as error:
        raise RequestError(f"{path} is damaged ({error}); render its suite again") from None
    if path.name == DESCRIPTION:
        _checked(path, [description])
    return description


def _checked(path: Path, described: Sequence[Mapping[str, Any]]) -> None:
    try:
        render_front(described)
        render_results(described)
    except _FAULTS as error:
        raise RequestError(f"{path} is damaged ({error}); render its suite again") from None


def render_results(described: Sequence[Mapping[str, Any]]) -> str:
    """Every suite's means as CSV: a line for each data set, cost scheme, method and metric of its tables."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["dataset", "costs", "method", "suite", "metric", "mean", "margin", "done", "expected"])
    lines: list[list[Any]] = []
    for description in described:
        for row in description["rows"]:
            place = [row["dataset"], row["costs"], row["method"], description["name"]]
            count = [row["done"], row["expected"]]
            names = [name for name in description.get("columns", []) if name in row["means"]]
            lines += [[*place, name, *row["means"][name], *count] for name in names]
            if not names:
                lines.append([*place, "", None, None, *count])
    lines.sort(key=lambda line: [str(cell) for cell in line[:5]])
    writer.writerows(lines)
    return out.getvalue()
