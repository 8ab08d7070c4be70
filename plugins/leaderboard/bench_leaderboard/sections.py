"""The sections of a suite file that the leaderboard owns: what they may say, checked against the rest of the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_core import Metric, RequestError, did_you_mean
from bench_core.suites import SectionRules, Suite
from bench_leaderboard.claims_schema import (
    CHECKS,
    STANDINGS,
    Check,
    PaperEntry,
    ShareCheck,
    checks_within,
    without_kind,
)
from bench_leaderboard.comparison_schema import ComparisonEntry, UseEntry
from bench_leaderboard.render.figure import needed_quantities
from bench_leaderboard.render.page_figures import check_figures
from bench_leaderboard.tables_schema import TableEntry

__all__ = ["RULES"]


def _check_tables(suite: Suite, entries: Sequence[TableEntry]) -> dict[str, Metric]:
    needed: dict[str, Metric] = {}
    methods = suite.method_names()
    for i, table in enumerate(entries):
        for name in table.methods:
            if name not in methods:
                hint = did_you_mean(name, methods)
                raise RequestError(f"{suite.path}: tables[{i}].methods: there is no method {name!r}; {hint}")
        if table.kind == "policies":
            where = f"{suite.path}: tables[{i}].fields"
            needed |= needed_quantities(table.fields, where, suite.registry.metrics)
    return needed


def _check_paper(suite: Suite, entries: Sequence[PaperEntry]) -> dict[str, Metric]:
    needed: dict[str, Metric] = {}
    for i, entry in enumerate(entries):
        needed |= _check_place(suite, f"paper[{i}]", [entry.dataset], entry.costs, [entry.metric])
    return needed


def _check_claims(suite: Suite, entries: Sequence[Check]) -> dict[str, Metric]:
    """Data sets, cost schemes and metrics of claims must be known; methods need not be (they may be to come)."""
    needed: dict[str, Metric] = {}
    for i, claim in enumerate(entries):
        if not claim.text.strip() or not claim.source.strip():
            raise RequestError(f"{suite.path}: claims[{i}] needs a text and a source")
        if claim.standing not in STANDINGS:
            hint = did_you_mean(claim.standing, STANDINGS) if claim.standing else "it is needed"
            known = "'same data' (the paper's own), 'stand-in' (other data in its place), 'absent' (it cannot be had)"
            raise RequestError(
                f"{suite.path}: claims[{i}].standing: {claim.standing!r} is none; {hint}; known: {known}"
            )
        names = claim.datasets or suite.dataset_names()
        if isinstance(claim, ShareCheck) and claim.count > len(names):
            raise RequestError(f"{suite.path}: claims[{i}].count: there are {len(names)} data sets")
        names = [*names, *([other] if (other := getattr(claim, "against_dataset", "")) else [])]
        metrics: list[str] = []
        for check in checks_within(claim):
            metrics += [getattr(check, "metric", ""), *getattr(check, "objectives", [])]
            matched = getattr(check, "matched", None)
            if matched is not None:
                metrics.append(matched.metric)
                _check_matched(suite, f"claims[{i}].matched", matched.metric)
        needed |= _check_place(suite, f"claims[{i}]", names, claim.costs, [name for name in metrics if name])
    return needed


def _check_matched(suite: Suite, where: str, name: str) -> None:
    metric = suite.registry.metric(name, f"{suite.path}: {where}")
    if metric.goal != "min":
        raise RequestError(f"{suite.path}: {where}: more of {name!r} is better; curves are read at most at a value")


def _check_comparison(suite: Suite, entry: ComparisonEntry | Sequence[object]) -> dict[str, Metric]:
    """Data sets, cost schemes, methods and metrics of a comparison must be known."""
    if not isinstance(entry, ComparisonEntry):
        return {}
    where = f"{suite.path}: comparison"
    methods, datasets = suite.method_names(), suite.dataset_names()
    costs = list(dict.fromkeys(c for _, c in suite.grids))
    _check_names(f"{where}.fallback", "method", [entry.fallback] if entry.fallback else [], methods)
    _check_names(f"{where}.static", "method", entry.static, methods)
    _check_names(f"{where}.absolute", "data set", list(entry.absolute), datasets)
    for kind, names in entry.prices.items():
        _check_names(f"{where}.prices.{kind}", "cost scheme", names, costs)
    listed = [name for names in entry.prices.values() for name in names]
    for name in listed:
        if listed.count(name) > 1:
            raise RequestError(f"{where}.prices: {name!r} is listed twice")
    needed = list(entry.metrics)
    for i, use in enumerate(entry.uses):
        _check_names(f"{where}.uses[{i}].datasets", "data set", use.datasets, datasets)
        _check_names(f"{where}.uses[{i}].methods", "method", use.methods, methods)
        needed += [use.cost] if use.cost != "cost" else []
    return {name: suite.registry.metric(name, where) for name in needed}


def _check_names(where: str, kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise RequestError(f"{where}: there is no {kind} {name!r}; {did_you_mean(name, known)}")


def _check_place(
    suite: Suite, where: str, datasets: Sequence[str], costs: str, metrics: Sequence[str]
) -> dict[str, Metric]:
    """The metrics by name.

    Raises:
        RequestError: an unknown data set, cost scheme or metric; file, key and the nearest name are said.
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
    "comparison": SectionRules(ComparisonEntry, _check_comparison, {"comparison": ComparisonEntry, "uses": UseEntry}),
    "claims": SectionRules(list[Check], _check_claims, kinds=tuple(CHECKS), place=without_kind),
}
