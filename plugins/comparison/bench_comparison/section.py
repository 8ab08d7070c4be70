"""``[comparison]`` of a suite, checked against the rest of it."""

from __future__ import annotations

from collections.abc import Sequence

from bench_comparison.kinds import KINDS
from bench_comparison.schema import ComparisonEntry
from bench_core import Metric, RequestError, did_you_mean
from bench_core.suites import SectionRules, Suite

__all__ = ["RULES"]


def _check_comparison(suite: Suite, entry: ComparisonEntry | Sequence[object]) -> dict[str, Metric]:
    """Data sets, cost schemes, methods and metrics of a comparison must be known."""
    if not isinstance(entry, ComparisonEntry):
        return {}
    where = f"{suite.path}: comparison"
    methods, datasets = suite.method_names(), suite.dataset_names()
    costs = list(dict.fromkeys(c for _, c in suite.grids))
    _check_names(f"{where}.fallback", "method", [entry.fallback] if entry.fallback else [], methods)
    _check_names(f"{where}.kinds", "method", list(entry.kinds), methods)
    _check_names(f"{where}.kinds", "kind", list(entry.kinds.values()), [kind.name for kind in KINDS])
    for family, names in entry.families.items():
        _check_names(f"{where}.families.{family}", "data set", names, datasets)
    _check_names(f"{where}.reference", "method", entry.reference, methods)
    _check_names(f"{where}.absolute", "data set", list(entry.absolute), datasets)
    for kind, names in entry.prices.items():
        _check_names(f"{where}.prices.{kind}", "cost scheme", names, costs)
    listed = [name for names in entry.prices.values() for name in names]
    for name in listed:
        if listed.count(name) > 1:
            raise RequestError(f"{where}.prices: {name!r} is listed twice")
    return {name: suite.registry.metric(name, where) for name in entry.metrics}


def _check_names(where: str, kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise RequestError(f"{where}: there is no {kind} {name!r}; {did_you_mean(name, known)}")


RULES = SectionRules(ComparisonEntry, _check_comparison, {"comparison": ComparisonEntry})
