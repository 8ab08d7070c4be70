"""A suite's committed export: what its pages are rendered from, and what a run resumes from.

``records.parquet`` holds everything a page is rendered from, sorted and without anything that depends on when or
where it was computed; times and machines are in ``runs.parquet`` beside it. Test decisions are in neither.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bench_core.analysis.records import Records, sort_policies
from bench_core.canonical import canonical_json
from bench_core.errors import RequestError
from bench_core.metrics import Metric

__all__ = ["RECORDS", "RUNS", "Committed", "read_export", "write_export"]

RECORDS, RUNS = "records.parquet", "runs.parquet"


@dataclass(frozen=True)
class Committed:
    """The trials of a committed export, read no further than planning needs.

    Attributes:
        folder: where the export lies; it need not be there.
        metrics: metrics that a done trial must have, since the export has no decisions to compute them from.
    """

    folder: Path
    metrics: Mapping[str, Metric]

    @cached_property
    def _names(self) -> tuple[set[str], set[str]]:
        import pyarrow.parquet as pq

        path = self.folder / RECORDS
        if not path.exists():
            return set(), set()
        try:
            there = set(pq.read_schema(path).names)
            asked = {n: f"test.{n}" for n, m in self.metrics.items() if not m.reference}
            columns = ["name", "status", *(c for c in asked.values() if c in there)]
            frame = pq.read_table(path, columns=columns).to_pandas()
        except (ValueError, KeyError, OSError) as error:
            raise RequestError(f"{path} is damaged: {error}") from None
        done = frame[frame["status"] == "ok"]
        lacking: set[str] = set()
        for name, column in asked.items():
            holes = set(done["name"] if column not in done else done.loc[done[column].isna(), "name"])
            lacking |= {n for n in holes if self._tasks[n] in self.metrics[name].tasks} if holes else set()
        finished = set(done["name"])
        return finished - lacking, set(frame["name"]) - finished

    @property
    def done(self) -> set[str]:
        """Names of the trials that are done and have every metric."""
        return self._names[0]

    @property
    def failed(self) -> set[str]:
        """Names of the trials that failed."""
        return self._names[1]

    @cached_property
    def _tasks(self) -> dict[str, str]:
        records = self._whole
        return {name: info.get("task", "") for name, info in records.infos.items()} if records else {}

    @cached_property
    def _whole(self) -> Records | None:
        return read_export(self.folder)

    @cached_property
    def records(self) -> Records | None:
        """The export without the trials that lack a metric; None when there is none."""
        whole = self._whole
        if whole is None:
            return None
        kept = self.done | self.failed
        frame = whole.policies[whole.policies["name"].isin(kept)]
        if len(frame) == len(whole.policies):
            return whole
        return Records(
            frame.reset_index(drop=True),
            {name: info for name, info in whole.infos.items() if name in kept},
            {name: run for name, run in whole.runs.items() if name in kept},
        )

    @cached_property
    def contents(self) -> dict[str, str]:
        """Data set → its content hash, as the export has it: it names trials where the data cannot be had."""
        records = self._whole
        if records is None:
            return {}
        first = records.policies.drop_duplicates("dataset")
        return {
            dataset: records.identities[name]["dataset"]
            for dataset, name in zip(first["dataset"], first["name"], strict=True)
            if name in records.identities
        }


def write_export(records: Records, folder: Path) -> dict[Path, bytes]:
    """The export of a suite's records as file contents: ``records.parquet`` and ``runs.parquet``.

    Nothing is written; see `bench_core.render.write_files`. The bytes depend on the version of pyarrow, so exports
    are compared by content.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = records.policies
    first = ~frame.duplicated("name")
    told: list[str | None] = [
        canonical_json(records.infos[name]) if is_first else None
        for name, is_first in zip(frame["name"], first, strict=True)
    ]
    table = frame.assign(info=pd.Series(told, index=frame.index, dtype="object"))
    runs = sorted(records.runs)
    machine = pa.table(
        {"name": runs, "run": pa.array([canonical_json(records.runs[name]) for name in runs], pa.string())}
    )
    contents: dict[Path, bytes] = {}
    for file, arrow in (
        (RECORDS, pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)),
        (RUNS, machine),
    ):
        sink = pa.BufferOutputStream()
        pq.write_table(arrow, sink, compression="zstd", compression_level=12)
        contents[folder / file] = bytes(sink.getvalue())
    return contents


def read_export(folder: Path) -> Records | None:
    """The records of a committed export; None when there is none.

    Raises:
        RequestError: a file is damaged.
    """
    import pyarrow.parquet as pq

    path = folder / RECORDS
    if not path.exists():
        return None
    try:
        whole = pq.read_table(path)
        told = zip(whole["name"].to_pylist(), whole["info"].to_pylist(), strict=True)
        infos = {name: json.loads(info) for name, info in told if info is not None}
        frame = whole.drop_columns(["info"]).to_pandas()
        runs: dict[str, dict[str, Any]] = {}
        beside = folder / RUNS
        if beside.exists():
            table = pq.read_table(beside).to_pydict()
            runs = {name: json.loads(run) for name, run in zip(table["name"], table["run"], strict=True)}
    except (ValueError, KeyError, OSError) as error:
        raise RequestError(f"{path} is damaged: {error}") from None
    return Records(sort_policies(frame), infos, runs)
