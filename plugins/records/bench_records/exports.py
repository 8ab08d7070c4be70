"""A suite's committed export: what its pages are rendered from, and what a run resumes from.

``records.parquet`` holds everything a page is rendered from, sorted and without anything that depends on when or
where it was computed; times and machines are in ``runs.parquet`` beside it. Test decisions are in neither.

Every record carries a checksum (see `bench_records.checksums`) and what its data set was defined as. An
export in which a record does not match its checksum, or its name is not the hash of its trial, is not read at all.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_core import Metric, RequestError, canonical_json, sha256_text
from bench_records.checksums import checksum_of_run, checksums
from bench_records.columns import values
from bench_records.records import Records, collect, is_over_limit, sort_policies

if TYPE_CHECKING:
    import pandas as pd

    from bench_core import Plan, SuiteSession

__all__ = ["RECORDS", "RUNS", "Committed", "published", "read_export", "records_of", "state_of", "write_export"]

RECORDS, RUNS = "records.parquet", "runs.parquet"

_BATCH = 4096
"""Rows that are read at once where only some are asked for."""


def state_of(folder: Path) -> tuple[int, ...]:
    """What changes when an export is written: inode, size and time of change of its records; empty for none."""
    try:
        status = (folder / RECORDS).stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True)
class Committed:
    """The trials of a committed export, read no further than planning needs.

    Attributes:
        folder: where the export lies; it need not be there.
        metrics: metrics that a done trial must have, since the export has no decisions to compute them from.
        state: which file it was when this was made, see `state_of`.
    """

    folder: Path
    metrics: Mapping[str, Metric]
    state: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", state_of(self.folder))

    @cached_property
    def _names(self) -> tuple[set[str], set[str], set[str]]:
        """Names of the trials that are done, that failed, and that are not applicable."""
        import pyarrow.parquet as pq

        path = self.folder / RECORDS
        if not os.path.lexists(path):
            return set(), set(), set()
        try:
            file = pq.ParquetFile(path)
            there = set(file.schema_arrow.names)
            asked = {n: f"test.{m.key}" for n, m in self.metrics.items() if not m.reference}
            columns = ["name", "status", "dataset", *(c for c in asked.values() if c in there)]
            frame = file.read(columns, use_threads=False).to_pandas(use_threads=False)
        except Exception as error:  # whatever a library makes of bytes that are not its own
            raise _damaged(path, error) from None
        done = frame[frame["status"] == "ok"]
        trials = done[["name", "dataset"]]
        holes = {name: (trials[done[c].isna()] if c in done else trials).drop_duplicates() for name, c in asked.items()}
        with_holes: set[str] = set().union(*(rows["dataset"] for rows in holes.values()))
        tasks = self._tasks(trials[trials["dataset"].isin(with_holes)])
        lacking: set[str] = set()
        for name, rows in holes.items():
            lacking |= set(rows.loc[rows["dataset"].map(tasks).isin(self.metrics[name].tasks), "name"])
        finished, failed, inapplicable = (
            set(frame.loc[frame["status"] == status, "name"]) for status in ("ok", "failed", "not applicable")
        )
        return finished - lacking, failed - finished, inapplicable

    def _tasks(self, trials: pd.DataFrame) -> dict[str, str]:
        """Data set → its task, by what is said of one of its trials."""
        first = trials.drop_duplicates("dataset")
        datasets = dict(zip(first["name"], first["dataset"], strict=True))
        return {datasets[name]: info.get("task", "") for name, info in self._infos(datasets.keys())}

    def _infos(self, names: Set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """What the export says of some trials, one after the other: all of it takes forty times the file's size.

        Raises:
            RequestError: the export is damaged, or lacks one of them.
        """
        import pyarrow.parquet as pq

        if not names:
            return
        path, left = self.folder / RECORDS, set(names)
        try:
            for batch in pq.ParquetFile(path).iter_batches(_BATCH, columns=["name", "info"], use_threads=False):
                filled = batch.filter(batch.column("info").is_valid())
                for name, info in zip(filled.column("name").to_pylist(), filled.column("info"), strict=True):
                    if name in left:
                        left.discard(name)
                        yield name, json.loads(info.as_py())
                if not left:
                    return
            raise ValueError(f"nothing is said of trial {min(left)[:16]}…")
        except Exception as error:  # whatever a library makes of bytes that are not its own
            raise _damaged(path, error) from None

    @cached_property
    def _without_result(self) -> dict[str, dict[str, Any]]:
        """Trial that failed or is not applicable → what the export says of it."""
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
        """Names of those of the failed trials that took longer than the time limit."""
        return {name for name in self.failed if is_over_limit(self._without_result[name])}

    @cached_property
    def inapplicable(self) -> dict[str, str]:
        """Names of the trials that are not applicable → why."""
        return {name: str(self._without_result[name]["error"]["message"]) for name in self._names[2]}

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was read."""
        return self.state == state_of(self.folder)

    def provenance(self, name: str) -> Mapping[str, Any]:
        """Where and by which code a trial was computed; empty when that is not known."""
        run = self.records.runs.get(name) if self.records is not None else None
        return run["provenance"] if run else {}

    @cached_property
    def whole(self) -> Records | None:
        """The export, with the trials that lack a metric; None when there is none."""
        records = read_export(self.folder)
        if records is None:
            return None
        names = {metric.key: name for name, metric in self.metrics.items()}
        return replace(records, policies=_renamed(records.policies, names))

    @cached_property
    def records(self) -> Records | None:
        """The export without the trials that lack a metric; None when there is none."""
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
        """Definition of a data set → its content hash: it names trials where the data cannot be had."""
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
    """The suite's published export as it is now; it need not be there."""
    known = session.known
    return known if isinstance(known, Committed) else Committed(session.folder, session.suite.needed_metrics())


