"""What a command prints with ``--json``: one JSON document on standard output, for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from bench_core.cli.listing import CATALOGUES, KINDS
from bench_core.contract.errors import RequestError, did_you_mean

if TYPE_CHECKING:
    from bench_core.plugins.registry import Registry
    from bench_core.run.plan import Plan

__all__ = ["listed", "planned", "print_json"]


def print_json(value: Any) -> None:
    """Print plain values as JSON.

    Raises:
        ValueError: a number is not finite, which JSON cannot express.
    """
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def listed(registry: Registry, what: str | None) -> dict[str, list[dict[str, Any]]]:
    """What the installed plugins offer: kind → things, each with its name, plugin and description.

    Args:
        what: a kind; the name of one thing or plugin, of whatever kind; None for everything.

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


def planned(plan: Plan, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> dict[str, Any]:
    """A plan: counts of trials by data set and method, and in all.

    Args:
        plan: the plan.
        head: the names of the table's columns; all but the first two are counts.
        rows: the table of `bench_core.run.runner.describe_plan`.
        notes: lines that the command prints below the table.
    """
    counts: list[dict[str, Any]] = [dict(zip(head, [*row[:2], *map(int, row[2:])], strict=True)) for row in rows]
    total = {key: sum(row[key] for row in counts) for key in head[2:]}
    return {
        "rows": counts, "total": total, "to compute": len(plan.to_run()), "notes": list(notes),
        "unavailable": dict(plan.unavailable),
    }  # fmt: skip
