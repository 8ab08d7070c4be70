"""The store: a directory of records, one per trial, safe to kill, share, merge and commit.

``<store>/<first two hex>/<sha256>.json`` is a record, ``<sha256>.parquet`` beside it the decisions it was computed
from, ``<sha256>.failed.json`` the record of a failure. A file is written under a temporary name in
``<store>/tmp``, flushed to the disk, and renamed; the record last, so a record that is there is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.canonical import canonical_json
from bench_core.decisions import Decisions, Outcome
from bench_core.errors import RequestError
from bench_core.trial import Judged, TrialResult

__all__ = ["Store"]


class Store:
    """A directory of records.

    Args:
        path: the directory; made when something is first written.

    Raises:
        RequestError: the path is a file.
    """

    def __init__(self, path: Path) -> None:
        if path.exists() and not path.is_dir():
            raise RequestError(f"the store {path} is not a directory")
        self.path = path
        self._root = str(path)
        self._made: set[str] = set()
        self._count = 0

    def names(self) -> tuple[set[str], set[str]]:
        """Names of the trials that are done, and of those that failed and are not done."""
        done: set[str] = set()
        failed: set[str] = set()
        if not self.path.is_dir():
            return done, failed
        with os.scandir(self.path) as shelves:
            folders = [shelf.path for shelf in shelves if len(shelf.name) == 2]
        for folder in folders:
            for file in os.listdir(folder):
                if file.endswith(".failed.json"):
                    failed.add(file[:-12])
                elif file.endswith(".json"):
                    done.add(file[:-5])
        return done, failed - done

    def read(self, name: str) -> dict[str, Any] | None:
        """The record of a trial, done or failed; None when there is none."""
        for suffix in (".json", ".failed.json"):
            try:
                record: dict[str, Any] = json.loads(Path(self._place(name, suffix)).read_bytes())
            except FileNotFoundError:
                continue
            except ValueError:
                raise RequestError(
                    f"{self._place(name, suffix)} is damaged; delete it and run again"
                ) from None
            return record
        return None

    def write(self, result: TrialResult) -> None:
        """Keep a trial's record and decisions."""
        name = result.record["name"]
        if result.record["status"] == "failed":
            self.write_failure(result.record)
            return
        if result.outcomes is not None and result.rows is not None:
            self._write(self._place(name, ".parquet"), _pack(result.outcomes, result.rows))
        self._write(self._place(name, ".json"), canonical_json(result.record).encode())
        with suppress(FileNotFoundError):
            os.unlink(self._place(name, ".failed.json"))

    def write_failure(self, record: Mapping[str, Any]) -> None:
        """Keep the record of a failed trial."""
        self._write(self._place(record["name"], ".failed.json"), canonical_json(record).encode())

    def rewrite(self, record: Mapping[str, Any]) -> None:
        """Replace a record by one that holds more (metrics that were added later)."""
        self._write(self._place(record["name"], ".json"), canonical_json(record).encode())

    def outcomes(self, name: str, task: str, threshold: float | None) -> Iterator[Judged]:
        """The outcomes of a done trial, from its stored decisions.

        Raises:
            RequestError: the decisions are not there (a store merged without its Parquet files).
        """
        path = Path(self._place(name, ".parquet"))
        if not path.exists():
            raise RequestError(f"{path} is missing: delete the record beside it and run again")
        yield from _unpack(path, task, threshold)

    def _place(self, name: str, suffix: str) -> str:
        return f"{self._root}/{name[:2]}/{name}{suffix}"

    def _write(self, path: str, data: bytes | memoryview) -> None:
        for folder in (os.path.dirname(path), f"{self._root}/tmp"):
            if folder not in self._made:
                os.makedirs(folder, exist_ok=True)
                self._made.add(folder)
        self._count += 1
        temporary = f"{self._root}/tmp/{os.getpid()}-{self._count}"
        with open(temporary, "wb", buffering=0) as file:
            file.write(data)
            os.fsync(file.fileno())
        os.replace(temporary, path)

    def sweep(self) -> None:
        """Remove temporary files whose process is gone."""
        import psutil

        folder = self.path / "tmp"
        if not folder.is_dir():
            return
        for file in folder.iterdir():
            pid = file.name.partition("-")[0]
            if not pid.isdigit() or not psutil.pid_exists(int(pid)):
                file.unlink(missing_ok=True)


_FEW_ROWS = 500
_NUMBERS = ("bill", "full_bill", "evaluation_bill")
_UNSAID: dict[str, Any] = {"score": np.nan, "stage": np.int64(0), "evaluations": np.nan}
"""What stands in a column for a policy that does not fill it, where another of its family does."""


