"""A suite's committed export, from which its pages are rendered and a run resumes.

``records/METHOD.parquet`` holds the records of one method, sorted and without anything that depends on when or where
they were computed; times and machines are in ``runs/METHOD.parquet``. Computing a method again changes only its two
files. Neither file contains test decisions.

Every record has a checksum (see `bench_records.checksums`) and the definition of its data set. If a record does not
match its checksum, or its name is not the hash of its trial, the export is refused.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_core import Metric, RequestError, canonical_json, sha256_text
from bench_records.checksums import checksum_of_run, checksums
from bench_records.columns import values
from bench_records.files import distinct
from bench_records.records import Records, sort_policies

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


__all__ = ["RECORDS", "RUNS", "damaged", "export_files", "read_export", "renamed", "write_export"]

RECORDS, RUNS = "records", "runs"
"""Folders of an export."""
_SUFFIX = ".parquet"
_LONGEST = 60


def export_files(folder: Path, part: str = RECORDS) -> list[Path]:
    """The files of an export, sorted; none if nothing is published.

    Args:
        folder: the suite's folder.
        part: `RECORDS` or `RUNS`.
    """
    return sorted((folder / part).glob(f"*{_SUFFIX}"))


def renamed(frame: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The table with metrics renamed (old name → new name); columns that had a new name are replaced."""
    columns = {
        f"{part}.{old}": f"{part}.{new}" for part in ("validation", "test") for old, new in names.items() if old != new
    }
    if not columns:
        return frame
    return sort_policies(frame.drop(columns=[*columns.values()], errors="ignore").rename(columns=columns))


def write_export(
    records: Records, folder: Path, metrics: Mapping[str, Metric] | None = None, *, compress: bool = True
) -> dict[Path, bytes]:
    """The export of a suite's records as file contents.

    Nothing is written; see `bench_records.files.write_files`. The bytes depend on the version of pyarrow, so
    exports are compared by content.

    Args:
        records: the records to export, see `bench_records.published_form`.
        folder: the suite's folder.
        metrics: the suite's metrics by name; columns have the name `Metric.key`, which includes a later version.
        compress: whether to make the files small, which takes most of the time. It does not change the content.
    """
    names = {name: metric.key for name, metric in (metrics or {}).items()}
    frame = renamed(records.policies, names)
    contents: dict[Path, bytes] = {}
    for method, file in _files(frame["method"].unique().tolist() if len(frame) else ()).items():
        mine = frame[frame["method"] == method].reset_index(drop=True)
        trials = mine["name"].unique().tolist()
        infos = {name: canonical_json(records.infos[name]) for name in trials}
        contents[folder / RECORDS / file] = _bytes(_records_table(mine, infos, records.definitions), compress)
        runs = [(name, canonical_json(records.runs[name])) for name in sorted(trials) if name in records.runs]
        contents[folder / RUNS / file] = _bytes(_runs_table(runs), compress)
    return contents


def _files(methods: Iterable[str]) -> dict[str, str]:
    """Method → name of its files: the letters and digits of the method's name, and a number if that is not unique."""
    stems = distinct(sorted(methods), _stem)
    return {method: f"{stem}{_SUFFIX}" for method, stem in stems.items()}


def _stem(method: str) -> str:
    return re.sub("[^a-z0-9]+", "-", method.lower()).strip("-")[:_LONGEST] or "method"


def _records_table(frame: pd.DataFrame, infos: Mapping[str, str], definitions: Mapping[str, str]) -> pa.Table:
    import pandas as pd
    import pyarrow as pa

    beside: dict[str, list[str | None]] = {column: [None] * len(frame) for column in _BESIDE}
    written: set[str] = set()
    for first, slot, name, checksum in checksums(frame, infos, definitions):
        beside["checksum"][first] = checksum
        beside["definition"][first] = definitions.get(slot[0])
        if name not in written:
            written.add(name)
            beside["info"][first] = infos[name]
    unused = [column for column in frame.columns if "." in column and frame[column].isna().all()]
    table = frame.drop(columns=unused).assign(
        **{column: pd.Series(texts, index=frame.index, dtype="str") for column, texts in beside.items()}
    )
    return pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)


def _runs_table(runs: list[tuple[str, str]]) -> pa.Table:
    import pyarrow as pa

    return pa.table(
        {
            "name": pa.array([name for name, _ in runs], pa.string()),
            "run": pa.array([run for _, run in runs], pa.string()),
            "checksum": pa.array([checksum_of_run(*run) for run in runs], pa.string()),
        }
    )


def _bytes(table: pa.Table, compress: bool) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    level = {"compression": "zstd", "compression_level": 19} if compress else {"compression": "none"}
    # Policies' numbers rarely repeat, so dictionary encoding would make these columns larger.
    texts = [field.name for field in table.schema if not pa.types.is_floating(field.type)]
    pq.write_table(table, sink, use_dictionary=texts, write_statistics=False, **level)
    return bytes(sink.getvalue())


def read_export(folder: Path) -> Records | None:
    """The records of a committed export; None if there is no export.

    Raises:
        RequestError: a file or a record in it is damaged, or was written before exports had checksums.
    """
    import pandas as pd

    parts = {path: _read_records(path) for path in export_files(folder)}
    if not parts:
        return None
    owners: dict[str, Path] = {}
    for path, part in parts.items():
        for method in part.policies["method"].unique().tolist():
            if (other := owners.setdefault(method, path)) != path:
                raise damaged(path, f"{other.name} also has records of {method}")
    runs: dict[str, dict[str, Any]] = {}
    for path in export_files(folder, RUNS):
        try:
            runs |= _runs(path)
        except Exception as error:  # libraries raise any exception for malformed files
            raise damaged(path, error) from None
    frame = pd.concat([part.policies for part in parts.values()], ignore_index=True)
    infos = {name: info for part in parts.values() for name, info in part.infos.items()}
    definitions = {dataset: text for part in parts.values() for dataset, text in part.definitions.items()}
    return Records(sort_policies(frame), infos, runs, definitions)


_BESIDE = ("info", "definition", "checksum")
"""Columns added to those of policies, filled only in a record's first row: information of the trial (once per trial),
definition of the data set, and checksum of the record."""
_SHOWN = 5


def _read_records(path: Path) -> Records:
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
    except Exception as error:  # libraries raise any exception for malformed files
        raise damaged(path, error) from None
    if wrong:
        raise damaged(path, *wrong)
    return Records(frame.drop(columns=list(_BESIDE)), infos, {}, definitions)


def _frame(path: Path) -> pd.DataFrame:
    import pyarrow.parquet as pq

    frame: pd.DataFrame = pq.ParquetFile(path).read(use_threads=False).to_pandas(use_threads=False)
    return frame


def _wrong(
    frame: pd.DataFrame, texts: Mapping[str, str], definitions: Mapping[str, str], infos: Mapping[str, Any]
) -> list[str]:
    """A line for every record that was changed after it was written."""
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
        f"{path} is damaged: {'; '.join(lines)}. Restore the committed file, or remove it and run the suite again"
    )
