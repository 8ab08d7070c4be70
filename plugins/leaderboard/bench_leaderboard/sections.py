"""The sections of a suite file that the leaderboard owns: what they may say, checked against the rest of the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_core import Metric, RequestError, did_you_mean
from bench_core.suites import SectionRules, Suite
from bench_leaderboard.render.figure import needed_quantities
from bench_leaderboard.render.page_figures import check_figures
from bench_leaderboard.tables_schema import GridEndEntry, PaperEntry, TableEntry

__all__ = ["RULES", "check_place"]


def _check_tables(suite: Suite, entries: Sequence[TableEntry]) -> dict[str, Metric]:
    needed: dict[str, Metric] = {}
    for i, table in enumerate(entries):
        _check_methods(suite, f"tables[{i}]", table.methods)
        if table.kind == "policies":
            where = f"{suite.path}: tables[{i}].fields"
            needed |= needed_quantities(table.fields, where, suite.registry.metrics)
    return needed


def _check_methods(suite: Suite, where: str, methods: Sequence[str]) -> None:
    known = suite.method_names()
    for name in methods:
        if name not in known:
            hint = did_you_mean(name, known)
            raise RequestError(f"{suite.path}: {where}.methods: there is no method {name!r}; {hint}")


def _check_grid_ends(suite: Suite, entries: Sequence[GridEndEntry]) -> dict[str, Metric]:
    for i, entry in enumerate(entries):
        _check_methods(suite, f"grid_ends[{i}]", entry.methods)
    return {}


def _check_paper(suite: Suite, entries: Sequence[PaperEntry]) -> dict[str, Metric]:
    needed: dict[str, Metric] = {}
    seen: dict[tuple[str, str, str, str], int] = {}
    costs = dict(reversed(suite.grids))  # the first of each data set
    for i, entry in enumerate(entries):
        needed |= check_place(suite, f"paper[{i}]", [entry.dataset], entry.costs, [entry.metric])
        place = entry.dataset, entry.costs or costs[entry.dataset], entry.method, entry.metric
        if (other := seen.setdefault(place, i)) != i:
            raise RequestError(f"{suite.path}: paper[{i}]: the number of {' · '.join(place)} is in paper[{other}], too")
    return needed


def check_place(
    suite: Suite, where: str, datasets: Sequence[str], costs: str, metrics: Sequence[str]
) -> dict[str, Metric]:
    """Check the names, and return the metrics by name.

    Raises:
        RequestError: an unknown data set, cost scheme or metric; the message has file, key and the nearest name.
    """
    known = suite.dataset_names()
    for name in datasets:
        if name not in known:
            hint = did_you_mean(name, known)
            raise RequestError(f"{suite.path}: {where}: there is no data set {name!r}; {hint}")
        if costs and (name, costs) not in suite.grids:
            hint = did_you_mean(costs, [c for d, c in suite.grids if d == name])
            raise RequestError(f"{suite.path}: {where}: {name!r} has no costs {costs!r}; {hint}")
    return {name: suite.registry.metric(name, f"{suite.path}: {where}") for name in metrics}


RULES: Mapping[str, SectionRules] = {
    "tables": SectionRules(list[TableEntry], _check_tables, {"tables": TableEntry}),
    "figures": SectionRules(list[dict[str, Any]], check_figures),
    "paper": SectionRules(list[PaperEntry], _check_paper, {"paper": PaperEntry}),
    "grid_ends": SectionRules(list[GridEndEntry], _check_grid_ends, {"grid_ends": GridEndEntry}),
}
