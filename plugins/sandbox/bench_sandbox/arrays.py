"""Transfer arrays: to a restricted process as Arrow IPC in read-only shared memory, from it as validated bytes.

Bytes written by a restricted process are never passed to Arrow's reader, which is C++ code that trusts its input. They
come with a table of types and shapes, and both are validated here.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import re
import tempfile
import time
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bench_sandbox.errors import MalformedError

__all__ = ["Arrays", "Blob", "checked", "mapped", "packed", "table_of", "unpacked"]

Arrays = Mapping[str, NDArray[Any]]

_TYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248])")
_MOST_ARRAYS, _MOST_DIMENSIONS, _ALIGNED = 64, 3, 64
_SEAL_SECONDS = 30.0


class Blob:
    """Bytes in an anonymous file in memory, which is closed when the object is deleted.

    Attributes:
        file: its file descriptor.
        table: array name → type and shape; empty if it holds plain bytes.
    """

    def __init__(self, table: Mapping[str, Any] | None = None) -> None:
        self.table = dict(table or {})
        if hasattr(os, "memfd_create"):
            self.file = os.memfd_create("sandbox", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        else:
            with tempfile.TemporaryFile() as file:
                self.file = os.dup(file.fileno())

    def __del__(self) -> None:
        os.close(self.file)

    def seal(self) -> None:
        """Make the file read-only for all processes, where the system supports it.

        The kernel refuses while one of the file's pages is in use. Under memory pressure, the kernel itself uses pages
        for a moment to move them, so the call is repeated.

        Raises:
            OSError: the kernel refuses for another reason, or for more than 30 seconds.
        """
        if not hasattr(fcntl, "F_ADD_SEALS"):
            return
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
        until = time.monotonic() + _SEAL_SECONDS
        while True:
            try:
                fcntl.fcntl(self.file, fcntl.F_ADD_SEALS, seals)
                return
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > until:
                    raise
            time.sleep(0.02)


def packed(arrays: Mapping[str, NDArray[Any] | None]) -> Blob:
    """Write arrays as Arrow tensors to sealed memory.

    Args:
        arrays: bool, integer or float arrays of any shape, by name; None is left out.
    """
    present = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
    blob = Blob({name: (array.dtype.str, array.shape) for name, array in present.items()})
    with os.fdopen(os.dup(blob.file), "wb") as file, pa.PythonFile(file, "w") as sink:
        for array in present.values():
            held = np.ascontiguousarray(array)  # adds a dimension to scalars, as Arrow needs one
            # Arrow's tensors hold numbers only, so bool is stored as uint8.
            pa.ipc.write_tensor(pa.Tensor.from_numpy(held.view(np.uint8) if held.dtype == np.bool_ else held), sink)
            sink.write(b"\0" * (-sink.tell() % _ALIGNED))
        sink.flush()
    blob.seal()
    return blob


def unpacked(file: int, table: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays in a `Blob`, read-only and without a copy, and close the file.

    Args:
        file: its file descriptor.
        table: `Blob.table`.
    """
    memory = mapped(file)
    source = pa.BufferReader(memory)
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, shape) in table.items():
        source.seek(-(-source.tell() // _ALIGNED) * _ALIGNED)
        arrays[name] = pa.ipc.read_tensor(source).to_numpy().view(np.dtype(kind)).reshape(shape)
        arrays[name].flags.writeable = False  # an empty array has no read-only memory behind it
    return arrays


def mapped(file: int) -> memoryview:
    """Map a file's bytes read-only into memory, and close the file."""
    try:
        if not os.fstat(file).st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ))
    finally:
        os.close(file)


def table_of(arrays: Mapping[str, NDArray[Any] | None]) -> tuple[dict[str, Any], list[NDArray[np.uint8]]]:
    """Return the types and shapes of arrays for a header, and their bytes in the same order for a body.

    Args:
        arrays: bool, integer or float arrays by name; None is left out.
    """
    present = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
    held = [np.ascontiguousarray(array) for array in present.values()]
    table = {name: [array.dtype.str, list(array.shape)] for name, array in present.items()}
    return table, [array.reshape(-1).view(np.uint8) for array in held]


def checked(table: Any, body: bytearray) -> dict[str, NDArray[Any]]:
    """Read arrays in the form of `table_of` from an untrusted table and untrusted bytes.

    Raises:
        MalformedError: the table is malformed, a type is not numeric, a shape is invalid, or the number of bytes does
            not match.
    """
    arrays: dict[str, NDArray[Any]] = {}
    at = 0
    if not isinstance(table, dict) or len(table) > _MOST_ARRAYS:
        raise MalformedError("it sent no table of arrays")
    for name, entry in table.items():
        kind, shape = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        if not isinstance(kind, str) or not _TYPE.fullmatch(kind):
            raise MalformedError(f"it sent an array {name[:40]!r} that does not hold numbers")
        if (
            not isinstance(shape, list)
            or len(shape) > _MOST_DIMENSIONS
            or not all(type(length) is int and 0 <= length < 2**40 for length in shape)
        ):
            raise MalformedError(f"it sent an array {name[:40]!r} of an invalid shape")
        dtype, count = np.dtype(kind), prod(shape)
        if at + count * dtype.itemsize > len(body):
            raise MalformedError(f"it sent fewer bytes than the array {name[:40]!r} needs")
        arrays[name] = np.frombuffer(body, dtype, count, at).reshape(shape)
        at += count * dtype.itemsize
    if at != len(body):
        raise MalformedError("it sent more bytes than its arrays need")
    return arrays
