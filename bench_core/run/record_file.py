"""Checks of stored records: the seal, the format, and that the file's name is the trial's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bench_store import OutdatedError, seal, unseal

from bench_core.contract.canonical import sha256_text

__all__ = ["RECORD_FORMAT", "read_record", "seal", "seconds_of", "unseal"]

RECORD_FORMAT = 2
"""The format of stored records: raised when their contents or meaning changes."""

_STEPS = ("fit", "decide", "audit", "metrics")
_ALWAYS = {"name": str, "trial": str, "status": str, "provenance": dict, "timings": dict}
_DONE = {"task": str, "policies": dict, "history": dict, "diagnostics": dict, "rows": dict}


def read_record(data: bytes, name: str, status: str) -> dict[str, Any]:
    """Read a record from the bytes of its file.

    Args:
        data: the file's bytes.
        name: the trial's name, from the file's name.
        status: ``ok`` or ``failed``, from the file's name.

    Raises:
        OutdatedError: it is of an earlier format.
        ValueError: it is damaged; the message says how.
    """
    record = unseal(data)
    written = record.get("format")
    if written != RECORD_FORMAT:
        if type(written) is int and 0 < written < RECORD_FORMAT:
            raise OutdatedError("it is of an earlier format")
        raise ValueError(f"it has format {written!r}, but this version reads format {RECORD_FORMAT}")
    for key, kind in (_ALWAYS | _DONE if status == "ok" else _ALWAYS | {"error": dict}).items():
        if not isinstance(record.get(key), kind):
            raise ValueError(f"its {key!r} is {'missing' if key not in record else 'not a ' + kind.__name__}")
    if record["name"] != name:
        raise ValueError(f"it is the record of another trial, {record['name'][:16]}…")
    if sha256_text(record["trial"]) != name:
        raise ValueError("its name is not the hash of its trial")
    if record["status"] != status:
        raise ValueError(f"its status is {record['status']!r}, not {status!r}")
    noted = record.get("decisions", {"bytes": 0, "sha256": ""})
    if not isinstance(noted, dict) or not isinstance(noted.get("bytes"), int) or "sha256" not in noted:
        raise ValueError("it does not name the decisions that it was computed from")
    if status == "ok":
        _check_policies(record["policies"])
    return record


def _check_policies(table: Mapping[str, Any]) -> None:
    """Check a family by columns: equal lengths, and every metric a finite number or null."""
    labels = table.get("label")
    if not isinstance(labels, list) or not labels:
        raise ValueError("it has no policies")
    columns = {key: table.get(key) for key in ("details", "budget")}
    for part in ("validation", "test"):
        metrics = table.get(part)
        if not isinstance(metrics, dict):
            raise ValueError(f"it has no metrics on the {part} part")
        columns |= {f"{part}.{name}": values for name, values in metrics.items()}
    for name, values in columns.items():
        if not isinstance(values, list) or len(values) != len(labels):
            raise ValueError(f"{name!r} does not have a value for each of its {len(labels)} policies")
        finite = (value is None or (type(value) in (int, float) and math.isfinite(value)) for value in values)
        if name != "details" and not all(finite):
            raise ValueError(f"{name!r} has a value that is not a finite number")


def seconds_of(record: Mapping[str, Any]) -> float:
    """Sum the seconds of a trial's steps from its record; details within a step are not added."""
    return sum(float(record["timings"].get(step, 0.0)) for step in _STEPS)
