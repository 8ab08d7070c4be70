"""What a stored record must be before it is believed: sealed, of this format, of the trial that its name says."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from bench_core.contract.canonical import sha256_text
from bench_core.run.run_trial import RECORD_FORMAT
from bench_core.run.sealed import unseal

__all__ = ["OldFormatError", "read_record"]


class OldFormatError(ValueError):
    """The record is of an earlier format: sound, perhaps, but not to be read."""


_ALWAYS = {"name": str, "trial": str, "status": str, "provenance": dict, "timings": dict}
_DONE = {"task": str, "policies": dict, "history": dict, "diagnostics": dict, "rows": dict}


def read_record(data: bytes, name: str, status: str) -> dict[str, Any]:
    """A record from the bytes of its file.

    Args:
        data: the file's bytes.
        name: the trial's name, as the file is called.
        status: ``ok`` or ``failed``, as the file is called.

    Raises:
        OldFormatError: it is of an earlier format.
        ValueError: it is damaged; the message says how.
    """
    try:
        record = unseal(data)
    except ValueError as fault:
        if _is_old(data):
            raise OldFormatError("it is of an earlier format") from None
        raise fault
    if record.get("format") != RECORD_FORMAT:
        raise ValueError(f"it is of format {record.get('format')!r}, and this version reads {RECORD_FORMAT}")
    for key, kind in (_ALWAYS | _DONE if status == "ok" else _ALWAYS | {"error": dict}).items():
        if not isinstance(record.get(key), kind):
            raise ValueError(f"its {key!r} is {'missing' if key not in record else 'not a ' + kind.__name__}")
    if record["name"] != name:
        raise ValueError(f"it is the record of another trial, {record['name'][:16]}…")
    if sha256_text(record["trial"]) != name:
        raise ValueError("its name is not the hash of its trial")
    if record["status"] != status:
        raise ValueError(f"its status is {record['status']!r}, not {status!r}")
    kept = record.get("decisions", {"bytes": 0, "sha256": ""})
    if not isinstance(kept, dict) or not isinstance(kept.get("bytes"), int) or "sha256" not in kept:
        raise ValueError("it does not say which decisions it was computed from")
    if status == "ok":
        _check_policies(record["policies"])
    return record


def _is_old(data: bytes) -> bool:
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return False
    kept = said.get("format") if isinstance(said, dict) else None
    return type(kept) is int and 0 < kept < RECORD_FORMAT


def _check_policies(table: Mapping[str, Any]) -> None:
    """A family by columns: every column as long as the family, every metric a finite number or null."""
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
        if name != "details" and not all(_is_number(value) for value in values):
            raise ValueError(f"{name!r} holds what is not a finite number")


def _is_number(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
