"""What went wrong in a trial: the errors of processes, and the record of a failure."""

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

    ``kind`` is ``time``, ``crash``, ``killed`` (by another process: it may be tried again), ``exit`` or ``error``. No
    `Exception`: what handles a method's errors must not take it for one.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class RemoteError(Exception):
    """An error raised in another process, of a subclass that has its type's name.

    Attributes:
        known: whether it is one of the core's.
        trace: its traceback.
    """

    def __init__(self, message: str, known: bool, trace: str) -> None:
        super().__init__(message)
        self.known, self.trace = known, trace


def failed_record(
    record: dict[str, Any], error: BaseException, step: str, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The record of a trial that failed: what went wrong, in which step, and where.

    Where its audit had begun (``audit_seed`` is in the record), the error has the seed that repeats it.
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
    """An error as plain text: type, message, whether it is one of the core's, and else where it was raised."""
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
    """The traceback from the first frame on that is not the core's running of a trial."""
    here, at = str(Path(__file__).parent), error.__traceback__
    while at is not None and at.tb_next is not None and at.tb_frame.f_code.co_filename.startswith(here):
        at = at.tb_next
    return "".join(traceback.format_exception(error.with_traceback(at))[-12:])
