"""Limit every download: its total time, the time a server may send nothing, and the number of bytes.

The openml package, requests and the MinIO client have different time-outs or none, and none of them stops a response
that trickles or never ends. All of them read from a socket's file object in the calling thread, so the limits are
enforced there, for threads that are within `limited`.
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
    """Limits of a download.

    Attributes:
        seconds: total time of all requests of the download.
        silence: seconds that a server may send nothing or be unreachable.
        most: bytes that may be received over the network, and that a file in an archive may unpack to.
    """

    seconds: float = 3600.0
    silence: float = 60.0
    most: int = 2**32


LIMITS = Limits()


class LimitError(OSError):
    """A server is too slow, sends nothing for too long, or sends too many bytes."""


@dataclass
class Guard:
    """A download in progress.

    Attributes:
        limits: its limits.
        until: time on the monotonic clock at which it must end.
        received: bytes received so far.
        failure: the limit that was exceeded, as text; empty if none was.
    """

    limits: Limits
    until: float
    received: int = 0
    failure: str = ""

    def before(self, asked: socket.socket) -> None:
        """Check the limits and set the socket's time-out before a read.

        Raises:
            LimitError: a limit was exceeded.
        """
        left = self.until - time.monotonic()
        if left <= 0:
            self.failure = self.failure or f"it took longer than {self.limits.seconds:g} s"
        if self.failure:  # a retry fails at once
            raise LimitError(self.failure)
        asked.settimeout(min(self.limits.silence, left))

    def after(self, count: int | None) -> None:
        """Count the bytes of a read.

        Raises:
            LimitError: more bytes were received than the limit.
        """
        self.received += count or 0
        if self.received > self.limits.most:
            self.failure = f"the server sent more than {self.limits.most} bytes"
            raise LimitError(self.failure)

    def silent(self) -> LimitError:
        """Record that a read timed out, and return the error to raise."""
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
    """Enforce the limits in this thread, for every library; `Guard.failure` names the limit that was exceeded.

    While any thread is in such a block, replacements of `socket.SocketIO.readinto` and of
    `requests.adapters.HTTPAdapter.send` are installed. They change nothing in other threads.
    """
    before = getattr(_THREAD, "guard", None)
    guard = Guard(LIMITS, time.monotonic() + LIMITS.seconds)
    _replace(1)
    _THREAD.guard = guard
    try:
        yield guard
    finally:
        _THREAD.guard = before
        _replace(-1)


_LOCK = threading.Lock()
_WITHIN = 0
_SEND: Any = None


def _replace(more: int) -> None:
    """Count the blocks of `limited`; replace the two methods in the first, and restore them after the last."""
    import requests.adapters

    global _SEND, _WITHIN
    adapter = requests.adapters.HTTPAdapter
    with _LOCK:
        if not _WITHIN:
            _SEND = adapter.send
            socket.SocketIO.readinto = _readinto  # type: ignore[assignment, method-assign]
            adapter.send = _send  # type: ignore[method-assign]
        _WITHIN += more
        if not _WITHIN:
            socket.SocketIO.readinto = _READ  # type: ignore[method-assign]
            adapter.send = _SEND  # type: ignore[method-assign]


def _send(self: Any, request: Any, stream: bool = False, timeout: Any = None, *more: Any, **named: Any) -> Any:
    """Send a request, with a time-out for the connection if the thread is under limits."""
    guard: Guard | None = getattr(_THREAD, "guard", None)
    if guard is not None and timeout is None:
        timeout = guard.limits.silence
    return _SEND(self, request, stream, timeout, *more, **named)
