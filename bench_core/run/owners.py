"""Whose a file is that a running process keeps in a store: the machine, the process, and when that started.

The number of a process alone does not tell: another process may have it by now, or one of another machine that shares
the store, or only a zombie is left, which its parent has not waited for yet.
"""

from __future__ import annotations

import socket

__all__ = ["here", "is_gone", "owner"]


def here() -> str:
    """The name of this machine."""
    return socket.gethostname() or "here"


def owner(process: int) -> str:
    """A process of this machine as a part of a file's name: its number, and when it started in whole seconds."""
    return f"{process}-{_start_of(process)}"


def is_gone(process: str, start: str) -> bool:
    """Whether the process of this machine that `owner` named is gone; a zombie is."""
    return _start_of(int(process)) != start


def _start_of(process: int) -> str:
    """When a process started, in whole seconds; empty when there is none, or only what is left of one."""
    import psutil

    try:
        there = psutil.Process(process)
        return "" if there.status() == psutil.STATUS_ZOMBIE else str(int(there.create_time()))
    except psutil.Error:
        return ""
