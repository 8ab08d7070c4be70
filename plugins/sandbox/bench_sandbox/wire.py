"""Messages between two processes: a JSON header, bytes, and open files.

Messages of a restricted process are untrusted: every length is checked before anything is read, and the header must be
a JSON object.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench_sandbox.errors import EndedError, MalformedError

__all__ = ["Message", "receive", "send", "show_sender"]

_FRAME = struct.Struct("!IQ")
_CREDENTIALS = struct.Struct("3i")
_MOST_HEADER = 2**26
_MOST_FILES = 4
_CHUNK = 2**20


@dataclass
class Message:
    """A received message.

    Attributes:
        header: a JSON object.
        body: the bytes; empty if they were written to a file.
        files: file descriptors that came with it.
        process: id of the sending process, as the kernel reports it; 0 if it is unknown.
    """

    header: dict[str, Any]
    body: bytearray = field(default_factory=bytearray)
    files: list[int] = field(default_factory=list)
    process: int = 0


def send(to: socket.socket, header: dict[str, Any], body: Sequence[Any] = (), files: Sequence[int] = ()) -> None:
    """Send a header, the bytes of some buffers, and open files.

    Raises:
        EndedError: the other end is closed.
        TimeoutError: the socket's time-out was exceeded.
        TypeError, ValueError: the header is not JSON; nothing was sent.
    """
    text = json.dumps(header).encode()
    start = _FRAME.pack(len(text), sum(memoryview(part).nbytes for part in body)) + text
    try:
        sent = socket.send_fds(to, [start], files) if files else 0
        to.sendall(start[sent:])
        for part in body:
            to.sendall(part)
    except TimeoutError:
        raise
    except OSError:
        raise EndedError from None


def receive(source: socket.socket, most: int = 0, *, files: bool = False, into: int | None = None) -> Message:
    """Receive a message.

    Args:
        source: the socket, whose time-out limits the time for the complete message.
        most: largest size of the body, in bytes.
        files: whether open files may come with it.
        into: descriptor of a file to write the body to; by default it is kept in memory.

    Raises:
        EndedError: the other end is closed.
        MalformedError: the message is longer than allowed, or its header is not a JSON object.
        TimeoutError: the time-out was exceeded.
    """
    seconds = source.gettimeout()
    until = None if seconds is None else time.monotonic() + seconds
    try:
        first, numbers, process = _first(source, until) if files else (_exactly(source, _FRAME.size, until), [], 0)
        length, size = _FRAME.unpack(first)
        if length > _MOST_HEADER or size > most:
            raise MalformedError(f"it sent a header of {length} and a body of {size} bytes, more than allowed")
        text = _exactly(source, length, until)
        body = bytearray()
        if into is None:
            body = _exactly(source, size, until)
        else:
            _copied(source, size, into, until)
    except TimeoutError:
        raise
    except OSError:
        raise EndedError from None
    try:
        header = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"its header cannot be read: {error}") from None
    if not isinstance(header, dict):
        raise MalformedError("its header is not an object")
    return Message(header, body, numbers, process)


def show_sender(source: socket.socket, on: bool) -> None:
    """Turn on or off that the kernel reports the sender of each message to a socket (`Message.process`)."""
    if hasattr(socket, "SO_PASSCRED"):
        source.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, int(on))


def _first(source: socket.socket, until: float | None) -> tuple[bytearray, list[int], int]:
    """Receive the start of a message, the file descriptors that came with it, and the sender's process id."""
    room = socket.CMSG_SPACE(4 * _MOST_FILES) + socket.CMSG_SPACE(_CREDENTIALS.size)
    data, ancillary, _, _ = source.recvmsg(_FRAME.size, room)
    numbers: list[int] = []
    process = 0
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers += struct.unpack(f"{len(content) // 4}i", content[: len(content) // 4 * 4])
        elif (level, kind) == (socket.SOL_SOCKET, getattr(socket, "SCM_CREDENTIALS", None)):
            process = _CREDENTIALS.unpack(content[: _CREDENTIALS.size])[0]
    if not data:
        raise EndedError
    return bytearray(data) + _exactly(source, _FRAME.size - len(data), until), numbers, process


def _wait(source: socket.socket, until: float | None) -> None:
    """Set the socket's time-out so that the next call waits until a time on the monotonic clock at most.

    Raises:
        TimeoutError: that time is over.
    """
    if until is not None:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        source.settimeout(left)


def _exactly(source: socket.socket, count: int, until: float | None) -> bytearray:
    """Receive exactly ``count`` bytes.

    Raises:
        EndedError: the other end was closed before.
        TimeoutError: the time is over.
    """
    read = bytearray(count)
    view, at = memoryview(read), 0
    while at < count:
        _wait(source, until)
        got = source.recv_into(view[at:])
        if not got:
            raise EndedError
        at += got
    return read


def _copied(source: socket.socket, count: int, into: int, until: float | None) -> None:
    """Receive exactly ``count`` bytes in chunks, and write them to a file. Raises as `_exactly`."""
    while count:
        _wait(source, until)
        part = source.recv(min(count, _CHUNK))
        if not part:
            raise EndedError
        count -= len(part)
        view = memoryview(part)
        while view:
            view = view[os.write(into, view) :]


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")
