"""The owner of a file that a running process keeps in a store: the machine, the process, and its start.

The number of a process is not enough: another process may have got it since, a process of another machine that shares
the store may have it, or the process may be a zombie, which its parent has not waited for yet.
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
    """A process of this machine as a part of a file's name: its number, and when it started in whole seconds."""
    return f"{process}-{_start_of(process)}"


def is_gone(process: str, start: str) -> bool:
    """Whether the process of this machine that `owner` named is gone; a zombie is."""
    return _start_of(int(process)) != start


@cache
def own_name(process: int) -> str:
    """How what belongs to a process of this machine is called: machine and process; a fork has a name of its own."""
    return f"{here()}-{owner(process)}"


def sweep(folder: Path) -> None:
    """Remove what is in a folder under names (`own_name`, a hyphen, a number) of processes that are gone.

    What belongs to another machine is removed when it is a day old: nobody here knows whether it is still written to.
    What cannot be removed stays.
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
    """When a process started, in whole seconds; empty when there is none, or it is a zombie."""
    import psutil

    try:
        there = psutil.Process(process)
        return "" if there.status() == psutil.STATUS_ZOMBIE else str(int(there.create_time()))
    except psutil.Error:
        return ""
