"""``suite.json``, the description of an export; and ``results.csv``, the table made from all descriptions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from bench_analysis import Analysed, Grid, Row
from bench_records import csv_text

from bench_core import RequestError
from bench_core.records import seal, unseal
from bench_core.suites import Registry
from bench_leaderboard.parts import page_parts
from bench_leaderboard.render.dataset_pages import dataset_pages
from bench_leaderboard.render.front import render_front
from bench_leaderboard.render.tables import heading

__all__ = [
    "DESCRIPTION",
    "RESULTS",
    "RESULTS_HEAD",
    "describe",
    "read_descriptions",
    "render_results",
    "written_before",
]

DESCRIPTION = "suite.json"
_HASH = "_sha256"
RESULTS = "results.csv"
RESULTS_HEAD = ("dataset", "costs", "method", "suite", "metric", "mean", "margin", "done", "expected")
_FORMAT = 2
_SHOWN = ("name", "title", "source", "metrics", "rows", "files")
_FAULTS = (ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError)
"""Exceptions that an invalid description raises."""


def describe(analysed: Analysed, beside: Mapping[str, bytes]) -> bytes:
    """The contents of ``suite.json``: the suite's title and source, the means of every row, and what plugins add.

    Numbers have six significant digits, so that they are the same on every machine. A row's ``ended``, if
    there is one, says how many of its seeds will have no result, by reason. The first key is a checksum of the rest.

    Args:
        analysed: the suite and its records.
        beside: the other files of the suite's folder, by name. Their names are stored, and hashes of parts' data.
    """
    suite, records = analysed.suite, analysed.records
    head = suite.file.suite

    def ended_of(grid: Grid, row: Row) -> dict[str, dict[str, int]]:
        ended = records.ended.get((grid.dataset, grid.costs, row.method))
        return {"ended": ended} if ended else {}

    metrics = {
        name: {"title": metric.title or name, "goal": metric.goal, "percent": metric.percent}
        for name, metric in suite.metrics.items()
    }
    columns = {(grid.dataset, grid.costs): grid.columns for grid in analysed.tables}
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
                for name in columns[grid.dataset, grid.costs]
                if name in row.means
            },
        }
        for grid in analysed.tables
        for row in grid.rows
    ]
    description = {
        "format": _FORMAT,
        "name": suite.name,
        "title": head.title or head.name,
        "source": head.source,
        "metrics": metrics,
        "columns": list(suite.metrics),
        "rows": rows,
        "files": sorted(beside),
    }
    if pages := dataset_pages(analysed):
        description["pages"] = {page.dataset: page.file for page in pages}
    for part in page_parts(analysed):
        description |= part.description
        there = {name: beside[f"{name}.json"] for name in part.data if f"{name}.json" in beside}
        description |= {f"{name}{_HASH}": sha256(data).hexdigest() for name, data in there.items()}
    return seal(description)


def _digits(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def read_descriptions(out: Path, instead: Mapping[Path, bytes], registry: Registry) -> list[dict[str, Any]]:
    """The description of every export below ``out``, by name, with the data that plugins' parts store beside it.

    Args:
        instead: files that are about to be written, taken instead of those on the disk, and not checked: they were
            just made.
        registry: its plugins render the front page of a description to check it.

    Raises:
        RequestError: a description does not match its checksum, or is damaged otherwise.
    """
    paths = {path for path in instead if path.name == DESCRIPTION}
    paths |= set(out.glob(f"*/{DESCRIPTION}"))
    descriptions = [_read(path, instead, registry) for path in sorted(paths)]
    return sorted(descriptions, key=lambda description: str(description["name"]))


def written_before(folder: Path) -> list[Path]:
    """The files beside a suite's description that it lists; none if it is missing or invalid."""
    try:
        return [folder / name for name in _unsealed((folder / DESCRIPTION).read_bytes())["files"]]
    except _FAULTS:
        return []


def _read(path: Path, instead: Mapping[Path, bytes], registry: Registry) -> dict[str, Any]:
    def read(file: Path) -> bytes:
        return instead[file] if file in instead else file.read_bytes()

    try:
        description = _unsealed(read(path))
        if description["name"] != path.parent.name:
            raise ValueError(f"it is of suite {description['name']!r}")
    except _FAULTS as error:
        raise _damaged(path, error) from None
    for name in [key.removesuffix(_HASH) for key in description if key.endswith(_HASH)]:
        beside = path.with_name(f"{name}.json")
        try:
            data = read(beside)
            if sha256(data).hexdigest() != description[name + _HASH]:
                raise ValueError(f"it does not match its checksum in {DESCRIPTION}")
            description[name] = json.loads(data)
        except _FAULTS as error:
            raise _damaged(beside, error) from None
        if beside not in instead:
            _checked(beside, lambda: render_front([description], registry))
    if path not in instead:
        _checked(path, lambda: (render_front([description], registry), render_results([description])))
    return description


def _unsealed(data: bytes) -> dict[str, Any]:
    """A description whose checksum holds.

    Raises:
        ValueError: the checksum does not match, a key is missing, or a file or page that it names is invalid.
    """
    description = unseal(data)
    if any(key not in description for key in _SHOWN):
        raise ValueError("it lacks a key")
    linked = [key.removesuffix(_HASH) for key in description if key.endswith(_HASH)]
    files = [PurePosixPath(name) for name in description["files"]]
    beside = all(len(PurePosixPath(name).parts) == 1 for name in linked)
    if not beside or any(file.is_absolute() or ".." in file.parts for file in files):
        raise ValueError("it names a file elsewhere")
    if not set(description.get("pages", {}).values()) <= set(description["files"]):
        raise ValueError("it names a page that is not among its files")
    return description


def _damaged(path: Path, error: Exception) -> RequestError:
    suite = path.parent.name
    return RequestError(
        f"{path} is damaged ({error}). Restore the committed file, or remove {path.with_name(DESCRIPTION)} "
        f"and render that suite again: bench leaderboard suites/{suite}.toml"
    )


def _checked(path: Path, render: Callable[[], object]) -> None:
    try:
        render()
    except _FAULTS as error:
        raise _damaged(path, error) from None


def render_results(described: Sequence[Mapping[str, Any]]) -> str:
    """Every suite's means as CSV: a line for each data set, cost scheme, method and metric of its tables."""
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
    return csv_text(RESULTS_HEAD, lines)
