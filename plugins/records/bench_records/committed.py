"""A suite's published export, as a run uses it: the trials it holds, and records of trials that the store lacks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_core import Metric
from bench_records.exports import damaged, export_files, read_export, renamed
from bench_records.records import Records, collect, is_over_limit

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Plan, SuiteSession

__all__ = ["Committed", "published", "records_of", "state_of"]

_BATCH = 4096
"""Number of rows read at a time when only some are needed."""


def state_of(folder: Path) -> tuple[int, ...]:
    """Inodes, sizes and modification times of an export's files, which change when it is written; empty if none."""
    states: list[int] = []
    for path in export_files(folder):
        with suppress(OSError):
            status = path.stat()
            states += [status.st_ino, status.st_size, status.st_mtime_ns]
    return tuple(states)


@dataclass(frozen=True)
class Committed:
    """The trials of a committed export. It reads only as much of the files as a caller needs.

    Attributes:
        folder: the suite's folder; it need not exist.
        metrics: metrics that a done trial must have, since the export has no decisions to compute them from.
        state: the state of the files when this object was made, see `state_of`.
    """

    folder: Path
    metrics: Mapping[str, Metric]
    state: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", state_of(self.folder))

    @cached_property
    def _names(self) -> tuple[set[str], set[str], set[str]]:
        """Names of the trials that are done, that failed, and that are not applicable."""
        import pandas as pd
        import pyarrow.parquet as pq

        # Caps are part of a trial's name: its record has their metrics, undefined at the caps of other data sets.
        asked = {
            n: f"test.{m.key}"
            for n, m in self.metrics.items()
            if not m.reference and not n.startswith("accuracy-at-cap@")
        }
        frames: list[pd.DataFrame] = []
        for path in export_files(self.folder):
            try:
                file = pq.ParquetFile(path)
                there = set(file.schema_arrow.names)
                columns = ["name", "status", "dataset", *(c for c in asked.values() if c in there)]
                frames.append(file.read(columns, use_threads=False).to_pandas(use_threads=False))
            except Exception as error:  # libraries raise any exception for malformed files
                raise damaged(path, error) from None
        if not frames:
            return set(), set(), set()
        frame = pd.concat(frames, ignore_index=True)
        done = frame[frame["status"] == "ok"]
        trials = done[["name", "dataset"]]
        holes = {name: (trials[done[c].isna()] if c in done else trials).drop_duplicates() for name, c in asked.items()}
        with_holes: set[str] = set().union(*(rows["dataset"] for rows in holes.values()))
        tasks = self._tasks(trials[trials["dataset"].isin(with_holes)])
        lacking: set[str] = set()
        for name, rows in holes.items():
            lacking |= set(rows.loc[rows["dataset"].map(tasks).isin(self.metrics[name].tasks), "name"])
        finished, failed, inapplicable = (
            set(frame.loc[frame["status"] == status, "name"].unique()) for status in ("ok", "failed", "not applicable")
        )
        return finished - lacking, failed - finished, inapplicable

    def _tasks(self, trials: pd.DataFrame) -> dict[str, str]:
        """Data set → its task, from the information of one of its trials."""
        first = trials.drop_duplicates("dataset")
        datasets = dict(zip(first["name"], first["dataset"], strict=True))
        return {datasets[name]: info.get("task", "") for name, info in self._infos(datasets.keys())}

    def _infos(self, names: Set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield names and information of trials, read in batches: all at once would take forty times the file's size.

        Raises:
            RequestError: the export is damaged, or lacks one of the trials.
        """
        import pyarrow.parquet as pq

        if not names:
            return
        left = set(names)
        for path in export_files(self.folder):
            try:
                for batch in pq.ParquetFile(path).iter_batches(_BATCH, columns=["name", "info"], use_threads=False):
                    filled = batch.filter(batch.column("info").is_valid())
                    for name, info in zip(filled.column("name").to_pylist(), filled.column("info"), strict=True):
                        if name in left:
                            left.discard(name)
                            yield name, json.loads(info.as_py())
                    if not left:
                        return
            except Exception as error:  # libraries raise any exception for malformed files
                raise damaged(path, error) from None
        raise damaged(self.folder, f"the information of trial {min(left)[:16]}… is missing")

    @cached_property
    def _without_result(self) -> dict[str, dict[str, Any]]:
        """Name of a trial that failed or is not applicable → its information."""
        return dict(self._infos(self.failed | self._names[2]))

    @property
    def done(self) -> set[str]:
        """Names of the trials that are done and have every metric."""
        return self._names[0]

    @property
    def failed(self) -> set[str]:
        """Names of the trials that failed."""
        return self._names[1]

    @cached_property
    def over_limit(self) -> set[str]:
        """Names of the failed trials that exceeded the time limit."""
        return {name for name in self.failed if is_over_limit(self._without_result[name])}

    @cached_property
    def inapplicable(self) -> dict[str, str]:
        """Names of the trials that are not applicable → why."""
        return {name: str(self._without_result[name]["error"]["message"]) for name in self._names[2]}

    @property
    def is_current(self) -> bool:
        """Whether the files have not changed since this object was made."""
        return self.state == state_of(self.folder)

    def provenance(self, name: str) -> Mapping[str, Any]:
        """Where and by which code a trial was computed; empty if unknown."""
        run = self.records.runs.get(name) if self.records is not None else None
        return run["provenance"] if run else {}

    @cached_property
    def whole(self) -> Records | None:
        """The export, including trials that lack a metric; None if there is no export."""
        records = read_export(self.folder)
        if records is None:
            return None
        names = {metric.key: name for name, metric in self.metrics.items()}
        return replace(records, policies=renamed(records.policies, names))

    @cached_property
    def records(self) -> Records | None:
        """The export without trials that lack a metric; None if there is no export."""
        whole = self.whole
        if whole is None:
            return None
        names = self.done | self.failed | set(self.inapplicable)
        frame = whole.policies[whole.policies["name"].isin(names)]
        if len(frame) == len(whole.policies):
            return whole
        return Records(
            frame.reset_index(drop=True),
            {name: info for name, info in whole.infos.items() if name in names},
            {name: run for name, run in whole.runs.items() if name in names},
            whole.definitions,
        )

    @cached_property
    def contents(self) -> dict[str, str]:
        """Definition of a data set → its content hash, from which trials are named if the data is unavailable."""
        records = self.whole
        if records is None:
            return {}
        first = records.policies.drop_duplicates("dataset")
        return {
            records.definitions[dataset]: records.identities[name]["dataset"]
            for dataset, name in zip(first["dataset"], first["name"], strict=True)
            if dataset in records.definitions
        }


def published(session: SuiteSession) -> Committed:
    """The suite's published export as it is now; it need not exist."""
    known: Any = session.known  # may come from another plugin
    return known if isinstance(known, Committed) else Committed(session.folder, session.suite.needed_metrics())


def records_of(session: SuiteSession, plan: Plan | None = None) -> Records:
    """The suite's records: those of the store, and those that only the published export has."""
    metrics = session.suite.needed_metrics()
    return collect(plan or session.plan(), session.store, metrics, published(session).records)
