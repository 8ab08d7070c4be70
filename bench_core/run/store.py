"""The store: a directory of records, one per trial, safe to kill, share, merge and commit.

``<store>/<first two hex>/<sha256>.json`` is a record, ``<sha256>.parquet`` beside it the decisions it was computed
from, ``<sha256>.failed.json`` the record of a failure. A file is written under a temporary name in
``<store>/tmp``, flushed to the disk, and renamed; the record last, so a record that is there is whole.

A record is sealed (see `bench_core.run.sealed`) and holds size and SHA-256 of its decisions. Both are checked whenever
a record is read, not when names are listed: what does not fit is not served, but named. `Store.set_aside` moves it to
``<store>/damaged``, and then the trial is one that was never run.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bench_core.contract.errors import RequestError, StoreError
from bench_core.run.decisions_file import pack_decisions, unpack_decisions
from bench_core.run.owners import here, is_gone, owner
from bench_core.run.record_file import OldFormatError, read_record
from bench_core.run.run_trial import RECORD_FORMAT, PolicyOutcome, TrialResult
from bench_core.run.sealed import seal

__all__ = ["DAMAGED", "Store"]

DAMAGED = "damaged"
"""The folder of a store that damaged files are moved to."""

_DONE, _FAILED, _DECISIONS = ".json", ".failed.json", ".parquet"
_NAME = 64
_SHOWN = 20
_NEW = 5.0
"""Seconds for which decisions are so new that the record that belongs to them may be about to be written."""
_DAY = 86400.0


class Store:
    """A directory of records.

    Args:
        path: the directory; made when something is first written.

    Raises:
        RequestError: the path is a file.
    """

    def __init__(self, path: Path) -> None:
        if os.path.lexists(path) and not path.is_dir():
            raise RequestError(f"the store {path} is not a directory")
        self.path = path
        self._root = str(path)
        self._made: set[str] = set()
        self._count = 0
        self._damaged: dict[str, str] = {}
        self._old: set[str] = set()

    def names(self) -> tuple[set[str], set[str]]:
        """Names of the trials that are done, and of those that failed and are not done.

        No file is opened: what is damaged is found when it is read.
        """
        done: set[str] = set()
        failed: set[str] = set()
        try:
            with os.scandir(self._root) as shelves:
                folders = [shelf.path for shelf in shelves if len(shelf.name) == 2 and os.path.isdir(shelf)]
            for folder in folders:
                for file in os.listdir(folder):
                    if file.endswith(_FAILED) and len(file) == _NAME + len(_FAILED):
                        failed.add(file[:_NAME])
                    elif file.endswith(_DONE) and len(file) == _NAME + len(_DONE):
                        done.add(file[:_NAME])
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreError(f"the store {self.path} cannot be read: {_why(error)}") from None
        return done, failed - done

    def read(self, name: str, decisions: bool = True) -> dict[str, Any] | None:
        """The record of a trial, done or failed; None when there is none, or none that can be believed.

        A damaged one is remembered, see `warnings` and `set_aside`.

        Args:
            name: the trial's name.
            decisions: whether the file of its decisions is checked, too.

        Raises:
            StoreError: the disk does not give it.
        """
        for suffix, status in ((_DONE, "ok"), (_FAILED, "failed")):
            place = self._place(name, suffix)
            try:
                record = self._believed(place, name, status, decisions)
            except OldFormatError:
                self._old.add(name)
                return None
            except ValueError as fault:
                self._damaged[name] = str(fault)
                return None
            if record is not None:
                return record
        return None

    def _believed(self, place: str, name: str, status: str, decisions: bool) -> dict[str, Any] | None:
        """A record and its decisions, checked; another try where a writer may be between the two files."""
        for tried in (False, True):
            data = self._bytes(place)
            if data is None:
                return None
            try:
                record = read_record(data, name, status)
            except OldFormatError:
                raise
            except ValueError as error:
                raise ValueError(f"{place} is damaged: {error}") from None
            fault = self._fault_of_decisions(record) if decisions else ""
            if not fault:
                return record
            if not tried and self._is_new(name):
                time.sleep(0.05)
                continue
            raise ValueError(f"{self._place(name, _DECISIONS)} {fault}")
        return None

    def _is_new(self, name: str) -> bool:
        try:
            return time.time() - os.stat(self._place(name, _DECISIONS)).st_mtime < _NEW
        except OSError:
            return False

    def _bytes(self, place: str) -> bytes | None:
        try:
            with open(place, "rb", buffering=0) as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            if os.path.lexists(place):
                raise ValueError(f"{place} is damaged: it is a link to nothing") from None
            return None
        except OSError as error:
            if error.errno in (errno.EISDIR, errno.ELOOP):
                raise ValueError(f"{place} is damaged: {_why(error)}") from None
            raise StoreError(f"{place} cannot be read: {_why(error)}") from None

    def _fault_of_decisions(self, record: Mapping[str, Any]) -> str:
        kept = record.get("decisions")
        if kept is None:
            return ""
        try:
            with open(self._place(record["name"], _DECISIONS), "rb", buffering=0) as file:
                if os.fstat(file.fileno()).st_size != kept["bytes"]:
                    return "is damaged: it is not as long as the record beside it says"
                if hashlib.file_digest(file, "sha256").hexdigest() != kept["sha256"]:
                    return "is damaged: it does not match its checksum in the record beside it"
        except FileNotFoundError:
            return "is missing"
        except OSError as error:
            return f"is damaged: {_why(error)}"
        return ""

    def warnings(self) -> list[str]:
        """A line for every damaged file that was read so far, and one for all records of an earlier format."""
        said = [f"{line}; the trial counts as not run" for line in self._damaged.values()]
        if len(said) > _SHOWN:
            said[_SHOWN:] = [f"… and {len(said) - _SHOWN} more damaged records"]
        if self._old:
            said.append(
                f"{len(self._old)} record(s) in {self.path} are of a format before {RECORD_FORMAT}; "
                "their trials count as not run"
            )
        return said

    @property
    def unbelieved(self) -> set[str]:
        """Names of the trials whose records were read so far and are damaged or of an earlier format."""
        return self._damaged.keys() | self._old

    def set_aside(self) -> set[str]:
        """Move the files of records that are not believed to ``damaged``; the names of their trials.

        Raises:
            StoreError: they cannot be moved.
        """
        names = self.unbelieved
        folder = self.path / DAMAGED
        for name in sorted(names):
            for suffix in (_DONE, _FAILED, _DECISIONS):
                place = self._place(name, suffix)
                if not os.path.lexists(place):
                    continue
                try:
                    folder.mkdir(exist_ok=True)
                    os.rename(place, _free(folder / f"{name}{suffix}"))
                except OSError as error:
                    raise StoreError(f"{place} cannot be moved to {folder}: {_why(error)}") from None
        self._damaged.clear()
        self._old.clear()
        return names

    def write(self, result: TrialResult) -> None:
        """Keep a trial's record and decisions.

        Raises:
            StoreError: they cannot be written; nothing half-written is left in their place.
        """
        record = result.record
        name = record["name"]
        if record["status"] == "failed":
            self.write_failure(record)
            return
        if result.outcomes is not None and result.rows is not None:
            packed = pack_decisions(result.outcomes, result.rows)
            self._write(self._place(name, _DECISIONS), packed)
            kept = {"bytes": len(packed), "sha256": hashlib.sha256(packed).hexdigest()}
            record = {**record, "decisions": kept}
        self._write(self._place(name, _DONE), seal(record))
        with suppress(OSError):
            os.unlink(self._place(name, _FAILED))

    def write_failure(self, record: Mapping[str, Any]) -> None:
        """Keep the record of a failed trial; raises as `write`."""
        self._write(self._place(record["name"], _FAILED), seal(record))

    def rewrite(self, record: Mapping[str, Any]) -> None:
        """Replace a record by one that holds more (metrics that were added later); raises as `write`."""
        self._write(self._place(record["name"], _DONE), seal(record))

    def outcomes(self, name: str, task: str, threshold: float | None) -> Iterator[PolicyOutcome]:
        """The outcomes of a done trial, from its stored decisions; `read` checks that they are the record's.

        Raises:
            StoreError: the decisions cannot be read.
        """
        path = Path(self._place(name, _DECISIONS))
        try:
            yield from unpack_decisions(path, task, threshold)
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"{path} cannot be read: {_why(error)}") from None

    def _place(self, name: str, suffix: str) -> str:
        return f"{self._root}/{name[:2]}/{name}{suffix}"

    def _write(self, path: str, data: bytes | memoryview) -> None:
        """Write a whole file or none: under a temporary name, to the disk, then renamed."""
        self._count += 1
        temporary = f"{self._root}/tmp/{_own_name(os.getpid())}-{self._count}"
        try:
            for folder in (os.path.dirname(path), f"{self._root}/tmp"):
                if folder not in self._made:
                    os.makedirs(folder, exist_ok=True)
                    self._made.add(folder)
            with open(temporary, "wb", buffering=0) as file:
                left = memoryview(data)
                while left:  # a disk that is nearly full takes a part, and says so only at the next
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            with suppress(OSError):
                os.unlink(temporary)
            at = "" if error.filename in (None, path, temporary) else f" ({error.filename})"
            raise StoreError(f"{path} cannot be written: {_why(error)}{at}; what was done is kept") from None

    def sweep(self) -> None:
        """Remove temporary files whose process is gone; those that cannot be removed stay.

        Those of another machine are removed when they are a day old: nobody here knows whether it is still writing.
        """
        with suppress(OSError):
            for file in (self.path / "tmp").iterdir():
                with suppress(OSError):
                    if _is_abandoned(file):
                        file.unlink()


@cache
def _own_name(process: int) -> str:
    """How temporary files of this process begin; a fork has a number of its own."""
    return f"{here()}-{owner(process)}"


def _is_abandoned(temporary: Path) -> bool:
    host, *numbers = temporary.name.rsplit("-", 3)
    if len(numbers) != 3 or not all(map(str.isdigit, numbers[:2])):
        return True
    if host != here():
        return time.time() - temporary.stat().st_mtime > _DAY
    return is_gone(numbers[0], numbers[1])


def _why(error: Exception) -> str:
    said = getattr(error, "strerror", None) or " ".join(str(error).split())
    return str(said)[:1].lower() + str(said)[1:]


def _free(path: Path) -> Path:
    """A path at which nothing is: the one given, or that with a number."""
    found, count = path, 1
    while os.path.lexists(found):
        count += 1
        found = path.with_name(f"{path.name}.{count}")
    return found
