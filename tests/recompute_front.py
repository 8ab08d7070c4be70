"""Recompute every number of the front page's answer from the published records, without this project's code.

It uses numpy, pandas and the standard library only, and the rules in leaderboard/open/answer.md. The kind and algorithm
of a method are read from losses.json, since they are declarations, not numbers.

    python tests/recompute_front.py leaderboard/open suites/open.toml
"""

from __future__ import annotations

import json
import math
import sys
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

TOLERANCE, BAND, DRAWS, HALVINGS, SEED = 0.1, 0.01, 1000, 25, 0xA115
REFERENCES = ("single-stage", "lightgbm")
SIMPLEST = (
    "everything or nothing", "fixed subset", "trees", "cascades", "boosting", "forests", "early stopping", "look-ahead",
    "neural", "other",
)  # fmt: skip
COLUMNS = ["accuracy", "cost-share"]
PRICES = {"uniform": "unit prices", "random": "drawn prices"}


def t_975(df: int) -> float:
    """Student's 97.5 % quantile, by bisection on an integrated density."""

    def above(x: float) -> float:
        grid = np.linspace(0, x, 20001)
        density = np.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
        values = density * (1 + grid**2 / df) ** (-(df + 1) / 2)
        return 0.5 + float(((values[1:] + values[:-1]) / 2).sum() * (grid[1] - grid[0]))

    low, high = 0.0, 700.0 / df + 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) < 0.975 else (low, middle)
    return low


def weights(parts: int, *key: int) -> np.ndarray:
    """The observed weights, then one row per draw, uniform on the simplex."""
    first = np.full((1, parts), 1 / parts)
    if parts == 1:
        return np.ones((DRAWS + 1, 1))
    words = np.random.PCG64(np.random.SeedSequence([SEED, parts, *key])).random_raw(DRAWS * (parts - 1))
    cuts = np.sort(((words >> np.uint64(11)) / 2.0**53).reshape(DRAWS, parts - 1), axis=1)
    padded = np.hstack([np.zeros((DRAWS, 1)), cuts, np.ones((DRAWS, 1))])
    return np.vstack([first, np.diff(padded, axis=1)])


def trials(folder: Path) -> tuple[pd.DataFrame, dict[str, dict[str, Any]], dict[str, str]]:
    """The policies of the records, the metadata of each trial, and the facts of each data set."""
    names = [f"{part}.{column}" for part in ("validation", "test") for column in COLUMNS]
    keep = ["dataset", "costs", "method", "seed", "point", "policy", "name", "status", "info", "definition", *names]
    frame = pd.concat(
        [pd.read_parquet(file, columns=keep) for file in sorted((folder / "records").glob("*"))], ignore_index=True
    )
    infos = {
        name: json.loads(info)
        for name, info in frame.loc[frame["info"].notna(), ["name", "info"]].itertuples(index=False)
    }
    known = frame.loc[frame["definition"].notna(), ["dataset", "definition"]].drop_duplicates("dataset")
    return frame, infos, dict(known.itertuples(index=False))


def policies_of(family: pd.DataFrame) -> list[tuple[float, ...]]:
    """A family's policies in order: validation accuracy and cost, test accuracy and cost."""
    numbers = ["validation.accuracy", "validation.cost-share", "test.accuracy", "test.cost-share"]
    return [*family.sort_values(["point", "policy"])[numbers].itertuples(index=False, name=None)]


def answer_at(family: list[tuple[float, ...]], empty: tuple[float, float], budget: float) -> tuple[float, float]:
    """Test accuracy and cost of the best policy on validation within a budget; ``empty`` is the empty policy's."""
    best = (-math.inf, 0.0, 0.0, 0.0)  # validation accuracy, minus its cost, test accuracy, test cost
    for accuracy, cost, tested, paid in [*family, (empty[0], 0.0, empty[1], 0.0)]:
        if cost <= budget * (1 + 1e-9) and (accuracy, -cost) > best[:2]:
            best = (accuracy, -cost, tested, paid)
    return best[2], best[3]


