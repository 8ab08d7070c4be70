"""System calls that Python has no function for."""

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
    """The C library; it keeps `errno`."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: Any) -> int:
    """A system call by its number; negative when it failed."""
    return int(libc().syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)))


def prctl(option: int, value: Any) -> int:
    """`prctl(2)`; on other systems than Linux it does nothing."""
    if sys.platform != "linux":
        return -1
    return int(libc().prctl(option, value, 0, 0, 0))


def check(result: int, what: str) -> None:
    """Raise the error of a system call that failed.

    Raises:
        OSError: ``result`` is negative.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def die_with_parent() -> None:
    """Let this process be killed when its parent is gone; on other systems than Linux it does nothing."""
    prctl(_PR_SET_PDEATHSIG, 9)


def name_process(name: str) -> None:
    """What ``ps`` and ``top`` call this process, in at most 15 letters; on other systems than Linux nothing."""
    prctl(_PR_SET_NAME, name.encode())


def threads() -> int:
    """How many threads a fork would miss; memory allocators restart theirs."""
    if sys.platform != "linux":
        return 1
    names = [Path(f"/proc/self/task/{task}/comm").read_text() for task in os.listdir("/proc/self/task")]
    return sum(not name.startswith("jemalloc") for name in names)