def records_of(session: SuiteSession, plan: Plan | None = None) -> Records:
    """The suite's records: the store's, and from the published export what the store does not have."""
    metrics = session.suite.needed_metrics()
    return collect(plan or session.plan(), session.store, metrics, published(session).records)


def _renamed(frame: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The table with metrics' columns called otherwise, in the place of those that were called so."""
    columns = {
        f"{part}.{old}": f"{part}.{new}" for part in ("validation", "test") for old, new in names.items() if old != new
    }
    if not columns:
        return frame
    return sort_policies(frame.drop(columns=[*columns.values()], errors="ignore").rename(columns=columns))


def write_export(
    records: Records, folder: Path, metrics: Mapping[str, Metric] | None = None, *, compress: bool = True
) -> dict[Path, bytes]:
    """The export of a suite's records as file contents: ``records.parquet`` and ``runs.parquet``.

    Nothing is written; see `bench_records.files.write_files`. The bytes depend on the version of pyarrow, so
    exports are compared by content.

    Args:
        records: what is exported.
        folder: where the files belong.
        metrics: the suite's; values of a later version than the first are stored under its `Metric.key`.
        compress: make the files small, which takes most of the time; the content is the same without.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = {name: metric.key for name, metric in (metrics or {}).items()}
    frame = _renamed(records.policies, names)
    infos = {name: canonical_json(info) for name, info in records.infos.items()}
    beside: dict[str, list[str | None]] = {column: [None] * len(frame) for column in _BESIDE}
    written: set[str] = set()
    for first, slot, name, checksum in checksums(frame, infos, records.definitions):
        beside["checksum"][first] = checksum
        beside["definition"][first] = records.definitions.get(slot[0])
        if name not in written:
            written.add(name)
            beside["info"][first] = infos[name]
    table = frame.assign(
        **{column: pd.Series(values, index=frame.index, dtype="object") for column, values in beside.items()}
    )
    runs = [(name, canonical_json(records.runs[name])) for name in sorted(records.runs)]
    machine = pa.table(
        {
            "name": pa.array([name for name, _ in runs], pa.string()),
            "run": pa.array([run for _, run in runs], pa.string()),
            "checksum": pa.array([checksum_of_run(*run) for run in runs], pa.string()),
        }
    )
    contents: dict[Path, bytes] = {}
    for file, arrow in (
        (RECORDS, pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)),
        (RUNS, machine),
    ):
        sink = pa.BufferOutputStream()
        level = {"compression": "zstd", "compression_level": 12} if compress else {"compression": "none"}
        pq.write_table(arrow, sink, **level)
        contents[folder / file] = bytes(sink.getvalue())
    return contents


def read_export(folder: Path) -> Records | None:
    """The records of a committed export; None when there is none.

    Raises:
        RequestError: a file or a record in it is damaged, or was written before there were checksums.
    """
    path, runs_path = folder / RECORDS, folder / RUNS
    if not os.path.lexists(path):
        return None
    try:
        frame = _frame(path)
        if "checksum" not in frame:
            raise ValueError("it has no checksums: it was written by an earlier version")
        frame = sort_policies(frame)
        beside = {column: values(frame[column]) for column in ("name", "info", "dataset", "definition")}
        texts = {n: i for n, i in zip(beside["name"], beside["info"], strict=True) if isinstance(i, str)}
        pairs = zip(beside["dataset"], beside["definition"], strict=True)
        definitions = {dataset: text for dataset, text in pairs if isinstance(text, str)}
        infos = {name: json.loads(info) for name, info in texts.items()}
        wrong = _wrong(frame, texts, definitions, infos)
    except Exception as error:  # whatever a library makes of bytes that are not its own
        raise _damaged(path, error) from None
    if wrong:
        raise _damaged(path, *wrong)
    try:
        runs = _runs(runs_path) if os.path.lexists(runs_path) else {}
    except Exception as error:  # whatever a library makes of bytes that are not its own
        raise _damaged(runs_path, error) from None
    return Records(frame.drop(columns=list(_BESIDE)), infos, runs, definitions)


_BESIDE = ("info", "definition", "checksum")
"""Columns beside the policies' own, each filled in one row of a record: the trial's, the data set's, the record's."""
_SHOWN = 5


def _frame(path: Path) -> pd.DataFrame:
    import pyarrow.parquet as pq

    frame: pd.DataFrame = pq.ParquetFile(path).read(use_threads=False).to_pandas(use_threads=False)
    return frame


def _wrong(
    frame: pd.DataFrame, texts: Mapping[str, str], definitions: Mapping[str, str], infos: Mapping[str, Any]
) -> list[str]:
    """A line for every record that is not what was written."""
    recorded, defined = (
        [text if isinstance(text, str) else None for text in values(frame[column])]
        for column in ("checksum", "definition")
    )
    problems = []
    places = 0
    for first, slot, name, checksum in checksums(frame, defaultdict(str, texts), definitions):
        dataset, _, method, seed, _ = slot
        where = f"{dataset}, {method}, seed {seed}"
        places += 1
        if (checksum, definitions.get(dataset)) != (recorded[first], defined[first]) or name not in infos:
            problems.append(f"{where}: the record does not match its checksum")
        elif sha256_text(infos[name]["trial"]) != name:
            problems.append(f"{where}: the record's name is not the hash of its trial")
    if not problems and len(recorded) - recorded.count(None) != places:
        problems.append("a record is there twice")
    return problems


def _runs(path: Path) -> dict[str, dict[str, Any]]:
    frame = _frame(path)
    runs = {}
    for name, run, checksum in zip(*(values(frame[column]) for column in ("name", "run", "checksum")), strict=True):
        if checksum_of_run(name, run) != checksum:
            raise ValueError(f"the run of trial {str(name)[:16]}… does not match its checksum")
        runs[name] = json.loads(run)
    return runs


def _damaged(path: Path, *problems: object) -> RequestError:
    lines = [" ".join(str(problem).split())[:300] for problem in problems]
    if len(lines) > _SHOWN:
        lines[_SHOWN:] = [f"and {len(lines) - _SHOWN} more"]
    return RequestError(
        f"{path} is damaged: {'; '.join(lines)}. "
        "Bring back the file that was committed, or remove it and run the suite again"
    )
