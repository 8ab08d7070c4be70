"""Marks name the work that a process is doing, or was doing when it died.

A process keeps one small file open and writes there what it begins. Other processes of the same machine read it and do
not begin the same work. The file is removed when the process exits normally. Writing takes microseconds: the file is
not flushed to the disk, because written data outlives its process.

The file's name identifies the owner: host, id and start of the leading process, then of the process itself (they may
be the same). So marks are not confused if several machines share a folder or the system reuses a process id.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_store.errors import StoreError
from bench_store.files import not_written, open_file
from bench_store.owners import here, is_gone, owner

__all__ = ["LeftMark", "Mark", "left_marks", "work_under_way"]

_BEGUN, _OVER = b"+", b"-"


class Mark:
    """This process's mark. The file is made at the first `begin`.

    Args:
        folder: the folder of marks.
        leader: id of the leading process, for which this one works; None: this process itself.
        error: the class to raise if the mark cannot be written.
    """

    def __init__(self, folder: Path, leader: int | None = None, error: type[Exception] = StoreError) -> None:
        self._folder, self._error = folder, error
        self._leader = os.getpid() if leader is None else leader
        self._path: Path | None = None
        self._file = -1

    def begin(self, work: Any) -> bool:
        """Note the work that begins now, as a plain JSON value.

        Returns:
            Whether it is new: no other running process of this machine has begun it before. Two that begin it within
            microseconds may both get True.
        """
        text = f"{time.time_ns()} {json.dumps(work)}".encode()
        try:
            if self._path is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._folder / "-".join([here(), owner(self._leader), owner(os.getpid())])
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
                self._path = path
            os.truncate(self._file, 0)
            os.pwrite(self._file, _BEGUN + text, 0)
        except OSError as failed:
            raise self._error(not_written(self._path or self._folder, failed)) from None
        return not any(_begun_before(text, path) for path in _files(self._folder) if path != self._path)

    def end(self) -> None:
        """Note that the work has ended, successfully or not."""
        if self._path is not None:
            with suppress(OSError):  # the mark then still says that it is running
                os.pwrite(self._file, _OVER, 0)

    def close(self) -> None:
        """Remove the mark."""
        if self._path is not None:
            os.close(self._file)
            self._path.unlink(missing_ok=True)
            self._path, self._file = None, -1


@dataclass(frozen=True)
class LeftMark:
    """The mark of a process that has ended without removing it.

    Attributes:
        path: the file.
        leader: id of the leading process.
        leader_is_gone: whether the leading process has ended, too.
        work: the work begun last; None if none was begun, or the mark cannot be read.
        running: whether this work had not ended.
    """

    path: Path
    leader: int
    leader_is_gone: bool
    work: Any
    running: bool

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def left_marks(folder: Path) -> list[LeftMark]:
    """The marks in a folder whose processes, on this machine, have ended."""
    marks = []
    for path in _files(folder):
        owners = _owners(path)
        if owners is not None and is_gone(*owners[1]):
            text = _text(path)
            work = _work(text)
            running = text.startswith(_BEGUN) and work is not None
            marks.append(LeftMark(path, int(owners[0][0]), is_gone(*owners[0]), work, running))
    return marks


def work_under_way(folder: Path) -> list[Any]:
    """The work that running processes of this machine have begun and not ended."""
    return [_work(text) for path in _files(folder) if (text := _text(path)).startswith(_BEGUN) and _is_running(path)]


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _work(text: bytes) -> Any:
    """The work of a mark; None if none was begun, or the mark cannot be read."""
    with suppress(ValueError, RecursionError):
        return json.loads(text.partition(b" ")[2])
    return None


def _is_running(path: Path) -> bool:
    owners = _owners(path)
    return owners is not None and not is_gone(*owners[1])


def _owners(path: Path) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Id and start of the leading process and of the process itself; None for a file of another machine."""
    host, *numbers = path.name.rsplit("-", 4)
    if host != here() or len(numbers) != 4 or not all(map(str.isdigit, numbers)):
        return None
    leader, leader_start, process, start = numbers
    return (leader, leader_start), (process, start)


def _text(path: Path) -> bytes:
    with suppress(OSError), open_file(path) as file:
        return file.read()
    return b""


def _begun_before(text: bytes, path: Path) -> bool:
    """Whether the mark's process is running and has begun the work of ``text`` (time and work) before."""
    theirs = _text(path)
    began, work = text.split(b" ", 1)
    if not theirs.startswith(_BEGUN) or theirs.partition(b" ")[2] != work:
        return False
    return int(theirs[1:].partition(b" ")[0]) <= int(began) and _is_running(path)
