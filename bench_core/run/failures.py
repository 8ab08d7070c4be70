"""Failures of trials: the errors of processes, and the records of failures."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_core.contract.canonical import writable
from bench_core.contract.errors import BenchError
from bench_core.contract.readonly import HOW_TO_WRITE, is_write_refusal
from bench_core.plugins.descriptions import without_control_characters

__all__ = ["RemoteError", "TrialStopped", "error_of", "failed_record"]


class TrialStopped(BaseException):
    """A method's process was ended, or ended by itself.

    ``kind`` is ``time``, ``crash``, ``killed`` (by another process, so the trial may be repeated), ``exit`` or
    ``error``. It is not an `Exception`, so that handlers for a method's errors do not catch it.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class RemoteError(Exception):
    """An error raised in another process. It is raised here as a subclass with the name of the original type.

    Attributes:
        known: whether it is one of the core's errors.
        trace: its traceback.
    """

    def __init__(self, message: str, known: bool, trace: str) -> None:
        super().__init__(message)
        self.known, self.trace = known, trace


def failed_record(
    record: dict[str, Any], error: BaseException, step: str, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """Make the record of a failed trial: the error, its step, and its place in the code.

    If the audit had begun (``audit_seed`` is in the record), the error contains the seed that repeats it.
    """
    identity = {key: record[key] for key in ("format", "name", "trial", "provenance")}
    details = error_of(error)
    if details["type"] in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"):  # their message alone says nothing
        details["message"] = f"{details['type']} was raised" + (f": {details['message']}" if details["message"] else "")
    refused = not details.pop("known") and is_write_refusal(details["message"])
    details["message"] = without_control_characters(writable(" ".join(details["message"].split()) or details["type"]))
    if refused:
        details["message"] += f": {HOW_TO_WRITE}"
    kind = {"MemoryError": "memory", "SystemExit": "exit"}.get(details["type"], getattr(error, "kind", "error"))
    details |= {"kind": kind, "step": step}
    if "audit_seed" in record:
        details["audit_seed"] = record["audit_seed"]
    return {**identity, "status": "failed", "error": details, "timings": dict(seconds)}


def error_of(error: BaseException) -> dict[str, Any]:
    """Convert an error to plain text: type, message, whether it is one of the core's, and if not, its traceback."""
    if isinstance(error, RemoteError):
        return {"type": type(error).__name__, "message": str(error), "known": error.known, "traceback": error.trace}
    known = isinstance(error, BenchError | TrialStopped)
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be read"
    trace = "" if known else writable(_traceback(error))
    return {"type": type(error).__name__, "message": message, "known": known, "traceback": trace}


def _traceback(error: BaseException) -> str:
    """The traceback without the core's frames at its start."""
    here, at = str(Path(__file__).parent), error.__traceback__
    while at is not None and at.tb_next is not None and at.tb_frame.f_code.co_filename.startswith(here):
        at = at.tb_next
    return "".join(traceback.format_exception(error.with_traceback(at))[-12:])
