"""The table that ``bench run`` ends with: the page's rows, read from what was written beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_leaderboard.render.index import DESCRIPTION
from bench_leaderboard.render.markdown import plain_number

__all__ = ["results_table"]

_MOST_ROWS = 60


def results_table(folder: Path) -> tuple[list[str], list[list[str]]] | None:
    """Head and rows: every data set and method with the means of the selected policies on the test part.

    A large suite gets only its first 60 rows; its page has all of them. None if nothing was written.

    Args:
        folder: the suite's own folder of published files.
    """
    try:
        description = json.loads((folder / DESCRIPTION).read_bytes())
    except OSError:
        return None
    names = [name for name in description["columns"] if any(name in row["means"] for row in description["rows"])]
    rows = [
        [row["heading"], row["method"], *(_shown(row, description["metrics"], name) for name in names), _seeds(row)]
        for row in description["rows"][:_MOST_ROWS]
    ]
    if (more := len(description["rows"]) - len(rows)) > 0:
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
