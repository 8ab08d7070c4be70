"""The owner of a temporary file in a store: the machine, the process, and when the process started.

A process id alone is not enough: it may have been reused, it may be of another machine that shares the store, or the
process may be a zombie, for which its parent has not waited yet.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_DAY = 86400.0


def here() -> str:
    """The name of this machine."""
    return socket.gethostname() or "here"


def owner(process: int) -> str:
    """A process of this machine as a part of a file's name: its id, and its start in whole seconds."""
    return f"{process}-{_start_of(process)}"


def is_gone(process: str, start: str) -> bool:
    """Whether the process that `owner` named, on this machine, has ended; a zombie counts as ended."""
    return _start_of(int(process)) != start


@cache
def own_name(process: int) -> str:
    """The prefix of the names of a process's files: machine and process. A forked process has another prefix."""
    return f"{here()}-{owner(process)}"


def sweep(folder: Path) -> None:
    """Remove the files (`own_name`, a hyphen, a number) of ended processes from a folder.

    Files of other machines are removed when they are a day old, because it is unknown here whether their processes
    have ended. Files that cannot be removed are ignored.
    """
    with suppress(OSError):
        for file in folder.iterdir():
            with suppress(OSError):
                if _is_abandoned(file):
                    file.unlink()


def _is_abandoned(temporary: Path) -> bool:
    host, *numbers = temporary.name.rsplit("-", 3)
    if len(numbers) != 3 or not all(map(str.isdigit, numbers[:2])):
        return True
    if host != here():
        return time.time() - temporary.stat().st_mtime > _DAY
    return is_gone(numbers[0], numbers[1])


def _start_of(process: int) -> str:
    """The start of a process in whole seconds; empty if there is none, or it is a zombie."""
    import psutil

    try:
        there = psutil.Process(process)
        return "" if there.status() == psutil.STATUS_ZOMBIE else str(int(there.create_time()))
    except psutil.Error:
        return ""