def _pack(outcomes: list[Judged], rows: Mapping[str, NDArray[np.int64]]) -> memoryview:
    """Decisions and bills of every policy as Parquet bytes, one row per (policy, part, data row)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {}
    features = outcomes[0].outcome.decisions.acquired.shape[1]
    width = (features + 7) // 8
    said = {
        name: any(getattr(judged.outcome.decisions, name) is not None for judged in outcomes)
        for name in _UNSAID
    }
    for judged in outcomes:
        outcome, decisions = judged.outcome, judged.outcome.decisions
        count = len(outcome.y)
        told = {name: getattr(decisions, name) for name in _UNSAID}
        for name, missing in _UNSAID.items():
            if said[name] and told[name] is None:
                told[name] = np.full(count, missing)
        packed = np.packbits(decisions.acquired, axis=1, bitorder="little")
        piece: dict[str, Any] = {
            "policy": np.full(count, judged.policy, dtype=np.int32),
            "test": np.full(count, judged.part == "test"),
            "row": rows[judged.part],
            "y": outcome.y,
            "acquired": np.ascontiguousarray(packed).reshape(-1),
            **{name: getattr(outcome, name) for name in _NUMBERS},
            "query": outcome.query,
            **told,
            "reference": None if outcome.reference is None else _labels(outcome.reference),
        }
        if decisions.probabilities is not None:
            for k in range(decisions.probabilities.shape[1]):
                piece[f"p{k}"] = decisions.probabilities[:, k]
        for key, value in piece.items():
            if value is not None:
                columns.setdefault(key, []).append(value)
    joined = {key: np.concatenate(pieces) for key, pieces in columns.items()}
    arrays = {
        key: pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(width), len(value) // width, [None, pa.py_buffer(np.ascontiguousarray(value))]
        )
        if key == "acquired"
        else pa.array(value)
        for key, value in joined.items()
    }
    budgets = [judged.outcome.budget for judged in outcomes if judged.part == "test"]
    table = pa.table(arrays).replace_schema_metadata(
        {"features": str(features), "budgets": json.dumps(budgets)}
    )
    sink = pa.BufferOutputStream()
    if table.num_rows < _FEW_ROWS:  # a quarter of the time, and no larger
        pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
    else:
        pq.write_table(table, sink, compression="zstd")
    return memoryview(sink.getvalue())


def _labels(decisions: Decisions) -> NDArray[np.int64] | None:
    return None if decisions.probabilities is None else decisions.probabilities.argmax(axis=1)


def _told(column: NDArray[Any] | None, missing: Any) -> NDArray[Any] | None:
    """A policy's column; None when it is filled with what stands for nothing."""
    if column is None or np.array_equal(column[:1], [missing], equal_nan=True):
        return None
    return column


def _unpack(path: Path, task: str, threshold: float | None) -> Iterator[Judged]:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    features = int(table.schema.metadata[b"features"])
    budgets = json.loads(table.schema.metadata[b"budgets"])
    data = {name: table.column(name) for name in table.column_names}
    packed = np.frombuffer(b"".join(data.pop("acquired").to_pylist()), dtype=np.uint8)
    packed = packed.reshape(table.num_rows, -1)
    arrays = {name: column.to_numpy() for name, column in data.items()}
    probabilities = sorted(
        (name for name in arrays if name[0] == "p" and name[1:].isdigit()), key=lambda n: int(n[1:])
    )
    order = np.lexsort((arrays["test"], arrays["policy"]))
    keys = arrays["policy"][order].astype(np.int64) * 2 + arrays["test"][order]
    for rows in np.split(order, np.flatnonzero(np.diff(keys)) + 1):
        picked = {name: column[rows] for name, column in arrays.items()}
        decisions = Decisions(
            acquired=np.unpackbits(packed[rows], axis=1, count=features, bitorder="little").astype(bool),
            probabilities=np.stack([picked[name] for name in probabilities], axis=1)
            if probabilities
            else None,
            **{name: _told(picked.get(name), missing) for name, missing in _UNSAID.items()},
        )
        reference = None
        if "reference" in picked:
            one_hot = np.zeros((len(rows), len(probabilities)))
            one_hot[np.arange(len(rows)), picked["reference"]] = 1.0
            reference = Decisions(acquired=decisions.acquired, probabilities=one_hot)
        policy = int(picked["policy"][0])
        outcome = Outcome(
            task=task,
            y=picked["y"],
            decisions=decisions,
            bill=picked["bill"],
            full_bill=picked["full_bill"],
            evaluation_bill=picked["evaluation_bill"],
            threshold=threshold,
            query=picked.get("query"),
            reference=reference,
            budget=budgets[policy],
        )
        yield Judged(policy, "test" if picked["test"][0] else "validation", outcome)
