"""Limits of every download: how long it may take, how long a server may be silent, how much it may send.

The openml package, requests and the MinIO client each have time-outs of their own, or none, and none of them ends an
answer that trickles or never ends. All of them read from a socket's file in the thread that asked: there the limits
are kept, for that thread and as long as it is within `limited`.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = ["LIMITS", "LimitError", "Limits", "limited"]


@dataclass(frozen=True)
class Limits:
    """What a download may take.

    Attributes:
        seconds: from its beginning to its end, everything that it asks for together.
        silence: seconds that a server may send nothing, or not be reached.
        most: bytes that may be sent, as they come over the line; and that a file in an archive may unpack to.
    """

    seconds: float = 3600.0
    silence: float = 60.0
    most: int = 2**32


LIMITS = Limits()


class LimitError(OSError):
    """A server is too slow, silent, or sends too much."""


@dataclass
class Guard:
    """A download in progress.

    Attributes:
        failure: what went wrong; empty as long as nothing did.
    """

    limits: Limits
    until: float
    received: int = 0
    failure: str = ""

    def before(self, asked: socket.socket) -> None:
        """Something is about to be read."""
        left = self.until - time.monotonic()
        if left <= 0:
            self.failure = self.failure or f"it took longer than {self.limits.seconds:g} s"
        if self.failure:  # who tries again is told at once
            raise LimitError(self.failure)
        asked.settimeout(min(self.limits.silence, left))

    def after(self, count: int | None) -> None:
        """So many bytes were read."""
        self.received += count or 0
        if self.received > self.limits.most:
            self.failure = f"it sends more than {self.limits.most} bytes"
            raise LimitError(self.failure)

    def silent(self) -> LimitError:
        """Nothing was read for too long."""
        late = time.monotonic() >= self.until
        what = f"it took longer than {self.limits.seconds:g} s" if late else ""
        self.failure = what or f"the server sent nothing for {self.limits.silence:g} s"
        return LimitError(self.failure)


_THREAD = threading.local()
_READ = socket.SocketIO.readinto


def _readinto(self: Any, buffer: Any) -> int | None:
    guard: Guard | None = getattr(_THREAD, "guard", None)
    if guard is None:
        return _READ(self, buffer)
    guard.before(self._sock)
    try:
        count = _READ(self, buffer)
    except TimeoutError:
        raise guard.silent() from None
    guard.after(count)
    return count


@contextmanager
def limited() -> Iterator[Guard]:
    """Keep the limits in this thread, whatever library asks; see `Guard.failure` for what was not kept."""
    import requests.adapters

    if socket.SocketIO.readinto is not _readinto:
        socket.SocketIO.readinto = _readinto  # type: ignore[assignment, method-assign]
    if requests.adapters.HTTPAdapter.send is not _send:
        global _SEND
        _SEND = requests.adapters.HTTPAdapter.send
        requests.adapters.HTTPAdapter.send = _send  # type: ignore[method-assign]
    before = getattr(_THREAD, "guard", None)
    guard = Guard(LIMITS, time.monotonic() + LIMITS.seconds)
    _THREAD.guard = guard
    try:
        yield guard
    finally:
        _THREAD.guard = before


_SEND: Any = None


def _send(self: Any, request: Any, stream: bool = False, timeout: Any = None, *more: Any, **named: Any) -> Any:
    """A request of a thread under limits has a time-out for being connected."""
    guard: Guard | None = getattr(_THREAD, "guard", None)
    if guard is not None and timeout is None:
        timeout = guard.limits.silence
    return _SEND(self, request, stream, timeout, *more, **named)
