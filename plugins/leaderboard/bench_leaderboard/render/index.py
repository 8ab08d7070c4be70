"""``suite.json``, what an export says about itself, and the index over all exports: every method × every data set."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench_core import RequestError, Suite, canonical_json
from bench_leaderboard.analysis.tables import Grid
from bench_leaderboard.render.markdown import plain_number, slug, table, text
from bench_leaderboard.render.tables import heading

__all__ = ["DESCRIPTION", "describe", "read_descriptions", "render_index"]

DESCRIPTION = "suite.json"
_FORMAT = 1
_SHOWN = ("name", "title", "source", "metrics", "rows")
_FAULTS = (ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError)
"""What comes of a description that is not one."""


def describe(suite: Suite, tables: Sequence[Grid]) -> bytes:
    """The contents of ``suite.json``: the suite's title and source, and the means of every table's row.

    Numbers have six significant digits, so that they are the same on every machine.
    """
    head = suite.file.suite
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
            "means": {
                name: [_digits(row.means[name].value), _digits(row.means[name].margin)]
                for name in suite.metrics
                if name in row.means
            },
        }
        for grid in tables
        for row in grid.rows
    ]
    said = {
        "format": _FORMAT,
        "name": suite.name,
        "title": head.title or head.name,
        "source": head.source,
        "metrics": metrics,
        "columns": list(suite.metrics),
        "rows": rows,
    }
    return (canonical_json(said) + "\n").encode()


def _digits(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def read_descriptions(out: Path, instead: Mapping[Path, bytes]) -> list[dict[str, Any]]:
    """What every export below ``out`` says about itself, by name.

    Args:
        instead: files that are about to be written, taken instead of those on the disk.

    Raises:
        RequestError: a description is damaged.
    """
    paths = {path for path in instead if path.name == DESCRIPTION}
    paths |= set(out.glob(f"*/{DESCRIPTION}"))
    found = []
    for path in sorted(paths):
        try:
            said = json.loads(instead[path] if path in instead else path.read_bytes())
            if any(key not in said for key in _SHOWN):
                raise ValueError("it lacks a key")
            render_index([said])
        except _FAULTS as error:
            raise RequestError(f"{path} is damaged ({error}); render its suite again") from None
        found.append(said)
    return sorted(found, key=lambda said: str(said["name"]))


def render_index(described: Sequence[Mapping[str, Any]]) -> str:
    """The index page: the suites, then a line for every data set and method."""
    suites = [
        [
            f"[{text(said['title'])}]({said['name']}.md)",
            text(said["source"]),
            _trials(said),
            _links(said["name"]),
        ]
        for said in described
    ]
    lines = sorted(line for said in described for line in _results(said))
    return "\n".join(
        [
            "# Leaderboard",
            "",
            "Every suite whose records are here, and every method on every data set in one line: means over seeds on "
            "the test part, ± half the width of the 95 % interval, corrected for overlapping splits. What is best, "
            "what cannot be told apart, and what the papers claim is on the suites' pages.",
            "",
            "## Suites",
            "",
            table(["Suite", "Source", "Trials", "More"], suites, 4) if suites else "There is none yet.",
            "",
            "## All results",
            "",
            table(["Data set", "Method", "Suite", "Result", "Seeds"], [line for _, line in lines], 4)
            if lines
            else "There is none yet.",
            "",
        ]
    )


def _results(said: Mapping[str, Any]) -> list[tuple[tuple[str, str, str], list[str]]]:
    """A line for every row of a suite, to be sorted; one for all methods where nothing is done."""
    begun = {row["heading"] for row in said["rows"] if row["done"]}
    idle = {row["heading"] for row in said["rows"]} - begun
    lines = [
        _line(said, row["heading"], row["method"], _result(said, row), _count(row["done"], row["expected"]))
        for row in said["rows"]
        if row["heading"] in begun
    ]
    return lines + [_line(said, place, "every method", "–", "0") for place in idle]


def _line(
    said: Mapping[str, Any], place: str, method: str, result: str, seeds: str
) -> tuple[tuple[str, str, str], list[str]]:
    """What a line is sorted by, and its cells."""
    link = f"[{text(said['name'])}]({said['name']}.md#{slug(place)})"
    return (place, method, str(said["name"])), [text(place), text(method), link, result, seeds]


def _trials(said: Mapping[str, Any]) -> str:
    return _count(*(sum(row[key] for row in said["rows"]) for key in ("done", "expected")))


def _count(done: int, expected: int) -> str:
    return f"{done}" if done == expected else f"{done} of {expected}"


def _links(name: str) -> str:
    return f"[timings]({name}/timings.md), [records]({name}/records.parquet)"


def _result(said: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    cells = []
    for name in said.get("columns", sorted(said["metrics"])):
        mean = row["means"].get(name)
        if mean is None or mean[0] is None:
            continue
        metric = said["metrics"][name]
        cells.append(f"{text(metric['title'])} {_value(mean, metric['percent'])}")
    return "; ".join(cells) or "–"


def _value(mean: Sequence[float | None], percent: bool) -> str:
    value, margin = mean
    if value is None:
        return "–"
    said = f"{100 * value:.1f}" if percent else plain_number(value)
    if margin is not None:
        said += f" ± {100 * margin:.1f}" if percent else f" ± {plain_number(margin, 2)}"
    return said + (" %" if percent else "")
