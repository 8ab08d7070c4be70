"""What the judge and a method's processes say to each other: a short header in JSON, then raw bytes.

To a method's process go plain values, and arrays in sealed memory that it can only read. What comes back is read as
a stranger's: nothing is unpickled, every length is bounded, every array has a plain type and the bytes that its shape
says.
"""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import re
import socket
import struct
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EndedError", "MalformedError", "Packed", "arrays_from", "as_bytes", "ask", "pack", "receive", "send", "unpack",
]  # fmt: skip

_FRAME = struct.Struct("!IQ")
_MOST_HEADER = 2**26
_ALIGNED = 64
_PLAIN = "plain"
_TYPE = re.compile(r"[<>|][biuf][0-9]{1,2}")
_MOST_FDS = 4
_SEAL_SECONDS = 30.0


class EndedError(Exception):
    """The other side is gone."""


class MalformedError(Exception):
    """The other side said what it must not."""


def send(to: socket.socket, header: Mapping[str, Any], body: Sequence[Any] = (), fds: Sequence[int] = ()) -> None:
    """Send a header, the bytes of some buffers, and open files.

    Raises:
        EndedError: nobody is there.
    """
    text = json.dumps(header).encode()
    start = _FRAME.pack(len(text), sum(memoryview(part).nbytes for part in body)) + text
    try:
        sent = socket.send_fds(to, [start], fds) if fds else 0
        to.sendall(start[sent:])
        for part in body:
            to.sendall(part)
    except TimeoutError:
        raise
    except OSError:
        raise EndedError from None


def ask(
    there: socket.socket, header: Mapping[str, Any], seconds: float | None, fds: Iterable[int] = (), most: int = 0
) -> tuple[dict[str, Any], bytearray]:
    """Send a header and open files, and hear the answer: its header, and a body of at most so many bytes.

    Raises:
        EndedError, MalformedError, TimeoutError: nobody is there, or talks nonsense, or takes longer than the seconds.
    """
    there.settimeout(seconds)
    send(there, header, fds=list(fds))
    answer, body, _ = receive(there, most)
    return answer, body


def receive(source: socket.socket, most: int, *, files: bool = False) -> tuple[dict[str, Any], bytearray, list[int]]:
    """A header, its body, and the open files that came with it.

    Args:
        source: within its time-out.
        most: bytes that the body may have.
        files: whether files may come.

    Raises:
        EndedError: nobody is there any more.
        MalformedError: too long, or the header is no JSON object.
        TimeoutError: it took too long.
    """
    try:
        if files:
            first, fds, _, _ = socket.recv_fds(source, _FRAME.size, _MOST_FDS)
            first += bytes(_exactly(source, _FRAME.size - len(first))) if first else b""
        else:
            first, fds = bytes(_exactly(source, _FRAME.size)), []
        if not first:
            raise EndedError
        length, size = _FRAME.unpack(first)
        if length > _MOST_HEADER or size > most:
            raise MalformedError(f"{length} and {size} bytes are more than it may say")
        text, body = _exactly(source, length), _exactly(source, size)
    except TimeoutError:
        raise
    except OSError:
        raise EndedError from None
    try:
        header = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"its header cannot be read: {error}") from None
    if not isinstance(header, dict):
        raise MalformedError("its header is no object")
    return header, body, list(fds)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _exactly(source: socket.socket, count: int) -> bytearray:
    """So many bytes.

    Raises:
        EndedError: there are not so many.
    """
    read = bytearray(count)
    view, at = memoryview(read), 0
    while at < count:
        got = source.recv_into(view[at:])
        if not got:
            raise EndedError
        at += got
    return read


def as_bytes(arrays: Mapping[str, NDArray[Any] | None]) -> tuple[dict[str, Any], list[Any]]:
    """Types and shapes of arrays for a header, and their bytes for a body, in one order."""
    present = {name: array for name, array in arrays.items() if array is not None}
    held = {name: np.ascontiguousarray(array) for name, array in present.items()}
    # 0-d arrays become 1-d in there: their own shape is what is said.
    table = {name: [array.dtype.str, list(array.shape)] for name, array in present.items()}
    return table, [array.reshape(-1).view(np.uint8) for array in held.values()]


