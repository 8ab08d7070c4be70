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
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_core import Metric, RequestError, canonical_json, sha256_text
from bench_records.checksums import checksum_of_run, checksums
from bench_records.columns import values
from bench_records.records import Records, sort_policies

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["RECORDS", "RUNS", "damaged", "read_export", "renamed", "write_export"]

RECORDS, RUNS = "records.parquet", "runs.parquet"


def renamed(frame: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
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
    frame = renamed(records.policies, names)
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
        raise damaged(path, error) from None
    if wrong:
        raise damaged(path, *wrong)
    try:
        runs = _runs(runs_path) if os.path.lexists(runs_path) else {}
    except Exception as error:  # whatever a library makes of bytes that are not its own
        raise damaged(runs_path, error) from None
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


def damaged(path: Path, *problems: object) -> RequestError:
    lines = [" ".join(str(problem).split())[:300] for problem in problems]
    if len(lines) > _SHOWN:
        lines[_SHOWN:] = [f"and {len(lines) - _SHOWN} more"]
    return RequestError(
        f"{path} is damaged: {'; '.join(lines)}. "
        "Bring back the file that was committed, or remove it and run the suite again"
    )