def cells_of(folder: Path, suite: dict[str, Any], budgets: list[float]) -> list[dict[str, Any]]:
    """Each data set and cost scheme of classification on the chance-corrected scale."""
    frame, infos, definitions = trials(folder)
    methods = [method.get("name", method["use"]) for method in suite["methods"]]
    uses = {method.get("name", method["use"]): method["use"] for method in suite["methods"]}
    fallback = suite["comparison"]["fallback"]
    done, lost = frame[frame["status"] == "ok"], frame[frame["status"] == "failed"]
    families: dict[str, str] = {}
    named = {d: f for f, members in suite["comparison"].get("families", {}).items() for d in members}
    cells = []
    for entry in suite["datasets"]:
        dataset = entry.get("name", entry["use"])
        family = named.get(dataset) or families.setdefault(definitions.get(dataset, dataset), dataset)
        rows = done[done["dataset"] == dataset]
        for costs in dict.fromkeys(rows["costs"]):
            here = rows[rows["costs"] == costs]
            info = infos[here["name"].iloc[0]]
            trial = json.loads(info["trial"])
            if info["task"] not in ("binary", "multiclass") or trial["threshold"] is not None:
                continue
            seeds = sorted(here["seed"].unique())
            groups = {key: policies_of(group) for key, group in here.groupby(["method", "seed"])}
            complete = {m for m in methods if all((m, s) in groups for s in seeds)}
            references = [m for m in methods if uses[m] in REFERENCES and m in complete]
            if fallback not in complete or not references:
                continue  # they have not been run here so far
            empties = {s: (groups[fallback, s][0][0], groups[fallback, s][0][2]) for s in seeds}
            empty = np.array([empties[s][1] for s in seeds])
            reference = []
            for s in seeds:
                best = (-math.inf, 0.0)
                for m in references:
                    on_validation = max(*(policy[0] for policy in groups[m, s]), empties[s][0])
                    if on_validation > best[0]:
                        best = (on_validation, answer_at(groups[m, s], empties[s], math.inf)[0])
                reference.append(best[1])
            gains = np.array(reference) - empty
            rows_of = info["rows"]
            if not gains.mean() > 1 / math.sqrt(rows_of["test"]):
                continue
            failed = set(lost.loc[(lost["dataset"] == dataset) & (lost["costs"] == costs), "method"])
            values = np.full((len(methods), len(seeds), len(budgets)), np.nan)
            for i, m in enumerate(methods):
                for b, budget in enumerate(budgets):
                    if m in complete:
                        pairs = np.array([answer_at(groups[m, s], empties[s], budget) for s in seeds])
                        over = pairs[:, 1].mean() > budget * (1 + TOLERANCE) * (1 + 1e-9)
                        values[i, :, b] = 0.0 if over else (pairs[:, 0] - empty) / gains.mean()
                    elif m in failed:
                        values[i, :, b] = 0.0
            facts = {
                "two classes": info["task"] == "binary",
                "more than two classes": info["task"] == "multiclass",
                "up to 20 features": len(info["features"]) <= 20,
                "more than 20 features": len(info["features"]) > 20,
                "up to 1,000 rows": sum(rows_of.values()) <= 1000,
                "more than 1,000 rows": sum(rows_of.values()) > 1000,
            }
            schemes = entry["costs"] if isinstance(entry["costs"], list) else [entry["costs"]]
            prices = {scheme.get("name", scheme["use"]): PRICES.get(scheme["use"]) for scheme in schemes}[costs]
            facts |= {"dataset": dataset, "costs": costs, "family": family, "points": gains.mean(), "values": values}
            facts |= {"prices": prices}
            cells.append(facts)
    return cells


def averaged(cells: list[np.ndarray], families: list[str], datasets: list[str]) -> dict[str, np.ndarray]:
    """Family → mean over its data sets of the mean over their cost schemes."""
    table: dict[str, dict[str, list[np.ndarray]]] = {}
    for cell, family, dataset in zip(cells, families, datasets, strict=True):
        table.setdefault(family, {}).setdefault(dataset, []).append(cell)
    return {f: np.mean([np.mean(some, axis=0) for some in of.values()], axis=0) for f, of in sorted(table.items())}


