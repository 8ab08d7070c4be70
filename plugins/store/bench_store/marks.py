"""Marks of work that was begun: they name what a process was working on when it died.

A process holds one small file open and writes into it what it begins. The file is removed when the process ends in
order. Writing takes microseconds: it is not flushed to the disk, since what a dying process wrote is not lost.

The file's name says whose it is: host, the number and the start of the process that it works for, then its own (they
may be the same). So a mark is never taken for another's where a folder is shared or a number is used again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_store.errors import StoreError
from bench_store.files import not_written, open_file
from bench_store.owners import here, is_gone, owner

__all__ = ["LeftMark", "Mark", "left_marks"]

_BEGUN, _OVER = b"+", b"-"


class Mark:
    """This process's mark, made when it first begins something.

    Args:
        folder: where marks are kept.
        leader: the number of the process that this one works for; None when it works for itself.
        error: what is raised where the disk does not take the mark.
    """

    def __init__(self, folder: Path, leader: int | None = None, error: type[Exception] = StoreError) -> None:
        self._folder, self._error = folder, error
        self._leader = os.getpid() if leader is None else leader
        self._path: Path | None = None
        self._file = -1

    def begin(self, work: Any) -> None:
        """Note what is about to be worked on, a plain JSON value."""
        text = _BEGUN + json.dumps(work).encode()
        try:
            if self._path is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._folder / "-".join([here(), owner(self._leader), owner(os.getpid())])
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
                self._path = path
            os.truncate(self._file, 0)
            os.pwrite(self._file, text, 0)
        except OSError as failed:
            raise self._error(not_written(self._path or self._folder, failed)) from None

    def end(self) -> None:
        """Note that it is over, whatever came of it."""
        if self._path is not None:
            with suppress(OSError):  # then the mark says that it is not over
                os.pwrite(self._file, _OVER, 0)

    def close(self) -> None:
        """Remove the mark."""
        if self._path is not None:
            os.close(self._file)
            self._path.unlink(missing_ok=True)
            self._path, self._file = None, -1


@dataclass(frozen=True)
class LeftMark:
    """The mark of a process that is gone.

    Attributes:
        path: the file.
        leader: the number of the process that it worked for.
        leader_is_gone: whether that one is gone, too.
        work: what it had begun last; None when it had begun nothing, or its mark cannot be read.
        running: whether it was still working on it.
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
    """The marks in a folder whose process, of this machine, is gone."""
    marks = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        host, *numbers = path.name.rsplit("-", 4)
        if host != here() or len(numbers) != 4 or not all(map(str.isdigit, numbers)):
            continue
        leader, leader_start, process, start = numbers
        if not is_gone(process, start):
            continue
        work, running = None, False
        with suppress(OSError, ValueError, RecursionError), open_file(path) as file:
            text = file.read()
            work = json.loads(text[1:]) if text else None
            running = text.startswith(_BEGUN)
        marks.append(LeftMark(path, int(leader), is_gone(leader, leader_start), work, running))
    return marks
