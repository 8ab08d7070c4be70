"""Derive the order in which `bench recommend` tries methods, from the published records of the open comparison.

    python plugins/recommend/benchmarks/order_of_methods.py

It reads ``suites/open.toml`` and ``leaderboard/open/budgets.csv`` and writes ``bench_recommend/portfolio.json``. An
entry's expected value is its mean share of the full model's quality over data sets, prices and the budgets of 5, 10, 20
and 40 %; where it has no policy within the budget, the majority class's share is used. Entries whose median fit takes
under ten seconds come first, by descending value; then the slower ones. Entries without records have no expected value.
They are put before all others if an entry of the same plugin has records and is quick, and otherwise last, as they may
be slow.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from bench_core.suites import load_registry

ROOT = Path(__file__).parents[3]
BUDGETS, QUICK_SECONDS = (5, 10, 20, 40), 10.0


def value(rows: pd.DataFrame, fallback: pd.DataFrame) -> float | None:
    """Return an entry's expected value on a kind of task; None without records."""
    keys = ["dataset", "costs"]
    rows = rows.merge(fallback, on=keys, suffixes=("", " of majority"))
    shares = [
        rows[f"relative@{b}"].where(rows[f"status@{b}"] == "ok", rows[f"relative@{b} of majority"]) for b in BUDGETS
    ]
    mean = pd.concat(shares).mean()
    return None if pd.isna(mean) else round(float(mean), 4)


def main() -> None:
    """Write the portfolio."""
    suite = tomllib.loads((ROOT / "suites/open.toml").read_text(encoding="utf-8"))
    records = pd.read_csv(ROOT / "leaderboard/open/budgets.csv")
    relative = [f"relative@{b}" for b in BUDGETS]
    fallback = records[records["method"] == suite["comparison"]["fallback"]][["dataset", "costs", *relative]]
    entries: list[dict[str, Any]] = []
    for method in suite["methods"]:
        rows = records[records["method"] == method["name"]]
        seconds = rows["fit_seconds"].median()
        found = {"name": method["name"], "use": method["use"], "parameters": method.get("parameters", {})}
        found |= {task: value(rows[rows["task"] == task], fallback) for task in ("classification", "regression")}
        entries.append({**found, "seconds": None if pd.isna(seconds) else round(float(seconds), 2)})

    registry = load_registry()
    plugin = {
        one["use"]: registry.plugin_of("methods", one["use"]).name for one in entries if one["use"] in registry.methods
    }
    measured = [one for one in entries if one["seconds"] is not None]
    quick = {plugin.get(one["use"]) for one in measured if one["seconds"] < QUICK_SECONDS}

    def place(entry: dict[str, Any]) -> tuple[int, float]:
        if entry["seconds"] is None:
            return (0 if entry["use"] in plugin and plugin[entry["use"]] in quick else 3), 0.0
        return (1 if entry["seconds"] < QUICK_SECONDS else 2), -(entry["classification"] or entry["regression"] or 0.0)

    target = ROOT / "plugins/recommend/bench_recommend/portfolio.json"
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in sorted(entries, key=place))
    target.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
