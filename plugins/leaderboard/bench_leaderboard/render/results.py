"""The table that ``bench run`` prints at its end: the page's rows for the data sets, costs and methods of the run."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from bench_leaderboard.render.index import DESCRIPTION
from bench_leaderboard.render.markdown import plain_number

__all__ = ["results_table"]

_MOST_ROWS = 60


def results_table(
    folder: Path, asked: Collection[tuple[str, str, str]] | None = None
) -> tuple[list[str], list[list[str]]] | None:
    """Head and rows: data sets and methods with the means of the selected policies on the test part.

    At most 60 rows; the page has all of them. None if nothing was written.

    Args:
        folder: the suite's own folder of published files.
        asked: data set, cost scheme and method of each row to show; None shows all.
    """
    try:
        description = json.loads((folder / DESCRIPTION).read_bytes())
    except OSError:
        return None
    names = [name for name in description["columns"] if any(name in row["means"] for row in description["rows"])]
    found = [
        row for row in description["rows"] if asked is None or (row["dataset"], row["costs"], row["method"]) in asked
    ]
    rows = [
        [row["heading"], row["method"], *(_shown(row, description["metrics"], name) for name in names), _seeds(row)]
        for row in found[:_MOST_ROWS]
    ]
    if (more := len(found) - len(rows)) > 0:
        rows.append([f"… {more} more", *[""] * (len(names) + 2)])
    return ["data set", "method", *(_head(description["metrics"][name]) for name in names), "seeds"], rows


def _head(metric: Mapping[str, Any]) -> str:
    return f"{metric['title']} %" if metric["percent"] else str(metric["title"])


def _shown(row: Mapping[str, Any], metrics: Mapping[str, Any], name: str) -> str:
    value = row["means"].get(name, [None])[0]
    if value is None:
        return "–"
    return f"{100 * value:.1f}" if metrics[name]["percent"] else plain_number(value)


def _seeds(row: Mapping[str, Any]) -> str:
    return str(row["done"]) if row["done"] == row["expected"] else f"{row['done']} of {row['expected']}"
