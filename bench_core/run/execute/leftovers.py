"""Processes that a trial leaves behind: found and ended, so that none outlives its trial.

On Linux a process can ask to become the parent of whatever its descendants leave (`prctl(2)`, child subreaper): then
one that was started in a session of its own, or by a child that is gone, is found as well. Elsewhere children,
their children, and a dead worker's process group are found, not one that left all of them.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench_core.run.execute.sandbox import libc

__all__ = ["Leftovers", "adopt_orphans", "adopting_orphans", "die_with_parent", "end_group", "ended", "name_process"]

_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 1, 15, 36, 37


class Leftovers:
    """Ends the children of this process that were not there when this was made.

    Args:
        spared: whether a child, by its number, is to be left alone all the same.
    """

    def __init__(self, spared: Callable[[int], bool] = lambda process: False) -> None:
        import psutil

        self._here = psutil.Process()
        self._before = set(self._here.children(recursive=True))
        self._spared = spared

    def end(self) -> int:
        """Kill them and theirs, and wait until they are gone; how many there were."""
        if not _has_children():
            return 0
        children = _children()
        if children is not None and all(map(self._spared, children)):
            return 0
        import psutil

        ended = 0
        # A process may start another one while it is being killed: look again until there is none.
        for _ in range(20):
            left = [p for p in self._here.children() if p not in self._before and not self._spared(p.pid)]
            if not left:
                break
            family = list(left)
            for process in left:
                with suppress(psutil.Error):
                    family += process.children(recursive=True)
            for process in family:
                with suppress(psutil.Error):
                    process.kill()
            ended += len(psutil.wait_procs(family, timeout=5)[0])
        return ended


def _has_children() -> bool:
    """Whether this process has any child: one system call, where there is one for it."""
    if not hasattr(os, "waitid"):
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> set[int] | None:
    """The children of this process, where the kernel lists them: that is quicker than to ask every process."""
    try:
        lists = [Path(f"/proc/self/task/{task}/children") for task in os.listdir("/proc/self/task")]
        return {int(number) for children in lists for number in children.read_text().split()}
    except OSError:
        return None


def adopt_orphans() -> None:
    """Be the parent of what descendants leave; on Linux, elsewhere nothing."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be the parent of what descendants leave, for a while; on Linux, elsewhere nothing."""
    before = _adopts()
    adopt_orphans()
    try:
        yield
    finally:
        if not before:
            _prctl(_PR_SET_CHILD_SUBREAPER, 0)


def die_with_parent() -> None:
    """Let this process be killed when the one that started it is gone; on Linux, elsewhere nothing."""
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def name_process(name: str) -> None:
    """What ``ps`` and ``top`` call this process, in at most 15 letters; on Linux, elsewhere nothing."""
    _prctl(_PR_SET_NAME, name.encode())


def ended(process: int, patience: float) -> int:
    """The status of a child that ends within some seconds, or is killed then."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        gone, status = os.waitpid(process, os.WNOHANG)
        if gone:
            return status
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1]


def end_group(process: int) -> None:
    """Kill what is left of the process group that a dead worker led."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process, signal.SIGKILL)


def _prctl(option: int, value: int | bytes) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            libc().prctl(option, value, 0, 0, 0)


def _adopts() -> bool:
    if sys.platform != "linux":
        return False
    flag = ctypes.c_int(0)
    with suppress(OSError, AttributeError):
        libc().prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(flag), 0, 0, 0)
    return bool(flag.value)