def pooled(families: dict[str, np.ndarray], methods: int, draws: np.ndarray) -> np.ndarray:
    """Weighted means over families (draws, units, budgets), relative to the methods that have every family."""
    stack = np.array(list(families.values()))  # families, draws, units, budgets
    there = ~np.isnan(stack[:, 0, :, 0])
    everywhere = [u for u in range(methods) if there[:, u].all()]
    line = stack[:, :, everywhere].mean(axis=2, keepdims=True)
    own = np.where(there[:, None, :, None], stack - line, 0.0)
    weight = draws.T[:, :, None, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = (weight * own).sum(axis=0) / (weight * there[:, None, :, None]).sum(axis=0)
    return relative + (weight * line).sum(axis=0)


def stretched(means: np.ndarray, families: int) -> np.ndarray:
    ratio = math.sqrt((families + 1) / (families - 1)) * t_975(families - 1) / 1.959963984540054
    return np.vstack([means[:1], means[:1] + ratio * (means[1:] - means[:1])])


def most_influential(families: dict[str, np.ndarray], methods: int, unit: int, b: int) -> tuple[str, float]:
    """The family without which a unit's observed mean changes most, and the mean without it."""

    def mean(of: dict[str, np.ndarray]) -> float:
        observed = {family: values[:1, :, b : b + 1] for family, values in of.items()}
        return float(pooled(observed, methods, np.full((1, len(of)), 1 / len(of)))[0, unit, 0])

    rest = {family: mean({f: v for f, v in families.items() if f != family}) for family in families}
    whole = mean(families)
    family = max(rest, key=lambda name: np.nan_to_num(abs(rest[name] - whole), nan=-1.0))
    return family, rest[family]


def least_loss(quality: np.ndarray, known: dict[str, int], columns: dict[str, int], families: int) -> str:
    """The algorithm of the least expected loss (to four digits) of those run on three quarters of the families."""
    chosen = [name for name in columns if 2 * known[name] >= families]
    table = quality[1:, [columns[name] for name in chosen]].round(10)
    lost = {
        name: np.maximum(np.delete(table, k, axis=1).max(axis=1) - table[:, k], 0).mean()
        for k, name in enumerate(chosen)
    }
    often = [name for name in chosen if 4 * known[name] >= 3 * families]
    return min(often or chosen, key=lambda name: round(lost[name], 4))


def drawn_of(cells: list[dict[str, Any]], units: dict[tuple[str, str], list[int]]) -> list[np.ndarray]:
    """Draws of the splits of methods and units on each cell; float (draws, methods + units, budgets).

    The members that represent each unit on a family are those that are best on the halves without it.
    """
    families, datasets = [c["family"] for c in cells], [c["dataset"] for c in cells]
    methods, budgets = cells[0]["values"].shape[0], cells[0]["values"].shape[2]
    stands: list[np.ndarray] = [c["values"] for c in cells]
    names = sorted(set(families))
    present = {
        f: np.all([~np.isnan(c["values"]).any(axis=(1, 2)) for c in cells if c["family"] == f], axis=0) for f in names
    }
    words = np.random.PCG64(np.random.SeedSequence([SEED, len(names), 2])).random_raw(HALVINGS * len(names))
    lines: dict[str, list[np.ndarray]] = {f: [] for f in names}
    for line_up in np.argsort(words.reshape(HALVINGS, len(names)), axis=1):
        first, second = line_up[: len(names) // 2], line_up[len(names) // 2 :]
        for half, judged in ((first, second), (second, first)):
            mine = [i for i, f in enumerate(families) if f in {names[k] for k in half}]
            means = averaged(
                [stands[i].mean(axis=1) for i in mine], [families[i] for i in mine], [datasets[i] for i in mine]
            )
            line = pooled({f: v[None] for f, v in means.items()}, methods, np.full((1, len(means)), 1 / len(means)))[0]
            count = (~np.isnan(np.array(list(means.values()))[:, :, 0])).sum(axis=0)
            line[count < 0.5 * len(means)] = np.nan
            line = np.array([[-math.inf if math.isnan(x) else round(x, 10) for x in row] for row in line.tolist()])
            for k in judged:
                lines[names[k]].append(line)
    grown = [list(stand) for stand in stands]
    for stand, family, rows in zip(stands, families, grown, strict=True):
        for members in units.values():
            able = [m for m in members if present[family][m]]
            share = np.full(stand.shape[1:], np.nan if not able else 0.0)
            for line in lines[family] if able else ():
                best = line[able].argmax(axis=0)
                for b in range(budgets):
                    share[:, b] += stand[able[best[b]]][:, b] / HALVINGS
            rows.append(share)
    drawn = []
    for cell, dataset in zip(grown, datasets, strict=True):
        values = np.array(cell)
        number = int.from_bytes(dataset.encode(), "big") % (2**61 - 1)
        drawn.append(np.einsum("rs,usb->rub", weights(values.shape[1], 1, number), values))
    return drawn


def recompute(folder: Path, suite_file: Path) -> dict[str, Any]:
    """The front page's numbers: ``steps``, one for each budget, and ``dynamic``."""
    suite = tomllib.loads(suite_file.read_text(encoding="utf-8"))
    declared = json.loads((folder / "losses.json").read_text(encoding="utf-8"))
    budgets = suite["comparison"]["budgets"]
    methods = [method.get("name", method["use"]) for method in suite["methods"]]
    places = declared["methods"]
    cells = cells_of(folder, suite, budgets)
    families, datasets = [c["family"] for c in cells], [c["dataset"] for c in cells]
    units: dict[tuple[str, str], list[int]] = {}
    for what, key in (("algorithm", "algorithm"), ("kind", "kind")):
        for i, m in enumerate(methods):
            if places[m]["kind"] != "without looking":
                units.setdefault((what, places[m][key]), []).append(i)
    fixed_rows = {"stagewise", "adaboost-rs"}
    dynamic = {kind["name"] for kind in declared["kinds"] if kind["dynamic"]}
    units["camp", "dynamic"] = [
        i for i, m in enumerate(methods) if places[m]["kind"] in dynamic and places[m]["use"] not in fixed_rows
    ]
    units["camp", "fixed"] = [i for i, m in enumerate(methods) if places[m]["kind"] == "fixed subset"]
    names = sorted(set(families))
    drawn = drawn_of(cells, units)
    for prices in PRICES.values():  # the camps are the best with these prices; other kinds have too few data sets
        mine = [i for i, cell in enumerate(cells) if cell["prices"] == prices]
        if len(mine) < len(cells) and len({families[i] for i in mine}) >= 5:
            for i, own in zip(mine, drawn_of([cells[i] for i in mine], units), strict=True):
                drawn[i][:, -2:] = own[:, -2:]
    over = weights(len(names), 0)
    by_family = averaged(drawn, families, datasets)
    quality = stretched(pooled(by_family, len(methods), over), len(names))
    points = [c["points"] * d for c, d in zip(cells, drawn, strict=True)]
    metric = stretched(pooled(averaged(points, families, datasets), len(methods), over), len(names))
    keys = list(units)
    known = {
        key: sum(not np.isnan(mean[0, len(methods) + i, 0]) for mean in by_family.values())
        for i, key in enumerate(keys)
    }
    seconds = fits(folder, methods)
    steps = []
    for b, budget in enumerate(budgets):
        step: dict[str, Any] = {"budget": budget}
        for what in ("algorithm", "kind"):
            chosen = [i for i, key in enumerate(keys) if key[0] == what and 2 * known[key] >= len(names)]
            table = quality[:, [len(methods) + i for i in chosen], b].round(10)
            lost = np.array([np.delete(table, k, axis=1).max(axis=1) - table[:, k] for k in range(len(chosen))])
            lost = np.maximum(lost, 0)
            top = table[1:] == table[1:].max(axis=1, keepdims=True)
            first = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
            step[what] = {
                keys[i][1]: {
                    "quality": [table[0, k], *np.percentile(table[1:, k], [2.5, 97.5])],
                    "loss": [lost[k, 1:].mean(), *np.percentile(lost[k, 1:], [2.5, 97.5])],
                    "best": first[k],
                    "column": len(methods) + i,
                    "take": max(units[keys[i]], key=lambda m: np.nan_to_num(quality[0, m, b], nan=-math.inf)),
                }
                for k, i in enumerate(chosen)
            }
        rows = step["algorithm"]
        # Only algorithms that were run on three quarters of the data sets are recommended, if there are any.
        often = [name for name in rows if 4 * known["algorithm", name] >= 3 * len(names)]
        best = min(often or rows, key=lambda name: round(rows[name]["loss"][0], 4))
        step["recommended"], step["method"] = best, methods[rows[best]["take"]]
        step["reaches"] = {
            level: float((quality[1:, rows[best]["column"], b] >= level).mean()) for level in (0.5, 0.75, 0.9)
        }
        family, _ = most_influential(by_family, len(methods), rows[best]["column"], b)
        rest = {f: values for f, values in by_family.items() if f != family}
        less = stretched(pooled(rest, len(methods), weights(len(rest), 0)), len(rest))[:, rows[best]["column"], b]
        step["without"] = {
            "family": family,
            "quality": less[0],
            "reaches": {level: float((less[1:] >= level).mean()) for level in (0.5, 0.75, 0.9)},
        }
        table = metric[1:, [row["column"] for name, row in rows.items() if name != best], b].round(10)
        behind = table.max(axis=1) - metric[1:, rows[best]["column"], b].round(10)
        step["within"] = float((behind <= BAND).mean())
        step["equal"] = {}
        for name, row in rows.items():
            gap = metric[1:, row["column"], b] - metric[1:, rows[best]["column"], b]
            better, worse = (gap.round(10) > BAND).mean(), (gap.round(10) < -BAND).mean()
            if name != best and 1 - better - worse >= 0.5:
                step["equal"][name] = 1 - better - worse
        near = [best, *step["equal"]]
        taken = {name: methods[rows[name]["take"]] for name in near}
        step["fastest"] = min(near, key=lambda name: seconds[taken[name]])
        step["simplest"] = min(
            near, key=lambda name: (SIMPLEST.index(places[taken[name]]["kind"]), seconds[taken[name]])
        )
        steps.append(step)
    columns = {name: len(methods) + i for i, (what, name) in enumerate(keys) if what == "algorithm"}
    groups: dict[str, list[list[float]]] = {}
    for prices in PRICES.values():
        mine = [cell for cell in cells if cell["prices"] == prices]
        with_these = [cell["family"] for cell in mine], [cell["dataset"] for cell in mine]
        own = drawn_of(mine, units)  # the best members with these prices
        some = averaged(own, *with_these)
        means = stretched(pooled(some, len(methods), weights(len(some), 0)), len(some))
        there = {name: sum(not np.isnan(mean[0, unit, 0]) for mean in some.values()) for name, unit in columns.items()}
        for b, step in enumerate(steps):
            step[prices] = least_loss(means[:, :, b], there, columns, len(some))
        within = averaged([d[:, [-2]] - d[:, [-1]] for d in own], *with_these)
        duel = stretched(pooled(within, 1, weights(len(within), 0)), len(within))[:, 0].round(10)
        groups[prices] = [[duel[0, b], (duel[1:, b] > 0).mean()] for b in range(len(budgets))]
    gaps = [d[:, [-2]] - d[:, [-1]] for d in drawn]
    by_gap = averaged(gaps, families, datasets)
    duel = stretched(pooled(by_gap, 1, over), len(names))[:, 0]
    scaled = [c["points"] * g for c, g in zip(cells, gaps, strict=True)]
    in_points = stretched(pooled(averaged(scaled, families, datasets), 1, over), len(names))[:, 0].round(10)
    for title in [key for key, value in cells[0].items() if isinstance(value, bool)]:
        mine = [i for i, cell in enumerate(cells) if cell[title]]
        within = averaged([gaps[i] for i in mine], [families[i] for i in mine], [datasets[i] for i in mine])
        if len(within) < 2:
            continue
        means = stretched(pooled(within, 1, weights(len(within), 0)), len(within))[:, 0].round(10)
        groups[title] = [[means[0, b], (means[1:, b] > 0).mean()] for b in range(len(budgets))]
    found = [
        {
            "budget": budget,
            "groups": {title: group[b] for title, group in groups.items()},
            "difference": [duel[0, b], *np.percentile(duel[1:, b], [2.5, 97.5])],
            "better": (in_points[1:, b] > BAND).mean(),
            "worse": (in_points[1:, b] < -BAND).mean(),
            "without": most_influential(by_gap, 1, 0, b),
        }
        for b, budget in enumerate(budgets)
    ]
    sets = [{"place": [c["dataset"], c["costs"]], "methods": c["values"].mean(axis=1).tolist()} for c in cells]
    return {"steps": steps, "dynamic": found, "families": len(names), "sets": sets}


def fits(folder: Path, methods: list[str]) -> dict[str, float]:
    """Median seconds of a fit."""
    parts = {
        part: pd.concat([pd.read_parquet(file, columns=columns) for file in sorted((folder / part).glob("*"))])
        for part, columns in {"records": ["name", "method"], "runs": ["name", "run"]}.items()
    }
    frame = parts["records"].drop_duplicates("name")
    runs = parts["runs"].set_index("name")["run"]
    of = dict(zip(frame["name"], frame["method"], strict=True))
    taken: dict[str, list[float]] = {m: [] for m in methods}
    for name, text in runs.items():
        timings = json.loads(text).get("timings", {})
        if "fit" in timings and of.get(name) in taken:
            taken[of[name]].append(timings["fit"])
    return {m: median(times) if times else math.inf for m, times in taken.items()}


if __name__ == "__main__":
    numbers = recompute(Path(sys.argv[1]), Path(sys.argv[2]))
    for one in numbers["steps"]:
        row = one["algorithm"][one["recommended"]]
        print(
            one["budget"],
            one["method"],
            np.round(row["quality"], 4),
            np.round(row["loss"], 4),
            one["equal"],
            one["fastest"],
        )
    for one in numbers["dynamic"]:
        print(one)
