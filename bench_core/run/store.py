"""The store: a directory of records, one per trial, safe to kill, share, merge and commit (see `bench_store`).

``<store>/<first two hex>/<sha256>.json`` is a record, ``<sha256>.parquet`` beside it the decisions it was computed
from, ``<sha256>.failed.json`` the record of a failure. A trial of some milliseconds does not wait for the disk: a power
cut may damage the last of these. A trial whose record is damaged is one that was never run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import bench_store

from bench_core.contract.errors import RequestError, StoreError
from bench_core.run.decisions_file import pack_decisions, unpack_decisions, wrong_decisions
from bench_core.run.record_file import read_record, seconds_of
from bench_core.run.run_trial import TrialResult
from bench_core.run.summary import PolicyOutcome

_WORTH_FLUSHING = 0.05
"""Seconds of computing from which on a trial waits until the disk has it, which takes half a millisecond or more."""


class Store(bench_store.Store):
    """A directory of records, of the kinds ``done`` and ``failed``; decisions are their attachments.

    Raises:
        RequestError: the path is a file.
    """

    kinds: ClassVar[Mapping[str, str]] = {"done": ".json", "failed": ".failed.json"}
    attachment, noted_as, noun, error = ".parquet", "decisions", "record", StoreError
    others = ("datasets.json",)

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(path)
        except NotADirectoryError as error:
            raise RequestError(str(error)) from None

    def parsed(self, data: bytes, name: str, kind: str) -> dict[str, Any]:
        return read_record(data, name, "ok" if kind == "done" else kind)

    def kind_of(self, body: Mapping[str, Any]) -> str:
        return "failed" if body.get("status") == "failed" else "done"

    def attachment_fault(self, body: Mapping[str, Any], path: Path) -> str:
        return wrong_decisions(body, path)

    def failure_kind(self, name: str) -> str:
        """What kind of error ended a trial that failed (``time``, ``memory``, …); empty when that is not known.

        Raises:
            StoreError: the disk does not give its record.
        """
        record = self.read(name, attachment=False)
        return "" if record is None or record["status"] != "failed" else str(record["error"].get("kind", ""))

    def write(self, result: TrialResult) -> None:
        """Keep a trial's record and decisions; the kernel may keep those of a short trial for some seconds.

        Raises:
            StoreError: they cannot be written; nothing incomplete is left in their place.
        """
        record, packed = result.record, None
        if result.outcomes is not None and result.rows is not None:
            packed = pack_decisions(result.outcomes, result.rows)
        done = record["status"] == "ok" and "timings" in record
        self.put(record["name"], record, packed, flush=not (done and seconds_of(record) < _WORTH_FLUSHING))

    def write_failure(self, record: Mapping[str, Any]) -> None:
        """Keep the record of a failed trial; raises as `write`."""
        self.put(record["name"], record)

    def outcomes(self, name: str, task: str, threshold: float | None) -> Iterator[PolicyOutcome]:
        """The outcomes of a done trial, from its stored decisions; `read` checks that they are the record's.

        Raises:
            StoreError: the decisions cannot be read.
        """
        path = self.path_of_attachment(name)
        try:
            yield from unpack_decisions(path, task, threshold)
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"{path} cannot be read: {bench_store.reason(error)}") from None
