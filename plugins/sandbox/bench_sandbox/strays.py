"""Processes that others leave behind: found and ended.

On Linux a process can become the parent of whatever its descendants leave (`prctl(2)`, child subreaper): then a process
that was started in a session of its own, or by a child that is gone, is found as well. Elsewhere children and their
children are found.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from bench_sandbox.system import PR_GET_CHILD_SUBREAPER, PR_SET_CHILD_SUBREAPER, libc, prctl

__all__ = ["adopt_orphans", "adopting_orphans", "children", "end_group", "end_strays"]

_PATIENCE = 10.0


def end_strays(kept: Collection[int] = (), *, within: Collection[int] = ()) -> int:
    """Kill the children of this process with all their descendants, and wait until they are gone.

    Args:
        kept: numbers of descendants that are left alone, with their own descendants.
        within: numbers of children that go on, without their descendants.

    Returns:
        How many there were.
    """
    ended: set[int] = set()
    until = time.monotonic() + _PATIENCE
    # A process may start another one while it is being killed: look again until there is none.
    while (left := list(_strays(os.getpid(), kept, within))) and time.monotonic() < until:
        for process in left:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
                ended.add(process)
        for process in left:
            with suppress(OSError):  # a child of another process is that one's to wait for
                os.waitpid(process, os.WNOHANG)
        time.sleep(0.001)
    return len(ended)


def children(process: int) -> set[int]:
    """The numbers of a process's children. The kernel's list is far quicker than asking all processes."""
    try:
        lists = [Path(f"/proc/{process}/task/{task}/children") for task in os.listdir(f"/proc/{process}/task")]
        return {int(number) for path in lists for number in path.read_text().split()}
    except OSError:
        with suppress(psutil.Error):
            return {child.pid for child in psutil.Process(process).children()}
        return set()


def _strays(parent: int, kept: Collection[int], within: Collection[int]) -> Iterator[int]:
    """Descendants that are to be ended. Dead ones count where they are this process's own children."""
    for child in children(parent):
        if child in kept:
            continue
        yield from _strays(child, kept, within)
        if child not in within and (parent == os.getpid() or _is_alive(child)):
            yield child


def _is_alive(process: int) -> bool:
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def adopt_orphans() -> None:
    """Be the parent of what descendants leave; on Linux, elsewhere nothing."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be the parent of what descendants leave, for a while; on Linux, elsewhere nothing."""
    before = _adopts()
    adopt_orphans()
    try:
        yield
    finally:
        if not before:
            prctl(PR_SET_CHILD_SUBREAPER, 0)


def end_group(process: int) -> None:
    """Kill what is left of the process group that a dead process led."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process, signal.SIGKILL)


def _adopts() -> bool:
    if sys.platform != "linux":
        return False
    flag = ctypes.c_int(0)
    libc().prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(flag), 0, 0, 0)
    return bool(flag.value)
