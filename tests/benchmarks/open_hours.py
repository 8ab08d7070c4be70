"""How long the open comparison takes, method by method: published trials, and an estimate for all that are planned.

    python tests/benchmarks/open_hours.py [--suite FILE] [--cores N]

The seconds of a trial are the median of the published ones of its method and data set. For a data set on which a method
has not been run, the logarithm of a trial's seconds is modelled as a linear function of the logarithms of training
rows, encoded columns and classes, fitted to the method's medians by ridge regression towards slopes of 0.5. A trial
takes at most the suite's time limit. ``bench plan`` determines which trials are not applicable. Loading and starting
processes count as 0.3 s per trial.

For the open comparison, it writes the tables into ``docs/explanation/recommended.md``, between its two marks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from marked import write_between

from bench_core import DataContext
from bench_core.suites import load_registry, load_suite

ROOT = Path(__file__).parents[2]
PAGE = "explanation/recommended.md"
STEPS, OVERHEAD = ("fit", "decide", "audit", "metrics"), 0.3
SLOPES, RIDGE = np.full(3, 0.5), 1.0


def timed(folder: Path, limit: float) -> pd.DataFrame:
    """Return a folder's trials that ran, with the seconds of their steps; a failed trial counts with the limit."""
    keys = ["dataset", "costs", "method", "seed", "name", "status"]
    trials = pd.read_parquet(folder / "records", columns=keys).drop_duplicates("name")
    runs = pd.read_parquet(folder / "runs", columns=["name", "run"])
    timings = [json.loads(run).get("timings", {}) for run in runs["run"]]
    runs["seconds"] = [sum(timing.get(step, 0.0) for step in STEPS) for timing in timings]
    ran = trials[trials["status"].isin(["ok", "failed"])].merge(runs[["name", "seconds"]], on="name", how="left")
    return ran.assign(seconds=ran["seconds"].where(ran["status"] == "ok", limit))


def tables(trials: pd.DataFrame, planned: int, hours: float) -> str:
    """Return the tables of the docs in Markdown: splits, and methods, the slowest first."""
    lines = ["| | trials that ran | hours |", "|---|---|---|"]
    for seed, seconds in trials.groupby("seed")["seconds"]:
        lines.append(f"| split {seed + 1} | {len(seconds):,} | {seconds.sum() / 3600:.1f} |")
    lines += [f"| all that are planned, estimated | {planned:,} | {hours:.0f} |", ""]
    lines += ["| method | trials that ran | hours | median | longest | on |", "|---|---|---|---|---|---|"]
    groups = {method: group.set_index("dataset")["seconds"] for method, group in trials.groupby("method")}
    for method, seconds in sorted(groups.items(), key=lambda item: -item[1].sum()):
        times = f"{seconds.sum() / 3600:.1f} | {seconds.median():.1f} s | {seconds.max():.0f} s | {seconds.idxmax()}"
        lines.append(f"| {method} | {len(seconds)} | {times} |")
    return "\n".join(lines) + "\n"


def sizes(suite: Any) -> dict[str, np.ndarray]:
    """Return the logarithms of training rows, encoded columns and classes of every data set."""
    context, found = DataContext.from_environment(), {}
    for trial in suite.trials(seeds=1, only={"method": suite.method_names()[:1]}):
        if trial.dataset not in found:
            data, part = trial.source.load(context), trial.split.train
            rows = part if part > 1 else part * data.n_rows if trial.split.kind == "random" else (data.split == 0).sum()
            columns = data.n_features + sum(len(texts) - 1 for texts in data.categories.values())
            found[trial.dataset] = np.log([rows, columns, max(len(data.classes), 2)])
    return found


def predicted(known: pd.Series, at: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the seconds of a trial on every data set, from medians by data set."""
    here = [name for name in known.index if name in at]
    X, y = np.array([at[name] for name in here]), np.log(known[here].to_numpy())
    centre, rest = X.mean(axis=0), y - X @ SLOPES
    Z = X - centre
    slopes = SLOPES + np.linalg.solve(Z.T @ Z + RIDGE * np.eye(3), Z.T @ (rest - rest.mean()))
    spread = np.var(y - y.mean() - Z @ slopes)  # the mean of a log-normal is above its median
    guess = {name: float(np.exp(y.mean() + (x - centre) @ slopes + spread / 2)) for name, x in at.items()}
    return guess | {name: float(known[name]) for name in here}


def main() -> None:
    """Print the hours of every method and of every data set."""
    options = argparse.ArgumentParser()
    options.add_argument("--suite", type=Path, default=ROOT / "suites/open.toml")
    options.add_argument("--cores", type=int, default=2)
    given = options.parse_args()
    suite = load_suite(given.suite, load_registry())
    limit = suite.file.protocol.timeout
    trials = timed(ROOT / "leaderboard/open", limit)
    means = trials[trials["status"] == "ok"].groupby(["method", "dataset"])["seconds"].median()
    command = [str(Path(sys.executable).with_name("bench")), "plan", str(given.suite), "--seeds", "1", "--json"]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    at = sizes(suite)
    rows = []
    for row in plan["rows"]:
        method, dataset = row["method"], row["data set"]
        count = (row["trials"] - row["not applicable"]) * suite.seed_count(dataset)
        if count and method in means:
            rows.append((method, dataset, count, predicted(means[method], at)[dataset]))
    table = pd.DataFrame(rows, columns=["method", "dataset", "trials", "seconds"])
    table["seconds"] = table["seconds"].clip(upper=limit) + OVERHEAD
    table["hours"] = table["trials"] * table["seconds"] / 3600
    for key in ("method", "dataset"):
        by = table.groupby(key)[["trials", "hours"]].sum().sort_values("hours", ascending=False)
        print(by.assign(seconds=by["hours"] * 3600 / by["trials"]).round(2).to_string(), end="\n\n")
    costly = table.sort_values("hours", ascending=False).head(25)
    print(costly.round(2).to_string(index=False), end="\n\n")
    unknown = [name for name in suite.method_names() if name not in means.index.get_level_values(0)]
    print(f"not measured: {', '.join(unknown) or 'none'}")
    print(f"{table['trials'].sum()} trials, {table['hours'].sum():.1f} core hours, ", end="")
    print(f"{table['hours'].sum() / given.cores:.1f} hours on {given.cores} cores")
    if suite.name == "open":
        write_between(PAGE, "time", tables(trials, table["trials"].sum(), table["hours"].sum()))


if __name__ == "__main__":
    main()