def arrays_from(table: Any, body: bytearray, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Arrays as `as_bytes` gave them, by name.

    Raises:
        MalformedError: another name, type or shape than an array can have, or another number of bytes.
    """
    arrays: dict[str, NDArray[Any]] = {}
    at = 0
    for name, entry in table.items() if isinstance(table, dict) else [("", None)]:
        if name not in names or not (isinstance(entry, list) and len(entry) == 2):
            raise MalformedError(f"it gave an array {name[:40]!r}")
        kind, shape = entry
        if not isinstance(kind, str) or not _TYPE.fullmatch(kind) or not isinstance(shape, list) or len(shape) > 3:
            raise MalformedError(f"it gave no array of numbers as {name!r}")
        if not all(type(length) is int and 0 <= length < 2**40 for length in shape):
            raise MalformedError(f"it gave a shape that {name!r} cannot have")
        try:
            dtype = np.dtype(kind)
        except TypeError:
            raise MalformedError(f"it gave a type that {name!r} cannot have") from None
        count = int(np.prod([int(length) for length in shape], dtype=object))
        if at + count * dtype.itemsize > len(body):
            raise MalformedError(f"it gave fewer bytes than {name!r} has")
        arrays[name] = np.frombuffer(body, dtype, count, at).reshape(shape)
        at += count * dtype.itemsize
    if at != len(body):
        raise MalformedError("it gave more bytes than its arrays have")
    return arrays


@dataclass(frozen=True)
class Packed:
    """Plain values and arrays in a file without a name that nobody can write to.

    Attributes:
        fd: the open file; closed when this is forgotten.
        table: array name → type, shape, offset.
    """

    fd: int
    table: dict[str, Any]

    def __del__(self) -> None:
        os.close(self.fd)


def pack(plain: Any, arrays: Mapping[str, Any]) -> Packed:
    """Put plain values and arrays (None is left out) into sealed memory; where there is none, into a nameless file."""
    text = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    parts = {_PLAIN: text} | {n: np.ascontiguousarray(a) for n, a in arrays.items() if a is not None}
    table: dict[str, Any] = {}
    size = 0
    for name, array in parts.items():
        table[name] = [array.dtype.str, list(array.shape), size]
        size += -(-array.nbytes // _ALIGNED) * _ALIGNED
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("bench", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        _fill(fd, size, parts, table)
        packed = Packed(fd, table)
        _seal(fd)
        return packed
    with tempfile.NamedTemporaryFile() as file:
        _fill(file.fileno(), size, parts, table)
        return Packed(os.open(file.name, os.O_RDONLY), table)


def _seal(fd: int) -> None:
    """Let nobody write to a memory file again.

    The kernel refuses while something holds one of its pages, as its own moving of pages does for a moment under
    pressure (it waits 0.15 s by itself): then it is asked again, for `_SEAL_SECONDS` at most.
    """
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
    until = time.monotonic() + _SEAL_SECONDS
    while True:
        try:
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                raise
        time.sleep(0.02)


def _fill(fd: int, size: int, parts: Mapping[str, NDArray[Any]], table: Mapping[str, Any]) -> None:
    os.truncate(fd, max(size, 1))
    for name, array in parts.items():
        rest, at = memoryview(array.reshape(-1).view(np.uint8).data), table[name][2]
        while rest:
            written = os.pwrite(fd, rest[: 2**30], at)
            rest, at = rest[written:], at + written


def unpack(fd: int, table: Mapping[str, Any]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """What was packed: the plain values, and the arrays, read-only; the file is closed."""
    try:
        memory = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    finally:
        os.close(fd)
    arrays = {
        name: np.ndarray(tuple(shape), np.dtype(kind), memory, offset) for name, (kind, shape, offset) in table.items()
    }
    return json.loads(arrays.pop(_PLAIN).tobytes()), arrays
