"""The methods that a recommendation tries, in the order of their expected value.

They are the entries of the open comparison, ordered by its published records (``portfolio.json``, written by
``benchmarks/order_of_methods.py``), and after them the methods of other installed plugins.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from bench_policies.budgets import within_budget
from bench_policies.folder import policy_types
from bench_policies.goals import Goal
from bench_policies.tables import facts_after_encoding
from bench_policies.trials import Bench

from bench_core import RequestError, build
from bench_core.suites import Registry
from bench_recommend.race import Candidate

__all__ = ["Entry", "candidates", "entries"]


@dataclass(frozen=True)
class Entry:
    """A method with its parameters.

    Attributes:
        name: the method's name; with its parameters if several entries have the same method.
        use: the method's registered name.
        parameters: parameters that differ from the defaults.
    """

    name: str
    use: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def entries(registry: Registry, names: Sequence[str], goal: Goal, full: float, sized: bool = False) -> list[Entry]:
    """Return the methods to try, most promising first.

    Methods with a parameter ``budgets`` (shares of the full price) get the goal's budget, so that they use it fully.

    Args:
        registry: the installed methods.
        names: methods to try, in their default configuration; empty: the portfolio.
        goal: the goal.
        full: price of all features.
        sized: whether prices depend on the item's size.
    """
    if names:
        found = [Entry(name, name) for name in names]
    else:
        known = [entry for entry in _published() if entry.use in registry.methods]
        plugins = {registry.plugin_of("methods", entry.use).name for entry in known}
        found = known + [
            Entry(name, name)
            for name in sorted(registry.methods)
            if registry.plugin_of("methods", name).name not in plugins
        ]
    return [
        replace(entry, parameters=within_budget(entry.parameters, registry.method(entry.use), goal, full, sized))
        if entry.use in registry.methods
        else entry
        for entry in found
    ]


def candidates(registry: Registry, tried: Sequence[Entry], bench: Bench, named: bool) -> list[Candidate]:
    """Return the entries as candidates of a race; those that do not apply are stopped, with the reason.

    Args:
        registry: the installed methods.
        tried: the entries.
        bench: the data and protocol.
        named: whether the user chose the methods. Then invalid parameters are an error.

    Raises:
        RequestError: no method applies, or a method that the user chose has invalid parameters.
    """
    costs = bench.prepared(1).problem.costs
    found = []
    for entry in tried:
        cls = registry.method(entry.use)
        try:
            method = build(cls, dict(entry.parameters), f"method {entry.use!r}")
        except RequestError as error:
            if named:
                raise
            found.append(Candidate(entry.name, None, entry.use, status="cannot", why=str(error)))  # type: ignore[arg-type]
            continue
        candidate = Candidate(entry.name, method, entry.use, entry.parameters)
        facts = facts_after_encoding(bench.dataset, costs, bench.setup.encode, bench.thresholds(method)[0])
        refused = method.inapplicable(facts) or _unsaveable(registry, entry.use)
        if refused is not None:
            candidate.stop("cannot", refused)
        found.append(candidate)
    if all(candidate.status == "cannot" for candidate in found):
        raise RequestError(
            "no method can be used here: " + "; ".join(f"{candidate.name}: {candidate.why}" for candidate in found[:5])
        )
    return found


def _unsaveable(registry: Registry, name: str) -> str | None:
    """Return why ``bench fit`` could not save a method's policies, or None. Such a method is not recommended."""
    try:
        policy_types(registry, registry.plugin_of("methods", name).name)
    except RequestError as error:
        return f"bench fit cannot save its policies: {error}"
    return None


@cache
def _published() -> tuple[Entry, ...]:
    listed = json.loads(files("bench_recommend").joinpath("portfolio.json").read_text(encoding="utf-8"))
    often = Counter(entry["use"] for entry in listed)

    def name(use: str, parameters: Mapping[str, Any]) -> str:
        return use if often[use] == 1 or not parameters else f"{use} ({', '.join(map(str, parameters.values()))})"

    return tuple(Entry(name(one["use"], one["parameters"]), one["use"], one["parameters"]) for one in listed)
