"""``bench list``, ``bench doctor`` and ``bench data``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench_core.contract.dataset import DataContext
from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.contract.parameters import build, describe
from bench_core.plugins.registry import Registry
from bench_core.run.execute.worker import environment
from bench_core.run.plan import with_hint

__all__ = ["KINDS", "data_rows", "doctor_rows", "list_rows"]

KINDS = ("datasets", "costs", "methods", "metrics", "plugins")


def list_rows(registry: Registry, kind: str) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of ``bench list KIND``."""
    if kind == "plugins":
        head = ["plugin", "distribution", "version", "state"]
        return head, [
            [p.name, p.distribution or "-", p.version or "-", p.error or "ok"]
            for p in registry.plugins.values()
        ]
    if kind == "metrics":
        rows = [
            [name, metric.goal, metric.title or name, ", ".join(sorted(metric.tasks))]
            for name, metric in sorted(registry.metrics.items())
        ]
        return ["metric", "better", "title", "tasks"], rows
    shelves: dict[str, tuple[Any, str]] = {
        "datasets": (registry.datasets, "datasets"),
        "costs": (registry.cost_schemes, "cost_schemes"),
        "methods": (registry.methods, "methods"),
    }
    things, shelf = shelves[kind]
    rows = []
    for name, cls in sorted(things.items()):
        parameters = "; ".join(f"{key}: {said}" for key, said in describe(cls).items())
        first = (cls.__doc__ or "").strip().partition("\n")[0]
        rows.append([name, first, parameters or "-", registry.plugin_of(shelf, name).name])
    return ["name", "what it is", "parameters", "plugin"], rows


def doctor_rows(registry: Registry, context: DataContext, store: Path) -> tuple[list[list[str]], list[str]]:
    """What ``bench doctor`` shows, and what is wrong."""
    about = environment()
    rows = [
        ["python", about["python"]],
        *([name, version] for name, version in about["libraries"].items()),
        ["processor", about["processor"]],
        ["cores", str(os.cpu_count())],
        *([name, os.environ[name]] for name in sorted(os.environ) if name.endswith("_NUM_THREADS")),
        ["store", f"{store} ({'there' if store.is_dir() else 'not yet there'})"],
        ["data cache", f"{context.cache} ({_free(context.cache)} free)"],
        ["data mirror", str(context.mirror) if context.mirror else "none"],
        ["offline", "yes" if context.offline else "no"],
        ["plugins", f"{len(registry.plugins)} found, {len(registry.broken)} broken"],
    ]
    wrong = [f"plugin {p.name!r} ({p.module}) could not be loaded: {p.error}" for p in registry.broken]
    wrong += registry.conflicts()
    if context.mirror and not context.mirror.is_dir():
        wrong.append(f"the data mirror {context.mirror} is not a directory")
    return rows, wrong


def _free(path: Path) -> str:
    while not path.exists():
        path = path.parent
    return f"{shutil.disk_usage(path).free / 2**30:.0f} GiB"


def data_rows(
    registry: Registry,
    context: DataContext,
    verb: str,
    names: Sequence[str],
    progress: Callable[[str], None] = lambda name: None,
) -> tuple[list[list[str]], bool]:
    """``bench data fetch|status|verify``: a row per data set, and whether all went well.

    Raises:
        RequestError: an unknown name.
    """
    for name in names:
        if name not in registry.datasets:
            raise RequestError(f"there is no data set {name!r}; {did_you_mean(name, registry.datasets)}")
    rows, fine = [], True
    for name in names or sorted(registry.datasets):
        try:
            source = build(registry.datasets[name], {}, name)
        except RequestError:
            if names:
                rows.append([name, "needs parameters: use it in a suite"])
                fine = False
            continue
        progress(name)
        try:
            if verb == "fetch":
                source.fetch(context)
            said = source.status(context)
            if verb == "verify":
                dataset = source.load(context)
                said += f", {dataset.n_rows} x {dataset.n_features}, {dataset.content[:16]}"
            fine &= verb == "status" or said != "missing"
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            said, fine = f"failed: {with_hint(error)}", False
        rows.append([name, said])
    return rows, fine
