"""Checking a complete store: what `bench_store` checks, the rows of every file of decisions, the list of data sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bench_store
from bench_store import StoreCheck, StoreFile, open_file, reason, repair_store, unseal

from bench_core.run.store import Store

__all__ = ["StoreCheck", "StoreFile", "check_store", "repair_store"]


def check_store(store: Store) -> StoreCheck:
    """Read every file of a store. Nothing is changed; the store remembers what is damaged.

    Raises:
        StoreError: a folder cannot be read.
    """
    result = bench_store.check_store(store, _wrong_decisions)
    index = store.path / "datasets.json"
    try:
        with open_file(index) as opened:
            if not isinstance(unseal(opened.read()).get("hashes"), dict):
                raise ValueError("it holds no hashes")
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        result.misplaced.append(index)
        result.damage.append(f"{index} is damaged: {reason(error)}")
    return result


def _wrong_decisions(record: Mapping[str, Any], path: Path) -> str:
    """What does not fit between a record and the decisions whose checksum it holds; empty when all does."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
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
