"""The sanity table: the open comparison's methods on three synthetic data sets with known optima, and two real ones.

    python tests/benchmarks/sanity.py FOLDER [--seeds N] [--jobs N] [--method NAME ...]

It runs or resumes the suite in FOLDER, and writes the table into ``docs/explanation/sanity.md``, between its two marks;
with ``--method``, only the rows of these methods change.
The configurations are those of ``suites/open.toml``. A cell is a method's accuracy on the test part at a budget, given
as a share of the price of all features, mean over seeds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from marked import parts, write_between

ROOT = Path(__file__).parents[2]
PLACE = "explanation/sanity.md", "table"
BUDGETS = (0.05, 0.1, 0.2, 0.4, 1.0)
ROWS = 600
BESIDE = ("Majority", "Forward selection, logistic", "Forward selection, LightGBM")
WHOLE = ("Logistic regression, all features", "LightGBM, all features")


def one_decides(rng: np.random.Generator) -> pd.DataFrame:
    """Ten features; the sign of the fourth is the class of 95 % of the rows: 95 % for 10 % of the price."""
    X = rng.normal(size=(ROWS, 10))
    y = (X[:, 3] > 0) ^ (rng.random(ROWS) < 0.05)
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(y=np.where(y, "yes", "no"))


def context_selects(rng: np.random.Generator) -> pd.DataFrame:
    """A context names one of three blocks of three features, whose sum's sign is the class: 100 % for 40 %."""
    X = rng.normal(size=(ROWS, 9))
    block = rng.integers(0, 3, ROWS)
    total = X.reshape(ROWS, 3, 3)[np.arange(ROWS), block].sum(axis=1)
    frame = pd.DataFrame(X, columns=[f"{name}{i}" for name in "abc" for i in range(3)])
    return frame.assign(context=np.array(["a", "b", "c"])[block], y=np.where(total > 0, "yes", "no"))


def nothing_helps(rng: np.random.Generator) -> pd.DataFrame:
    """Ten features of noise; 60 % of the rows are of one class: 60 % for nothing."""
    X = rng.normal(size=(ROWS, 10))
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(y=np.where(rng.random(ROWS) < 0.6, "yes", "no"))


SETS = {"One decides": one_decides, "Context selects": context_selects, "Nothing helps": nothing_helps}


def recommended() -> dict[str, dict[str, Any]]:
    """Return the methods of the open comparison by name, in its order."""
    entries = tomllib.loads((ROOT / "suites" / "open.toml").read_text(encoding="utf-8"))["methods"]
    return {entry.get("name", entry["use"]): entry for entry in entries}


def written(folder: Path, seeds: int, methods: list[str]) -> Path:
    """Write the suite, of these methods only unless there are none, and its synthetic tables."""
    lines = ['metrics = ["accuracy", "cost", "cost-share"]', "[suite]", 'name = "sanity"', "[protocol]"]
    lines += [f"seeds = {seeds}", 'encode = "onehot"', "timeout = 600"]
    lines += ["split = { kind = 'random', train = 0.5, validation = 0.25, test = 0.25, stratify = true }"]
    for number, (name, make) in enumerate(SETS.items()):
        table = folder / f"set{number}.csv"
        make(np.random.default_rng(number)).to_csv(table, index=False)
        parameters = f"{{ path = {json.dumps(str(table))}, target = 'y' }}"
        lines += ["[[datasets]]", 'use = "csv"', f'name = "{name}"', f"parameters = {parameters}"]
        lines += ['costs = { use = "uniform" }']
    lines += ["[[datasets]]", 'use = "pima"', 'name = "Pima"', 'costs = { use = "turney" }']
    lines += ["[[datasets]]", 'use = "breast-cancer"', 'name = "Breast cancer"', 'costs = { use = "uniform" }']
    entries = recommended()
    wanted = {*methods, *BESIDE, *WHOLE} if methods else set(entries)
    for entry in (entry for name, entry in entries.items() if name in wanted):
        kept = {key: value for key, value in entry.items() if key not in ("without", "only", "on")}
        lines += ["[[methods]]", *(f"{key} = {_toml(value)}" for key, value in kept.items())]
    path = folder / "sanity.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def answers(suite: Path, folder: Path) -> pd.DataFrame:
    """A row per data set and method: accuracy at each budget, and the number of policies of a family."""
    from bench_analysis import default_quality
    from bench_analysis.points import cells_of
    from bench_comparison.budgets import answers_of
    from bench_records import EMPTY, records_of

    from bench_core import DataContext
    from bench_core.records import Store
    from bench_core.suites import SuiteSession, load_registry, load_suite

    registry = load_registry()
    read = load_suite(suite, registry)
    context = DataContext(cache=folder / "cache")
    records = records_of(SuiteSession(read, registry, Store(folder / "store"), folder / "none", context))
    rows = []
    for (dataset, _), cell in cells_of(records).items():
        quality = default_quality(read, records, cell)
        found = answers_of(records, cell, read.methods_on(dataset), quality, BUDGETS)
        own = cell[~cell[EMPTY].to_numpy(dtype=bool)]
        policies = own.groupby(["method", "seed"]).size().groupby("method").mean()
        buying = own[own["validation.cost-share"] > 0].groupby(["method", "seed"])["validation.cost-share"]
        least = buying.min().groupby("method").mean()
        for number, method in enumerate(found.methods):
            accuracy = np.nanmean(found.test[number], axis=0)
            rows.append((dataset, method, *accuracy, policies[method], least.get(method, np.nan)))
    names = [f"{100 * budget:g}" for budget in BUDGETS]
    return pd.DataFrame(rows, columns=["dataset", "method", *names, "policies", "least"])


