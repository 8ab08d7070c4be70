"""The store: a directory with one record per trial, which survives kills and can be shared, merged and committed.

``<store>/<first two hex>/<sha256>.json`` is a record, ``<sha256>.parquet`` holds the decisions that it was computed
from, and ``<sha256>.failed.json`` is the record of a failure (see `bench_store`). Short trials do not wait for the
disk, so a power cut may damage the last records. A trial with a damaged record is run again.
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
"""A trial that took longer than this waits until its record is on the disk, which takes half a millisecond or more."""


class Store(bench_store.Store):
    """A directory of records of the kinds ``done`` and ``failed``; the files of decisions are attachments.

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
        """The kind of error that ended a failed trial (``time``, ``memory``, …); empty if unknown.

        Raises:
            StoreError: its record cannot be read.
        """
        record = self.read(name, attachment=False)
        return "" if record is None or record["status"] != "failed" else str(record["error"].get("kind", ""))

    def write(self, result: TrialResult) -> None:
        """Write a trial's record and decisions. For a short trial they may reach the disk some seconds later.

        Raises:
            StoreError: they cannot be written. No incomplete file is left.
        """
        record, packed = result.record, None
        if result.outcomes is not None and result.rows is not None:
            packed = pack_decisions(result.outcomes, result.rows)
        done = record["status"] == "ok" and "timings" in record
        self.put(record["name"], record, packed, flush=not (done and seconds_of(record) < _WORTH_FLUSHING))

    def write_failure(self, record: Mapping[str, Any]) -> None:
        """Write the record of a failed trial; raises as `write`."""
        self.put(record["name"], record)

    def outcomes(self, name: str, task: str, threshold: float | None) -> Iterator[PolicyOutcome]:
        """The outcomes of a done trial, from its stored decisions. (`read` checks that these belong to the record.)

        Raises:
            StoreError: the decisions cannot be read.
        """
        path = self.path_of_attachment(name)
        try:
            yield from unpack_decisions(path, task, threshold)
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"{path} cannot be read: {bench_store.reason(error)}") from None
