"""The table of all results as data for the site's own script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench_leaderboard import plain_number

from bench_site.sources import Published

__all__ = ["results_data", "shown_value"]


def shown_value(value: float | None, percent: bool) -> str:
    """Return a number as text, in percent for a share; a dash for None."""
    return "–" if value is None else f"{100 * value:.1f}" if percent else plain_number(value)


def results_data(
    published: Sequence[Published],
    dataset_at: Mapping[str, str],
    pages_of: Callable[[Published], Mapping[str, str]],
    first: int,
) -> dict[str, Any]:
    """Return every row of every suite's tables: indices of its data set, method and suite, and its values."""
    metrics: dict[str, int] = {}
    datasets: dict[tuple[str, str], int] = {}
    methods: dict[tuple[str, str], int] = {}
    rows = []
    for number, suite in enumerate(published):
        pages = pages_of(suite)
        for row in suite.description["rows"]:
            if not row["done"]:
                continue
            values: dict[int, str] = {}
            for name in suite.description.get("columns", []):
                metric = suite.description["metrics"][name]
                value, margin = row["means"].get(name) or (None, None)
                if value is not None:
                    title = metric["title"] + (" %" if metric["percent"] else "")
                    half = "" if margin is None else f" ± {shown_value(margin, metric['percent'])}"
                    values[metrics.setdefault(title, len(metrics))] = f"{shown_value(value, metric['percent'])}{half}"
            heading = (row["heading"], f"datasets/{dataset_at[row['dataset']]}.html")
            method = (row["method"], pages.get(row["method"], ""))
            place = datasets.setdefault(heading, len(datasets)), methods.setdefault(method, len(methods))
            rows.append([*place, number, values, str(row["done"])])
    return {
        "metrics": list(metrics),
        "datasets": list(datasets),
        "methods": list(methods),
        "suites": [(suite.name, f"suites/{suite.name}/index.html", suite.title) for suite in published],
        "rows": rows,
        "first": first,
    }
