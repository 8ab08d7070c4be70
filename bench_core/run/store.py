"""The store: a directory of records, one per trial, safe to kill, share, merge and commit.

``<store>/<first two hex>/<sha256>.json`` is a record, ``<sha256>.parquet`` beside it the decisions it was computed
from, ``<sha256>.failed.json`` the record of a failure. A file is written under a temporary name in
``<store>/tmp``, flushed to the disk, and renamed; the record last, so a record that is there is whole. A trial of some
milliseconds does not wait for the disk: a power cut may damage the last of these.

A record is sealed (see `bench_core.run.record_file`) and holds size and SHA-256 of its decisions. Both are checked
whenever a record is read, not when names are listed: what does not fit is not served, but named. `Store.set_aside`
moves it to ``<store>/damaged``, and then the trial is one that was never run.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from bench_core.contract.errors import RequestError, StoreError
from bench_core.run.decisions_file import pack_decisions, unpack_decisions
from bench_core.run.owners import own_name, sweep
from bench_core.run.record_file import RECORD_FORMAT, OldFormatError, read_record, seal, seconds_of, unseal
from bench_core.run.run_trial import TrialResult
from bench_core.run.summary import PolicyOutcome
from bench_core.run.whole_files import WholeFile, make_folder, move_aside, open_file, why, write_whole

DAMAGED = "damaged"
"""The folder of a store that damaged files are moved to."""

_DONE, _FAILED, _DECISIONS = ".json", ".failed.json", ".parquet"
_NAME, _HEX = 64, frozenset("0123456789abcdef")
_SHOWN = 20
_NEW = 5.0
"""Seconds for which decisions are so new that the record that belongs to them may be about to be written."""

_WORTH_FLUSHING = 0.05
"""Seconds of computing from which on a trial waits until the disk has it, which takes half a millisecond or more."""

_KINDS = {_FAILED: "failed", _DONE: "done", _DECISIONS: "decisions"}


@dataclass(frozen=True)
class StoreFile:
    """A file in one of a store's shelves.

    Attributes:
        path: where it is.
        name: the trial's name; empty when it is no file of a store.
        kind: ``done``, ``failed``, ``decisions`` or ``other``.
    """

    path: Path
    name: str
    kind: str

    @property
    def misplaced(self) -> str:
        """A line on why no reader looks for it here; empty where one does."""
        if self.kind == "other":
            return f"{self.path} is no file of a store"
        there = self.path.parent.name == self.name[:2]
        return "" if there else f"{self.path} lies in the wrong folder: it is looked for in {self.name[:2]}"


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
        self._made_folders: set[str] = set()
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
            for file in chain.from_iterable(map(os.listdir, folders)):
                name, suffix = file[:_NAME], file[_NAME:]
                if suffix == _DONE:
                    done.add(name)
                elif suffix == _FAILED:
                    failed.add(name)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreError(f"the store {self.path} cannot be read: {why(error)}") from None
        return done, failed - done

    def files(self) -> Iterator[StoreFile]:
        """Every file in the store's shelves, in order.

        Raises:
            StoreError: a folder cannot be read.
        """
        try:
            for shelf in sorted(self.path.iterdir()) if self.path.is_dir() else []:
                if len(shelf.name) != 2 or not shelf.is_dir():
                    continue
                for path in sorted(shelf.iterdir()):
                    name, suffix = path.name[:_NAME], path.name[_NAME:]
                    kind = _KINDS.get(suffix, "other") if len(name) == _NAME and set(name) <= _HEX else "other"
                    yield StoreFile(path, name if kind != "other" else "", kind)
        except OSError as error:
            raise StoreError(f"the store {self.path} cannot be read: {why(error)}") from None

    def read(self, name: str, decisions: bool = True) -> dict[str, Any] | None:
        """The record of a trial, done or failed; None when there is none, or it is damaged or old.

        A damaged one is remembered, see `warnings` and `set_aside`. The file of its decisions is checked, too, unless
        ``decisions`` is false.

        Raises:
            StoreError: the disk does not give it.
        """
        for suffix, status in ((_DONE, "ok"), (_FAILED, "failed")):
            place = self._place(name, suffix)
            try:
                record = self._checked(place, name, status, decisions)
            except OldFormatError:
                self._old.add(name)
                return None
            except ValueError as damage:
                self._damaged[name] = str(damage)
                return None
            if record is not None:
                return record
        return None

    def failure_kind(self, name: str) -> str:
        """What kind of error ended a trial that failed (``time``, ``memory``, …); empty when that is not known.

        Raises:
            StoreError: the disk does not give its record.
        """
        record = self.read(name, decisions=False)
        return "" if record is None or record["status"] != "failed" else str(record["error"].get("kind", ""))

    def _checked(
        self, place: str, name: str, status: str, decisions: bool, tried_before: bool = False
    ) -> dict[str, Any] | None:
        """A record and its decisions, checked; another try where a writer may be between the two files."""
        data = self._bytes(place)
        if data is None:
            return None
        try:
            record = read_record(data, name, status)
        except OldFormatError:
            raise
        except ValueError as error:
            raise ValueError(f"{place} is damaged: {error}") from None
        damage = self._damage_of_decisions(record) if decisions else ""
        if not damage:
            return record
        if not tried_before and self._is_new(name):
            time.sleep(0.05)
            return self._checked(place, name, status, decisions, tried_before=True)
        raise ValueError(f"{self._place(name, _DECISIONS)} {damage}")

    def _is_new(self, name: str) -> bool:
        with suppress(OSError):
            return time.time() - os.stat(self._place(name, _DECISIONS)).st_mtime < _NEW
        return False

    def _bytes(self, place: str) -> bytes | None:
        try:
            with open_file(place) as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            if os.path.lexists(place):
                raise ValueError(f"{place} is damaged: it is a link to nothing") from None
            return None
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ELOOP):
                raise ValueError(f"{place} is damaged: {why(error)}") from None
            raise StoreError(f"{place} cannot be read: {why(error)}") from None

    def _damage_of_decisions(self, record: Mapping[str, Any]) -> str:
        noted = record.get("decisions")
        if noted is None:
            return ""
        try:
            with open_file(self._place(record["name"], _DECISIONS)) as file:
                if os.fstat(file.fileno()).st_size != noted["bytes"]:
                    return "is damaged: it is not as long as the record beside it says"
                if hashlib.file_digest(file, "sha256").hexdigest() != noted["sha256"]:
                    return "is damaged: it does not match its checksum in the record beside it"
        except FileNotFoundError:
            return "is missing"
        except OSError as error:
            return f"is damaged: {why(error)}"
        return ""

    def warnings(self) -> list[str]:
        """A line for every damaged file that was read so far, and one for all records of an earlier format."""
        lines = [f"{line}; the trial counts as not run" for line in self._damaged.values()]
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"… and {len(lines) - _SHOWN} more damaged records"]
        if self._old:
            old = f"{len(self._old)} record(s) in {self.path} are of a format before {RECORD_FORMAT}"
            lines.append(f"{old}; their trials count as not run")
        return lines

    @property
    def damage(self) -> list[str]:
        """A line for every record that was read so far and is damaged, naming the file."""
        return list(self._damaged.values())

    def disbelieve(self, name: str, why: str) -> None:
        """Count a record as damaged, for a reason found elsewhere."""
        self._damaged[name] = why

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
        for name in sorted(names):
            for suffix in (_DONE, _FAILED, _DECISIONS):
                move_aside(Path(self._place(name, suffix)), self.path / DAMAGED)
        self._damaged.clear()
        self._old.clear()
        return names

    def write(self, result: TrialResult) -> None:
        """Keep a trial's record and decisions; the kernel may keep those of a short trial for some seconds.

        Raises:
            StoreError: they cannot be written; nothing half-written is left in their place.
        """
        record = result.record
        name = record["name"]
        if record["status"] == "failed":
            self.write_failure(record)
            return
        files: dict[str, bytes | memoryview] = {}
        if result.outcomes is not None and result.rows is not None:
            packed = pack_decisions(result.outcomes, result.rows)
            files[_DECISIONS] = packed
            noted = {"bytes": len(packed), "sha256": hashlib.sha256(packed).hexdigest()}
            record = {**record, "decisions": noted}
        short = "timings" in record and seconds_of(record) < _WORTH_FLUSHING
        self._write(name, {**files, _DONE: seal(record)}, flush=not short)

    def write_failure(self, record: Mapping[str, Any]) -> None:
        """Keep the record of a failed trial; raises as `write`."""
        self._write(record["name"], {_FAILED: seal(record)})

    def rewrite(self, record: Mapping[str, Any]) -> None:
        """Replace a record by one that holds more (metrics that were added later); raises as `write`."""
        self._write(record["name"], {_DONE: seal(record)})

    def copy_of(self, name: str, status: str) -> tuple[bytes, bytes | None]:
        """The bytes of a record's file and of its decisions (None for a failure, or where it has none).

        Raises:
            StoreError: the disk does not give them.
        """
        places = [self._place(name, _DONE if status == "ok" else _FAILED), self._place(name, _DECISIONS)]
        try:
            record = Path(places[0]).read_bytes()
            decisions = Path(places[1]).read_bytes() if status == "ok" and os.path.exists(places[1]) else None
        except OSError as error:
            raise StoreError(f"{error.filename} cannot be read: {why(error)}") from None
        return record, decisions

    def take(self, name: str, status: str) -> tuple[bytes, bytes | None]:
        """As `copy_of`; the trial's files are removed."""
        copied = self.copy_of(name, status)
        for suffix in (_DONE, _FAILED, _DECISIONS):
            with suppress(OSError):
                os.unlink(self._place(name, suffix))
        return copied

    def add(self, name: str, record: bytes, decisions: bytes | None) -> dict[str, Any]:
        """Keep a record that was made elsewhere, byte for byte; what is said in it.

        Args:
            name: the trial that it must be of.
            record: the bytes of its file.
            decisions: the bytes of its decisions' file, which must be those that it was computed from.

        Raises:
            ValueError: they are damaged; nothing is written.
            StoreError: they cannot be written.
        """
        status = "failed" if unseal(record).get("status") == "failed" else "ok"
        contents = read_record(record, name, status)
        noted = contents.get("decisions")
        files: dict[str, bytes] = {}
        if noted is not None:
            if decisions is None:
                raise ValueError("its decisions are missing")
            if len(decisions) != noted["bytes"] or hashlib.sha256(decisions).hexdigest() != noted["sha256"]:
                raise ValueError("its decisions do not match their checksum")
            files[_DECISIONS] = decisions
        self._write(name, {**files, _FAILED if status == "failed" else _DONE: record})
        return contents

    def path_of_decisions(self, name: str) -> Path:
        """Where the decisions of a trial are."""
        return Path(self._place(name, _DECISIONS))

    def outcomes(self, name: str, task: str, threshold: float | None) -> Iterator[PolicyOutcome]:
        """The outcomes of a done trial, from its stored decisions; `read` checks that they are the record's.

        Raises:
            StoreError: the decisions cannot be read.
        """
        path = self.path_of_decisions(name)
        try:
            yield from unpack_decisions(path, task, threshold)
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"{path} cannot be read: {why(error)}") from None

    def _place(self, name: str, suffix: str) -> str:
        return f"{self._root}/{name[:2]}/{name}{suffix}"

    def _write(self, name: str, files: Mapping[str, bytes | memoryview], *, flush: bool = True) -> None:
        """Write a trial's files, by suffix; the last is what says that the others belong to it."""
        whole = []
        for suffix, data in files.items():
            self._count += 1
            temporary = f"{self._root}/tmp/{own_name(os.getpid())}-{self._count}"
            whole.append(WholeFile(self._place(name, suffix), data, temporary))
        for folder in (f"{self._root}/{name[:2]}", f"{self._root}/tmp"):
            if folder not in self._made_folders:
                make_folder(folder, whole[-1].path)
                self._made_folders.add(folder)
        write_whole(*whole, flush=flush)
        if _DONE in files:
            with suppress(OSError):
                os.unlink(self._place(name, _FAILED))

    def sweep(self) -> None:
        """Remove temporary files whose process is gone; those that cannot be removed stay."""
        sweep(self.path / "tmp")
