"""The answer of a suite, as plain data: ``losses.json``. For each task and kind of prices, every budget and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from bench_comparison.draws import Table, draws_of, split_draws, without_spread
from bench_comparison.findings import FEW
from bench_comparison.kinds import SIMPLEST
from bench_comparison.layout import Layout
from bench_comparison.losses import BAND, beaten, group_of, intervals, losses, outcomes, plain
from bench_comparison.populations import Task
from bench_comparison.row_by_row import row_by_row, with_prices
from bench_comparison.scale import Measured
from bench_comparison.schema import PRICES, Prices
from bench_comparison.sensitivity import deciding, draws_without, most_influential, without_each
from bench_comparison.sets import unit_values

__all__ = ["LEVELS", "TITLES", "task_views"]

Numbers = NDArray[np.float64]
JsonObject = Mapping[str, Any]

TITLES: dict[str, str] = {"all": "all prices"} | {str(kind): title for kind, title in PRICES.items()}
_PAIR_DIGITS = 2
RECOMMENDED_ON = 0.75
"""A recommended algorithm was run on at least this share of the data sets. The means of others rest more on the
assumption that the data sets they lack are like the ones they have; most of them are slow, and lack large ones."""
LEVELS = (0.5, 0.75, 0.9, 1.0)
"""Qualities; the answer gives the probability that the recommended method reaches each."""


def task_views(
    task: Task,
    used: Sequence[Measured],
    left_out: Sequence[Measured],
    values: Sequence[Numbers],
    layout: Layout,
    budgets: Sequence[float],
) -> list[dict[str, Any]]:
    """The views of one task: all prices together, then each kind of prices.

    The methods that represent their algorithm or kind are chosen anew for each view.

    Args:
        task: the task of the views.
        used: data sets of this task with a clear reference.
        left_out: its other data sets.
        values: of ``used``, from `bench_comparison.sets.unit_values`.
        layout: of the suite's methods.
        budgets: shares of the price.
    """
    views = []
    for prices in ("all", *get_args(Prices)):
        here, out = ([c for c in some if prices in ("all", c.prices)] for some in (used, left_out))
        if here or out:
            view = {"task": task, "prices": prices, "title": TITLES[prices], **_datasets(here, out)}
            if here:
                own = values if prices == "all" else unit_values(here, layout)
                drawn = [split_draws(v, _number(c.dataset)) for v, c in zip(own, here, strict=True)]
                view |= _view(here, drawn, layout, budgets, prices == "all")
            views.append(view)
    if views:
        views[0]["dynamic"] = with_prices(views[0]["dynamic"], views[1:])
    return views


def _number(dataset: str) -> int:
    """A number made from a data set's name, so that data sets have different draws."""
    return int.from_bytes(dataset.encode(), "big") % (2**61 - 1)


def _datasets(used: Sequence[Measured], out: Sequence[Measured]) -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {}
    for cell in used:
        row = rows.setdefault(
            cell.dataset,
            {
                "name": cell.dataset,
                "family": cell.family,
                "costs": [],
                "splits": len(cell.seeds),
                **cell.facts,
                "empty": round(cell.empty, 4),
                "reference": round(cell.reference, 4),
            },
        )
        row["costs"].append(cell.costs)
    left = {c.dataset: {"name": c.dataset, "gain": [plain(g) for g in c.gain]} for c in out}
    families = len({cell.family for cell in used})
    metric = (used or out)[0].metric
    return {
        "metric": metric,
        "beside": "auc" if any(np.isfinite(c.beside).any() for c in used) else None,
        "datasets": list(rows.values()),
        "left_out": list(left.values()),
        "families": families,
        "few": families < FEW,
        "seldom": [],
        "steps": [],
        "dynamic": [],
    }