def rendered(table: pd.DataFrame) -> str:
    """The tables in Markdown; a method below forward selection at every budget, by more than a point, has a mark."""
    names = [f"{100 * budget:g}" for budget in BUDGETS]
    sets = [name for name in (*SETS, "Pima", "Breast cancer") if (table["dataset"] == name).any()]
    cells = {name: table[table["dataset"] == name].set_index("method") for name in sets}
    best = {name: cell.loc[cell.index.isin(BESIDE[1:]), names].max() for name, cell in cells.items()}
    methods = list(dict.fromkeys(table["method"]))
    first = [name for name in (*BESIDE, *WHOLE) if name in methods]
    lines = ["| method | policies | " + " | ".join(sets) + " |", "|---|---|" + "---|" * len(sets)]
    below = ["| data set | method | first buys at % | forward selection there | its best | forward selection's best |"]
    below.append("|---|---|---|---|---|---|")
    for method in [*first, *(name for name in methods if name not in first)]:
        shown = []
        for name in sets:
            if method not in cells[name].index:
                shown.append("–")
                continue
            row = cells[name].loc[method]
            numbers = row[names].astype(float)
            is_below = method not in first and bool((numbers < best[name] - 0.01).all())
            shown.append(" · ".join(f"{100 * value:.0f}" for value in numbers) + " ▽" * is_below)
            if is_below:
                there = [best[name][n] for n, budget in zip(names, BUDGETS, strict=True) if budget >= row["least"]]
                values = [row["least"], there[0] if there else np.nan, numbers[names[-1]], best[name][names[-1]]]
                below.append(f"| {name} | {method} | " + " | ".join(f"{100 * v:.1f}" for v in values) + " |")
        policies = table.loc[table["method"] == method, "policies"].mean()
        lines.append(f"| {method} | {policies:.0f} | " + " | ".join(shown) + " |")
    return "\n".join([*lines, "", "### Below forward selection everywhere", "", *below, ""])


def merged(old: str, new: str, methods: list[str]) -> str:
    """Return the old tables with the rows of these methods from the new ones."""

    def cells(line: str) -> list[str]:
        return [cell.strip() for cell in line.strip("|").split("|")]

    first, *others = old.split("### ")
    fresh, *fresh_others = new.split("### ")
    changed = {cells(line)[0]: line for line in fresh.splitlines() if cells(line)[0] in methods}
    lines, in_order = first.splitlines(), list(recommended())
    for name, line in changed.items():
        places = {cells(row)[0]: place for place, row in enumerate(lines)}
        if name in places:
            lines[places[name]] = line
        else:  # a new row follows the method that precedes it in the suite
            lines.insert(places[in_order[in_order.index(name) - 1]] + 1, line)
    order = {cells(line)[0]: place for place, line in enumerate(lines)}
    tables = ["\n".join(lines) + "\n"]
    for table, other in zip(others, fresh_others, strict=True):
        lines = table.splitlines()
        places = [place for place, line in enumerate(lines) if line.startswith("|")]
        rows = [line for line in lines[places[2] : places[-1] + 1] if cells(line)[1] not in methods]
        rows += [line for line in other.splitlines() if line.startswith("|") and cells(line)[1] in methods]
        lines[places[2] : places[-1] + 1] = sorted(rows, key=lambda line: order[cells(line)[1]])
        tables.append("\n".join(lines) + "\n")
    return "### ".join(tables)


def main() -> None:
    """Run the suite and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--method", action="append", default=[], help="repeatable; the others keep their rows")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    suite = written(folder, options.seeds, options.method)
    if not options.only_table:
        command = [sys.executable, "-m", "bench_core.cli.main", "run", str(suite), "--jobs", str(options.jobs)]
        command += ["--store", str(folder / "store"), "--out", str(folder / "out")]
        for seeds in range(1, options.seeds + 1):  # seed by seed, so that a stopped run has complete seeds
            subprocess.run([*command, "--seeds", str(seeds)], check=False)  # 1: some trial failed
    new = rendered(answers(suite, folder))
    if options.method:
        _, old, _ = parts(*PLACE)
        new = merged(old, new, options.method)
    write_between(*PLACE, new)
    print(new)


if __name__ == "__main__":
    main()
