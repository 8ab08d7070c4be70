"""The contract kit on everything that an installed plugin registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.contract.parameters import build
from bench_core.plugins.registry import Registry
from bench_core.testing.contracts import check_cost_scheme, check_dataset, check_method, check_metric

__all__ = ["check_plugin"]


def check_plugin(registry: Registry, name: str, progress: Callable[[str], None]) -> list[list[str]]:
    """A row per check: thing, check, task, outcome (``passed``, ``failed``, ``skipped``), message.

    Methods, data sets and cost schemes are tried with their default parameters; one that has none is skipped.
    Figures are no kind of the core's: what draws them has tests of its own.

    Raises:
        RequestError: no such plugin, or it could not be loaded.
    """
    registry = registry.complete()  # the kit runs methods in this process
    if name not in registry.plugins:
        raise RequestError(f"there is no plugin {name!r}; {did_you_mean(name, registry.plugins)}")
    if registry.plugins[name].error:
        raise RequestError(f"plugin {name!r} could not be loaded: {registry.plugins[name].error}")
    kits: tuple[tuple[str, Any, Callable[[Any], Any]], ...] = (
        ("methods", registry.methods, check_method),
        ("datasets", registry.datasets, check_dataset),
        ("cost_schemes", registry.cost_schemes, check_cost_scheme),
    )
    rows: list[list[str]] = []
    for shelf, things, kit in kits:
        for thing, cls in things.items():
            if registry.plugin_of(shelf, thing).name != name:
                continue
            progress(thing)
            try:
                instance = build(cls, {}, thing)
            except RequestError as error:
                rows.append([thing, "-", "-", "skipped", str(error)])
                continue
            rows += [[thing, r.check, r.task or "-", r.outcome, r.message] for r in kit(instance)]
    for thing, metric in registry.metrics.items():
        if registry.plugin_of("metrics", thing).name == name:
            progress(thing)
            rows += [[thing, r.check, r.task or "-", r.outcome, r.message] for r in check_metric(metric)]
    return rows