def _view(
    cells: Sequence[Measured], drawn: Sequence[Numbers], layout: Layout, budgets: Sequence[float], pairs: bool
) -> dict[str, Any]:
    families, datasets = [c.family for c in cells], [c.dataset for c in cells]
    count, number = len(layout.methods), len(set(families))
    splits = [len(c.seeds) for c in cells]
    table = Table.of(drawn, families, datasets, count)
    quality = without_spread(draws_of(table), families, splits)
    scaled = [cell.points * values for cell, values in zip(cells, drawn, strict=True)]
    points = without_spread(draws_of(Table.of(scaled, families, datasets, count)), families, splits)
    # As for the means: a family counts where the unit has all of its data sets.
    families_of = np.sum([~np.isnan(values[0, :, 0]) for values in table.values.values()], axis=0)
    beside = _beside(cells)
    steps = [
        _step(layout, budget, quality[:, :, b], points[:, :, b], families_of, beside[:, b], number, pairs)
        for b, budget in enumerate(budgets)
    ]
    often = [u for u in range(count, count + len(layout.algorithms)) if _often(families_of[u], number)]
    if often and number >= FEW:
        means, without = quality[0], without_each(table)
        units = {unit.name: count + place for place, unit in enumerate(layout.algorithms)}
        for b, (step, (best, others)) in enumerate(zip(steps, deciding(means, without, often), strict=True)):
            names = {family: layout.units[unit - count].name for family, unit in others.items()}
            step["deciding"] = {"best": layout.units[best - count].name, "without": names}
            if pairs and step["recommended"] is not None:
                unit = units[step["recommended"]["algorithm"]]
                family = most_influential(means[unit, b], {name: rest[unit, b] for name, rest in without.items()})
                step["recommended"]["without"] = _judged_without(family, draws_without(table, family, unit, b))
    seldom = [unit.name for u, unit in enumerate(layout.algorithms, count) if 0 < 2 * families_of[u] < number]
    return {"steps": steps, "seldom": seldom, "dynamic": row_by_row(cells, drawn, layout, budgets)}


def _often(there: int, families: int) -> bool:
    """Whether a unit that was run on so many families may be recommended."""
    return there >= RECOMMENDED_ON * families


def _beside(cells: Sequence[Measured]) -> Numbers:
    """Mean of the second metric over the families where it is known; float64 (methods, budgets)."""
    by_family: dict[str, list[Numbers]] = {}
    for cell in cells:
        by_family.setdefault(cell.family, []).append(cell.beside)
    means = [sum(some) / len(some) for some in by_family.values()]
    known = [m for m in means if np.isfinite(m).any()]
    if not known:
        return np.full_like(cells[0].beside, np.nan)
    return np.asarray(sum(known) / len(known))


def _step(
    layout: Layout,
    budget: float,
    quality: Numbers,
    points: Numbers,
    families_of: NDArray[np.int64],
    beside: Numbers,
    families: int,
    pairs: bool,
) -> dict[str, Any]:
    """One budget: rows of kinds, algorithms and methods; what is recommended."""
    m, a, k = len(layout.methods), len(layout.algorithms), len(layout.kinds)
    at = {"algorithms": np.arange(m, m + a), "kinds": np.arange(m + a, m + a + k)}
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, units in (("kinds", layout.kinds), ("algorithms", layout.algorithms)):
        there = [int(u) for u in at[name] if families_of[u] > 0 and 2 * families_of[u] >= families]
        named = [units[u - at[name][0]] for u in there]
        lost = losses(quality[:, there], range(len(there)), [True] * len(there))
        first = beaten(quality[1:, there], [True] * len(there))
        rows[name] = _rows([unit.name for unit in named], quality[:, there], lost, first.tolist(), families_of[there])
        for row, unit in zip(rows[name], named, strict=True):
            mine = _taken(quality[0, :m], unit.members)
            row |= {"method": layout.methods[mine], "kind": layout.places[layout.methods[mine]].kind}
            row["beside"] = plain(beside[mine])
    algorithms = [unit.name for unit in layout.algorithms]
    rows["methods"] = _methods(layout, quality, families_of, beside, families, rows["algorithms"])
    rows["algorithms"].sort(key=lambda row: (row["loss"][0], algorithms.index(row["name"])))
    columns = {row["name"]: m + algorithms.index(row["name"]) for row in rows["algorithms"]}
    recommended = _recommended(layout, rows["algorithms"], points, columns, families) if families >= FEW else None
    if recommended is not None:
        recommended["reaches"] = _reached(quality[:, columns[recommended["algorithm"]]])
    row_pairs = {"pairs": _pairs(list(columns), points, columns)} if pairs else {}
    return {"budget": budget, **rows, "recommended": recommended, **row_pairs}


def _reached(quality: Numbers) -> dict[str, float | None]:
    """Level → the probability that a quality reaches it, from its draws after the observed one."""
    return {f"{level:g}": plain(float((quality[1:] >= level).mean())) for level in LEVELS}


def _judged_without(family: str, quality: Numbers) -> dict[str, Any]:
    """The quality of the recommended algorithm without a family of data sets, from its draws."""
    return {"family": family, "quality": plain(quality[0]), "reaches": _reached(quality)}


