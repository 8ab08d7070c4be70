"""Marks of started trials: what names the trial after a process died in it.

A process that runs trials holds one small file open in ``<store>/running`` and writes into it what it is about to
run. The file is removed when the process ends in order; one whose process is gone tells what it died in. Writing it
takes microseconds: it is not flushed to the disk, since what a dying process wrote is not lost.

The file's name says whose it is: host, the run's process and when that started, the worker's and when that started
(in a serial run the same). So a mark is never taken for another's where a store is shared or a number comes again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core.run.owners import here, is_gone, owner
from bench_core.run.whole_files import not_written

if TYPE_CHECKING:
    from bench_core.run.plan import Planned

__all__ = ["Mark", "Marker", "marks_of_the_dead", "take_crashed"]

_RUNNING, _OVER = b"+", b"-"


@dataclass(frozen=True)
class Mark:
    """What a process had started last.

    Attributes:
        path: the file.
        run: the number of the process of its run.
        run_is_gone: whether that one is gone, too.
        trial: the trial's name in the store; empty when it had not started any.
        description: the trial in the suite's words.
        running: whether it was still at it.
    """

    path: Path
    run: int
    run_is_gone: bool
    trial: str
    description: str
    running: bool

    def remove(self) -> None:
        """Remove it."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


class Marker:
    """This process's mark, made with the first trial.

    Args:
        store: the store's directory.
        run: the number of the process of the run; None when it is this one.
    """

    def __init__(self, store: Path, run: int | None = None) -> None:
        self._folder = store / "running"
        self._run = os.getpid() if run is None else run
        self._path: Path | None = None
        self._file = -1

    def begin(self, planned: Planned) -> None:
        """Say that a trial is about to run.

        Raises:
            StoreError: the store's disk does not take it.
        """
        trial = planned.trial
        description = f"{trial.method} on {trial.dataset}, costs {trial.costs}, seed {trial.seed}"
        text = _RUNNING + json.dumps([planned.name, description]).encode()
        try:
            if self._path is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._folder / "-".join([here(), owner(self._run), owner(os.getpid())])
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
                self._path = path
            os.truncate(self._file, 0)
            os.pwrite(self._file, text, 0)
        except OSError as error:
            raise not_written(self._path or self._folder, error) from None

    def end(self) -> None:
        """Say that it is over, whatever came of it."""
        if self._path is not None:
            with suppress(OSError):  # then the mark says that it is not over, and it is run once more
                os.pwrite(self._file, _OVER, 0)

    def close(self) -> None:
        """Remove the mark."""
        if self._path is not None:
            os.close(self._file)
            self._path.unlink(missing_ok=True)
            self._path, self._file = None, -1


def marks_of_the_dead(store: Path) -> list[Mark]:
    """The marks in a store whose process, of this machine, is gone."""
    folder = store / "running"
    marks = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        host, *numbers = path.name.rsplit("-", 4)
        if host != here() or len(numbers) != 4 or not all(map(str.isdigit, numbers)):
            continue
        run, run_start, process, start = numbers
        if not is_gone(process, start):
            continue
        trial, description, running = "", "", False
        with suppress(OSError, ValueError):
            text = path.read_bytes()
            trial, description = json.loads(text[1:]) if text else ("", "")
            running = text.startswith(_RUNNING)
        marks.append(Mark(path, int(run), is_gone(run, run_start), trial, description, running))
    return marks


def take_crashed(store: Path) -> dict[str, str]:
    """Name → words of a suite, of the trials that an earlier run was at when it died; its marks are removed."""
    crashed = {}
    for mark in marks_of_the_dead(store):
        if not mark.run_is_gone:
            continue
        if mark.running and mark.description:
            crashed[mark.trial] = mark.description
        mark.remove()
    return crashed
