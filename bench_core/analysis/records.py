"""Records as one table: a row per policy, from the store or from a suite's committed export.

The export, ``records.parquet``, holds everything a page is rendered from, sorted and without anything that depends
on when or where it was computed; times and machines are in ``runs.parquet`` beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_core.canonical import canonical_json
from bench_core.errors import RequestError
from bench_core.metrics import Metric, evaluate
from bench_core.plan import Plan, Planned
from bench_core.store import Store

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KEY", "Records", "collect", "read_export", "write_export"]

KEY = ["dataset", "costs", "method", "seed"]
"""What tells one row of a table's raw material from another: the trials of a grid share it."""

_TRIAL_FIELDS = (
    "trial",
    "status",
    "task",
    "history",
    "diagnostics",
    "features",
    "costs",
    "rows",
    "usage",
    "error",
)


@dataclass
class Records:
    """The records of a suite.

    Attributes:
        policies: pandas table, a row per policy of every trial: ``dataset costs method seed point name status
            policy label details budget`` and ``validation.<metric>``, ``test.<metric>``. A failed trial has one
            row with policy −1.
        infos: trial name → the rest of its record (task, history, diagnostics, costs, error, …).
        runs: trial name → its provenance and timings.
    """

    policies: pd.DataFrame
    infos: dict[str, dict[str, Any]]
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def identities(self) -> dict[str, dict[str, Any]]:
        """Trial name → what determined it, parsed."""
        return {name: json.loads(info["trial"]) for name, info in self.infos.items() if info["trial"]}

    @cached_property
    def trials(self) -> dict[tuple[str, str, str], list[str]]:
        """(data set, cost scheme, method) → names of its done trials, by seed and grid point."""
        if self.policies.empty:
            return {}
        done = self.policies[self.policies["status"] == "ok"].drop_duplicates(["name", "method"])
        found: dict[tuple[str, str, str], list[str]] = {}
        for dataset, costs, method, name in done[["dataset", "costs", "method", "name"]].itertuples(
            index=False
        ):
            found.setdefault((dataset, costs, method), []).append(name)
        return found


def collect(plan: Plan, store: Store, metrics: Mapping[str, Metric]) -> Records:
    """The stored records of a plan; metrics that a record lacks are computed from its stored decisions.

    Trials that were not run are not in it.
    """
    pieces: list[tuple[Planned, dict[str, Any]]] = []
    for planned in plan.planned:
        record = store.read(planned.name)
        if record is None:
            continue
        if record["status"] == "ok" and _complete(record, metrics, store, planned):
            store.rewrite(record)
        pieces.append((planned, record))
    return _tabulate(pieces)


def _complete(record: dict[str, Any], metrics: Mapping[str, Metric], store: Store, planned: Planned) -> bool:
    """Add the metrics a record lacks; whether there were any."""
    present = record["policies"]["test"]
    lacking = {
        name: metric
        for name, metric in metrics.items()
        if name not in present and record["task"] in metric.tasks and not metric.reference
    }
    if not lacking:
        return False
    threshold = planned.trial.threshold if planned.trial.reject else None
    for judged in store.outcomes(record["name"], record["task"], threshold):
        for name, value in evaluate(judged.outcome, lacking).items():
            record["policies"][judged.part].setdefault(name, []).append(value)
    return True


def _tabulate(pieces: Iterable[tuple[Planned, dict[str, Any]]]) -> Records:
    import pandas as pd

    columns: dict[str, list[Any]] = {}
    infos: dict[str, dict[str, Any]] = {}
    runs: dict[str, dict[str, Any]] = {}
    length = 0
    for planned, record in pieces:
        trial, name = planned.trial, planned.name
        table = record.get("policies") or {"label": [""], "details": [{}], "budget": [None]}
        count = len(table["label"])
        ok = record["status"] == "ok"
        piece: dict[str, list[Any]] = {
            "dataset": [trial.dataset] * count,
            "costs": [trial.costs] * count,
            "method": [trial.method] * count,
            "seed": [trial.seed] * count,
            "point": [trial.point] * count,
            "name": [name] * count,
            "status": [record["status"]] * count,
            "policy": list(range(count)) if ok else [-1],
            "label": table["label"],
            "details": [canonical_json(details) for details in table["details"]],
            "budget": table["budget"],
        }
        for part in ("validation", "test"):
            for metric, values in table.get(part, {}).items():
                piece[f"{part}.{metric}"] = values
        for key, values in piece.items():
            column = columns.setdefault(key, [])
            if len(column) < length:
                column.extend([None] * (length - len(column)))
            column.extend(values)
        length += count
        if name not in infos:
            infos[name] = {key: record[key] for key in _TRIAL_FIELDS if key in record}
            runs[name] = {"provenance": record["provenance"], "timings": record["timings"]}
    for column in columns.values():
        column.extend([None] * (length - len(column)))
    frame = pd.DataFrame(columns)
    for key in frame.columns:
        if "." in key or key == "budget":
            frame[key] = pd.to_numeric(frame[key])
    return Records(_sorted(frame), infos, runs)


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    if frame.empty:
        return frame
    metrics = sorted(column for column in frame.columns if "." in column)
    first = [column for column in frame.columns if "." not in column]
    return frame[first + metrics].sort_values([*KEY, "point", "policy"], kind="stable", ignore_index=True)


def write_export(records: Records, folder: Path) -> dict[Path, bytes]:
    """The export of a suite's records as file contents: ``records.parquet`` and ``runs.parquet``.

    Nothing is written; see `bench_core.render.write_files`.
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
        ("records.parquet", pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)),
        ("runs.parquet", machine),
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

    path = folder / "records.parquet"
    if not path.exists():
        return None
    try:
        frame = pq.read_table(path).to_pandas()
        infos = {
            name: json.loads(info)
            for name, info in zip(frame["name"], frame["info"], strict=True)
            if isinstance(info, str)
        }
        runs: dict[str, dict[str, Any]] = {}
        beside = folder / "runs.parquet"
        if beside.exists():
            table = pq.read_table(beside).to_pydict()
            runs = {name: json.loads(run) for name, run in zip(table["name"], table["run"], strict=True)}
    except (ValueError, KeyError, OSError) as error:
        raise RequestError(f"{path} is damaged: {error}") from None
    return Records(frame.drop(columns="info"), infos, runs)