def _pairs(names: Sequence[str], points: Numbers, columns: Mapping[str, int]) -> dict[str, Any]:
    """Probabilities that the algorithm of a row is better than that of a column by more than the band, or equal."""
    table = points[1:, [columns[name] for name in names]]
    pairs = [[outcomes(table[:, i] - table[:, j]) for j in range(len(names))] for i in range(len(names))]
    return {
        "names": list(names),
        "better": [[round(cell[0], _PAIR_DIGITS) for cell in line] for line in pairs],
        "equal": [[round(cell[1], _PAIR_DIGITS) for cell in line] for line in pairs],
    }


def _taken(means: Numbers, members: Sequence[int]) -> int:
    """The member with the best mean over all data sets: the one to take on a new data set."""
    return max(members, key=lambda m: (-np.inf if np.isnan(means[m]) else means[m], -m))


def _rows(
    names: Sequence[str], quality: Numbers, lost: Numbers, first: Sequence[float], families: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """A row for each unit, in the order of the columns of ``quality`` and ``lost``."""
    columns = zip(names, intervals(quality), intervals(lost, mean=True), first, families.tolist(), strict=True)
    return [
        {"name": name, "quality": reached, "loss": loss, "best": plain(best), "families": number}
        for name, reached, loss, best, number in columns
    ]


def _methods(
    layout: Layout,
    quality: Numbers,
    families_of: NDArray[np.int64],
    beside: Numbers,
    families: int,
    algorithms: Sequence[JsonObject],
) -> list[dict[str, Any]]:
    """Every method against the best of the other algorithms."""
    m, names = len(layout.methods), [unit.name for unit in layout.algorithms]
    there = [i for i in range(m) if families_of[i] > 0 and 2 * families_of[i] >= families]
    rivals = [m + names.index(row["name"]) for row in algorithms]
    columns = [*there, *rivals]
    groups = [layout.groups[i] for i in there] + [u - m for u in rivals]
    lost = losses(quality[:, columns], groups, [False] * len(there) + [True] * len(rivals))
    first = []
    for place, i in enumerate(there):
        others = [u for u in rivals if u - m != groups[place]]
        first.append(beaten(quality[1:, [i, *others]], [True] * (1 + len(others))).item(0))
    methods = [layout.methods[i] for i in there]
    rows = _rows(methods, quality[:, there], lost[:, : len(there)], first, families_of[there])
    for row, i in zip(rows, there, strict=True):
        at = layout.places[layout.methods[i]]
        row |= {"kind": at.kind, "algorithm": at.algorithm, "beside": plain(beside[i])}
    return sorted(rows, key=lambda row: (row["loss"][0], layout.methods.index(row["name"])))


def _recommended(
    layout: Layout, rows: Sequence[dict[str, Any]], points: Numbers, columns: Mapping[str, int], families: int
) -> dict[str, Any]:
    """The algorithm of the least expected loss among those run on `RECOMMENDED_ON` of the data sets, or among all.

    Adds each row's probabilities against it, and its group.
    """
    first = next((row for row in rows if _often(row["families"], families)), rows[0])
    for row in rows:
        difference = points[1:, columns[row["name"]]] - points[1:, columns[first["name"]]]
        better, equal, worse = outcomes(difference)
        row |= {"better": plain(better), "equal": plain(equal), "worse": plain(worse)}
        row["group"] = "recommended" if row is first else group_of(better, equal, worse)
    equal_rows = [row for row in rows if row["group"] == "equal"]
    candidates = [row for row in (first, *equal_rows) if np.isfinite(layout.seconds[row["method"]])]
    fastest = min(candidates, key=lambda row: layout.seconds[row["method"]], default=None)
    simplest = min(
        (first, *equal_rows), key=lambda row: (SIMPLEST.index(row["kind"]), _or_most(layout.seconds[row["method"]]))
    )
    others = [points[1:, columns[row["name"]]] for row in rows if row is not first]
    behind = np.max(others, axis=0) - points[1:, columns[first["name"]]] if others else np.zeros(len(points) - 1)
    return {
        "algorithm": first["name"],
        "method": first["method"],
        "kind": first["kind"],
        "loss": first["loss"],
        "quality": first["quality"],
        "best": first["best"],
        "within": plain(float((behind <= BAND).mean())),
        "beside": first["beside"],
        "equal": [
            {"algorithm": row["name"], "method": row["method"], "probability": row["equal"]} for row in equal_rows
        ],
        "open": [row["name"] for row in rows if row["group"] == "open"],
        "fastest": None if fastest is None else fastest["name"],
        "simplest": simplest["name"],
    }


def _or_most(seconds: float) -> float:
    return seconds if np.isfinite(seconds) else float("inf")
