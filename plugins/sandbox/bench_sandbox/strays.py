"""Find and end orphaned processes.

On Linux, a process can adopt the orphaned processes of its descendants (`prctl(2)`, child subreaper), so that processes
in a new session, or whose parent has exited, are found as well. On other systems, only children and their
descendants are found.
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

__all__ = ["adopt_orphans", "adopting_orphans", "children", "end_child", "end_group", "end_strays"]

_PATIENCE = 10.0


def end_strays(kept: Collection[int] = (), *, within: Collection[int] = ()) -> int:
    """Kill the children of this process with all their descendants, and wait until they are gone.

    Args:
        kept: process ids of descendants to keep, with their descendants.
        within: process ids of children to keep, whose descendants are killed.

    Returns:
        The number of processes that were killed.
    """
    ended: set[int] = set()
    seen: set[int] | None = None
    until = time.monotonic() + _PATIENCE
    # A process may start another one before it is killed. If one exits while the tree is read, its children may be
    # adopted by a process that was read before. So repeat until two readings in a row find the same and no stray.
    while time.monotonic() < until:
        before, seen = seen, set()
        left = list(_strays(os.getpid(), kept, within, seen))
        if not left and seen == before:
            break
        for process in left:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
                ended.add(process)
        for process in left:
            with suppress(OSError):  # fails for children of other processes
                os.waitpid(process, os.WNOHANG)
        if left:
            time.sleep(0.001)
    return len(ended)


def children(process: int) -> set[int]:
    """Return the process ids of a process's children, from the kernel's list where it exists, which is much faster."""
    try:
        lists = [Path(f"/proc/{process}/task/{task}/children") for task in os.listdir(f"/proc/{process}/task")]
        return {int(number) for path in lists for number in path.read_text().split()}
    except OSError:
        with suppress(psutil.Error):
            return {child.pid for child in psutil.Process(process).children()}
        return set()


def _strays(parent: int, kept: Collection[int], within: Collection[int], seen: set[int]) -> Iterator[int]:
    """Yield the descendants to end; zombies only if they are children of this process, which must reap them.

    All children that are found are added to ``seen``.
    """
    for child in children(parent):
        seen.add(child)
        if child in kept:
            continue
        yield from _strays(child, kept, within, seen)
        if child not in within and (parent == os.getpid() or _is_alive(child)):
            yield child


def _is_alive(process: int) -> bool:
    with suppress(OSError):  # much faster than psutil, where there is a /proc; proc(5): the state follows the name
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def adopt_orphans() -> None:
    """Adopt the orphaned processes of all descendants from now on; on Linux only."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Adopt the orphaned processes of all descendants within a ``with`` statement; on Linux only."""
    before = _adopts()
    adopt_orphans()
    try:
        yield
    finally:
        if not before:
            prctl(PR_SET_CHILD_SUBREAPER, 0)


def end_child(process: int) -> None:
    """Kill a child of this process, and wait until it is gone; do nothing if it is no child."""
    with suppress(OSError):
        if process and os.waitpid(process, os.WNOHANG) == (0, 0):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def end_group(process: int) -> None:
    """Kill the remaining processes of the group that a process led."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process, signal.SIGKILL)


def _adopts() -> bool:
    if sys.platform != "linux":
        return False
    flag = ctypes.c_int(0)
    libc().prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(flag), 0, 0, 0)
    return bool(flag.value)
