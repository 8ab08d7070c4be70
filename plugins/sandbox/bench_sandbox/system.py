"""System calls without a function in Python's standard library."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "PR_GET_CHILD_SUBREAPER", "PR_SET_CHILD_SUBREAPER", "PR_SET_NO_NEW_PRIVS", "PR_SET_SECCOMP", "check",
    "die_with_parent", "libc", "name_process", "prctl", "syscall", "threads",
]  # fmt: skip

PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 22, 36, 37, 38
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15


@cache
def libc() -> ctypes.CDLL:
    """Return the C library, with access to `errno`."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: Any) -> int:
    """Call a system call by its number, and return its result, which is negative if it failed."""
    return int(libc().syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)))


def prctl(option: int, value: Any) -> int:
    """Call `prctl(2)`, and return its result; -1 on other systems than Linux."""
    if sys.platform != "linux":
        return -1
    return int(libc().prctl(option, value, 0, 0, 0))


def check(result: int, what: str) -> None:
    """Raise an error if a system call failed.

    Args:
        result: its result.
        what: its name, for the message.

    Raises:
        OSError: ``result`` is negative.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends; on Linux only."""
    prctl(_PR_SET_PDEATHSIG, 9)


def name_process(name: str) -> None:
    """Set the name of this process in ``ps`` and ``top``, at most 15 characters; on Linux only."""
    prctl(_PR_SET_NAME, name.encode())


def threads() -> int:
    """Return the number of threads of this process, without those of jemalloc, which restarts them after a fork."""
    if sys.platform != "linux":
        return 1
    names = [Path(f"/proc/self/task/{task}/comm").read_text() for task in os.listdir("/proc/self/task")]
    return sum(not name.startswith("jemalloc") for name in names)
