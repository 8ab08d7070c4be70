"""``bench list KIND``: what the installed plugins offer, as tables and as plain values."""

from __future__ import annotations

from typing import Any

from bench_core import RequestError, did_you_mean
from bench_core.suites import Registry

__all__ = ["CATALOGUES", "KINDS", "list_rows", "listed"]

CATALOGUES = {"datasets": "datasets", "costs": "cost_schemes", "methods": "methods", "metrics": "metrics"}
"""The name of a kind on the command line → the attribute of `Registry` that holds its objects."""
KINDS = (*CATALOGUES, "plugins")


def list_rows(registry: Registry, kind: str) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of ``bench list KIND``."""
    if kind == "plugins":
        rows = [
            [p.name, p.distribution or "-", p.version or "-", "broken" if p.error else "ok"]
            for p in registry.plugins.values()
        ]
        return ["plugin", "distribution", "version", "state"], rows
    catalogue = getattr(registry, CATALOGUES[kind])
    descriptions = [(name, catalogue.described(name)) for name in sorted(catalogue)]
    if kind == "metrics":
        rows = [
            [name, description["goal"], description["title"], ", ".join(description["tasks"])]
            for name, description in descriptions
        ]
        return ["metric", "better", "title", "tasks"], rows
    return ["name", "what it is"], [[name, description["summary"]] for name, description in descriptions]


def listed(registry: Registry, what: str | None) -> dict[str, list[dict[str, Any]]]:
    """Everything that the installed plugins offer: kind → objects, each with its name, plugin and description.

    Args:
        what: a kind; the name of an object or plugin; None for everything.

    Raises:
        RequestError: nothing has that name.
    """
    found = {kind: _things(registry, kind) for kind in ([what] if what in KINDS else KINDS)}
    if what is None or what in KINDS:
        return found
    named = {kind: [thing for thing in things if thing["name"] == what] for kind, things in found.items()}
    if not any(named.values()):
        names = [*KINDS, *(thing["name"] for things in found.values() for thing in things)]
        raise RequestError(f"nothing is called {what!r}; {did_you_mean(what, names)}")
    return {kind: things for kind, things in named.items() if things}


def _things(registry: Registry, kind: str) -> list[dict[str, Any]]:
    if kind == "plugins":
        return [
            {"name": p.name, "distribution": p.distribution, "version": p.version, "module": p.module, "error": p.error}
            for p in registry.plugins.values()
        ]
    catalogue = getattr(registry, CATALOGUES[kind])
    things = []
    for name in sorted(catalogue):
        described = dict(catalogue.described(name))
        if "parameters" in described:
            keys = ("name", "type", "meaning", "limit")
            described["parameters"] = [dict(zip(keys, one, strict=True)) for one in described["parameters"]]
        things.append({"name": name, "plugin": catalogue.origins[name], **described})
    return things
