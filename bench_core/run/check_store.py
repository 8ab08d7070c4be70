"""Checking a whole store: every checksum, every name against its trial, every file of decisions."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_core.contract.errors import StoreError
from bench_core.run.record_file import unseal
from bench_core.run.store import DAMAGED, Store, StoreFile
from bench_core.run.whole_files import move_aside, open_file, why

__all__ = ["StoreCheck", "check_store", "repair_store"]

_OLD_ENOUGH = 60.0
"""Seconds after which decisions without a record are left over: no writer is that slow between the two."""


@dataclass
class StoreCheck:
    """What a check of a whole store found.

    Attributes:
        done, failed: how many records of either kind are sound.
        damage: a line for every file that is damaged, naming it.
        old: how many records are of an earlier format.
        left_over: decisions without a record, which a run leaves that is killed between the two.
        misplaced: files that lie where no reader looks for them, or are no records at all; in ``damage``, too.
    """

    done: int = 0
    failed: int = 0
    damage: list[str] = field(default_factory=list)
    old: int = 0
    left_over: list[Path] = field(default_factory=list)
    misplaced: list[Path] = field(default_factory=list)


def check_store(store: Store) -> StoreCheck:
    """Read every file of a store. Nothing is changed; the store remembers what is damaged.

    Raises:
        StoreError: a folder cannot be read.
    """
    result = StoreCheck()
    files = list(store.files())
    names = {file.name for file in files if file.kind in ("done", "failed")}
    misplaced = [file for file in files if file.misplaced]
    result.misplaced += [file.path for file in misplaced]
    result.damage += [file.misplaced for file in misplaced]
    for file in files:
        if file.kind == "decisions" and not file.misplaced and file.name not in names and _is_old_enough(file):
            result.left_over.append(file.path)
    before = store.unbelieved
    for name in sorted({file.name for file in files if not file.misplaced and file.kind in ("done", "failed")}):
        try:
            record = store.read(name)
        except StoreError as error:  # the disk does not give it: no reason to stop
            result.damage.append(str(error))
            continue
        if record is None:
            continue
        wrong = _wrong_decisions(store, record) if record["status"] == "ok" else ""
        if wrong:
            store.disbelieve(name, f"{store.path_of_decisions(name)} {wrong}")
        else:
            result.done += record["status"] == "ok"
            result.failed += record["status"] == "failed"
    result.damage += store.damage
    result.old = len(store.unbelieved - before) - len(store.damage)
    index = store.path / "datasets.json"
    try:
        with open_file(index) as opened:
            if not isinstance(unseal(opened.read()).get("hashes"), dict):
                raise ValueError("it holds no hashes")
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        result.misplaced.append(index)
        result.damage.append(f"{index} is damaged: {why(error)}")
    return result


def repair_store(store: Store, result: StoreCheck) -> int:
    """Move to ``damaged`` whatever a check found, so that the next run computes it; how many trials and files.

    Temporary files of processes that are gone are removed.

    Raises:
        StoreError: something cannot be moved.
    """
    moved = len(store.set_aside())
    for path in [*result.misplaced, *result.left_over]:
        move_aside(path, store.path / DAMAGED)
        moved += 1
    store.sweep()
    return moved


def _is_old_enough(file: StoreFile) -> bool:
    with suppress(OSError):
        return time.time() - file.path.lstat().st_mtime > _OLD_ENOUGH
    return False


def _wrong_decisions(store: Store, record: dict[str, Any]) -> str:
    """What does not fit between a record and the decisions whose checksum it holds; empty when all does."""
    if record.get("decisions") is None:
        return ""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(store.path_of_decisions(record["name"])) as file:
            rows, metadata = file.metadata.num_rows, file.schema_arrow.metadata or {}
        budgets = json.loads(metadata[b"budgets"])
    except (OSError, ValueError, KeyError) as error:
        return f"is damaged: {' '.join(str(error).split())}"
    policies = len(record["policies"]["label"])
    needed = policies * (record["rows"].get("validation", 0) + record["rows"].get("test", 0))
    if rows != needed:
        return f"is damaged: it has {rows} decisions, its record needs {needed}"
    if len(budgets) != policies:
        return f"is damaged: it is of {len(budgets)} policies, its record of {policies}"
    return ""
