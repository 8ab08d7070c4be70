"""The Parquet file of a trial's decisions, from which metrics can be computed: a row per (policy, part, data row)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions, Outcome
from bench_core.run.summary import PolicyOutcome

_FEW_ROWS = 500
_NUMBERS = ("bill", "full_bill", "evaluation_bill")
_UNFILLED: dict[str, Any] = {"score": np.nan, "stage": np.int64(0), "evaluations": np.nan}
"""The placeholder in a column for policies that do not fill it while others of the family do."""


def pack_decisions(outcomes: list[PolicyOutcome], rows: Mapping[str, NDArray[np.int64]]) -> memoryview:
    """Decisions and bills of every policy as Parquet bytes, one row per (policy, part, data row)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {}
    features = outcomes[0].outcome.decisions.acquired.shape[1]
    width = (features + 7) // 8
    filled = [n for n in _UNFILLED if any(getattr(judged.outcome.decisions, n) is not None for judged in outcomes)]
    caps = sorted({cap for judged in outcomes for cap in judged.outcome.at_caps})
    for judged in outcomes:
        outcome, decisions = judged.outcome, judged.outcome.decisions
        count = len(outcome.y)
        packed = np.packbits(decisions.acquired, axis=1, bitorder="little")
        piece: dict[str, Any] = {
            "policy": np.full(count, judged.policy, dtype=np.int32),
            "test": np.full(count, judged.part == "test"),
            "row": rows[judged.part],
            "y": outcome.y,
            "acquired": np.ascontiguousarray(packed).reshape(-1),
            **{name: getattr(outcome, name) for name in _NUMBERS},
            "query": outcome.query,
        }
        for name in filled:
            column = getattr(decisions, name)
            piece[name] = np.full(count, _UNFILLED[name]) if column is None else column
        for cap in caps:
            piece[f"cap{cap}"] = outcome.at_caps.get(cap, np.full(count, -1))
        if outcome.reference is not None and outcome.reference.probabilities is not None:
            piece["reference"] = outcome.reference.probabilities.argmax(axis=1)
        if decisions.probabilities is not None:
            piece |= {f"p{k}": column for k, column in enumerate(decisions.probabilities.T)}
        for key, value in piece.items():
            if value is not None:
                columns.setdefault(key, []).append(value)
    joined = {key: np.concatenate(pieces) for key, pieces in columns.items()}
    count = len(joined["policy"])
    arrays = [_column(value, count, pa.binary(width) if key == "acquired" else None) for key, value in joined.items()]
    budgets = [judged.outcome.budget for judged in outcomes if judged.part == "test"]
    metadata = {"features": str(features), "budgets": json.dumps(budgets)}
    table = pa.Table.from_arrays(arrays, list(joined), metadata=metadata)
    sink = pa.BufferOutputStream()
    if table.num_rows < _FEW_ROWS:  # takes a quarter of the time and is no larger
        pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
    else:
        pq.write_table(table, sink, compression="zstd")
    return memoryview(sink.getvalue())


def _column(values: NDArray[Any], count: int, kind: Any = None) -> Any:
    """Make a column over NumPy's memory. `pyarrow.array` would import pandas, which takes longer than 100 trials."""
    import pyarrow as pa

    kind = kind or pa.from_numpy_dtype(values.dtype)
    held = np.packbits(values, bitorder="little") if pa.types.is_boolean(kind) else np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(held)])


def _filled(column: NDArray[Any] | None, missing: Any) -> NDArray[Any] | None:
    """A policy's column; None if it holds placeholders."""
    return None if column is None or np.array_equal(column[:1], [missing], equal_nan=True) else column


def unpack_decisions(path: Path, task: str, threshold: float | None) -> Iterator[PolicyOutcome]:
    """Read every policy's outcome on each part, from a file of `pack_decisions`."""
    import pyarrow.parquet as pq

    # Not read_table: its scanner's threads can outlive the interpreter, which then aborts.
    with pq.ParquetFile(path) as file:
        table = file.read(use_threads=False)
    features = int(table.schema.metadata[b"features"])
    budgets = json.loads(table.schema.metadata[b"budgets"])
    data = {name: table.column(name) for name in table.column_names}
    packed = np.frombuffer(b"".join(data.pop("acquired").to_pylist()), dtype=np.uint8).reshape(table.num_rows, -1)
    arrays = {name: column.to_numpy() for name, column in data.items()}
    probabilities = sorted((name for name in arrays if name[0] == "p" and name[1:].isdigit()), key=lambda n: int(n[1:]))
    order = np.lexsort((arrays["test"], arrays["policy"]))
    keys = arrays["policy"][order].astype(np.int64) * 2 + arrays["test"][order]
    for rows in np.split(order, np.flatnonzero(np.diff(keys)) + 1):
        picked = {name: column[rows] for name, column in arrays.items()}
        decisions = Decisions(
            acquired=np.unpackbits(packed[rows], axis=1, count=features, bitorder="little").astype(bool),
            probabilities=np.stack([picked[name] for name in probabilities], axis=1) if probabilities else None,
            **{name: _filled(picked.get(name), missing) for name, missing in _UNFILLED.items()},
        )
        reference = None
        if "reference" in picked:
            one_hot = np.eye(len(probabilities))[picked["reference"]]
            reference = Decisions(acquired=decisions.acquired, probabilities=one_hot)
        policy = int(picked["policy"][0])
        bill, full, evaluation = (picked[name] for name in _NUMBERS)
        query, budget = picked.get("query"), budgets[policy]
        caps = {int(name[3:]): column for name, column in picked.items() if name.startswith("cap") and column[0] >= 0}
        outcome = Outcome(
            task, picked["y"], decisions, bill, full, evaluation, threshold, query, reference, budget, caps
        )
        yield PolicyOutcome(policy, "test" if picked["test"][0] else "validation", outcome)


def wrong_decisions(record: Mapping[str, Any], path: Path) -> str:
    """Say how a record and its decisions' file contradict each other; empty if they do not."""
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
        return f"is damaged: it has {len(budgets)} policies, its record has {policies}"
    return ""
