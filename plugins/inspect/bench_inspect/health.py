"""``bench doctor``: the state of this machine, the plugins and a store, and their problems."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bench_core import DataContext
from bench_core.suites import Registry

__all__ = ["doctor_rows", "store_row"]

_MOST = 20
"""The most damaged files that are named."""


def store_row(path: Path, repair: bool) -> tuple[list[str], list[str], list[str]]:
    """A row of ``bench doctor`` on a store, lines on its damaged files, and lines on their repair."""
    from bench_store import DAMAGED, check_store, repair_store

    from bench_core.records import Store

    store = Store(path)
    result = check_store(store)
    damage, notes = result.damage, []
    if len(damage) > _MOST:
        damage = [*damage[:_MOST], f"… and {len(damage) - _MOST} more that are damaged"]
    if repair and (damage or result.outdated or result.orphans):
        notes = [f"{repair_store(store, result)} moved to {path / DAMAGED}; the next run computes what is missing"]
    elif damage:
        notes = [f"bench doctor --store {path} --repair moves them to {path / DAMAGED}"]
    return ["records", result.summary(store)], damage, notes


def doctor_rows(registry: Registry, context: DataContext, store: Path) -> tuple[list[list[str]], list[str]]:
    """The rows of ``bench doctor``, and a line for every problem."""
    from bench_sandbox import layers

    from bench_core.execution import environment

    about = environment()
    disk = next(folder for folder in (context.cache, *context.cache.parents) if folder.exists())
    free = f"{shutil.disk_usage(disk).free / 2**30:.0f} GiB free"
    rows = [
        ["python", about["python"]],
        *([name, version] for name, version in about["libraries"].items()),
        ["processor", about["processor"]],
        ["cores", str(os.cpu_count())],
        *([name, os.environ[name]] for name in sorted(os.environ) if name.endswith("_NUM_THREADS")),
        ["isolation", ", ".join(["processes", *layers()])],
        ["store", f"{store} ({'exists' if store.is_dir() else 'does not exist yet'})"],
        ["data cache", f"{context.cache} ({free})"],
        ["data mirror", str(context.mirror) if context.mirror else "none"],
        ["offline", "yes" if context.offline else "no"],
        ["plugins", f"{len(registry.plugins)} found, {len(registry.broken)} broken"],
    ]
    wrong = [f"plugin {p.name!r} ({p.module}) could not be loaded: {p.error}" for p in registry.broken]
    wrong += registry.conflicts()
    if context.mirror and not context.mirror.is_dir():
        wrong.append(f"the data mirror {context.mirror} is not a directory")
    return rows, wrong
