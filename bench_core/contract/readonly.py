"""What is handed out can only be read: arrays without a writable memory behind them, and a check that they stayed so.

A NumPy array whose flag says read-only can be made writable again by whoever holds it, or be written through its
``base``. An array over a ``bytes`` object cannot: NumPy refuses to set the flag, and there is no other base. What is
still possible is to write past NumPy (``ctypes``), so what several trials share is also hashed after each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

HOW_TO_WRITE = (
    "what the core hands out is read-only, because other trials use it too; work on a copy, such as np.array(rows.X)"
)
"""The message for the author of a plugin that writes in place."""

_D = TypeVar("_D", bound=np.generic)


def frozen(values: NDArray[_D]) -> NDArray[_D]:
    """The same values in memory that NumPy cannot write to: C-contiguous, over a ``bytes`` object.

    A copy, unless it is such an array already.
    """
    exact = np.asarray(values)
    return exact if is_frozen(exact) else np.ndarray(exact.shape, exact.dtype, exact.tobytes())


def is_frozen(array: NDArray[Any]) -> bool:
    """Whether an array is one that `frozen` gave."""
    base: Any = array.base
    return isinstance(base, bytes) and len(base) == array.nbytes and array.flags.c_contiguous


def locked(values: NDArray[_D]) -> NDArray[_D]:
    """A view with the flag read-only: it reports a mistake, and does not stop whoever sets the flag again."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def checksums(arrays: Mapping[str, NDArray[Any] | None]) -> dict[str, int]:
    """CRC-32 of each array's memory, by name; arrays that are None are left out.

    Any change within 32 bits is noticed for certain, any other but for one in four thousand million. It reads
    2–4 GB/s on one core where SHA-256 reads 1 and BLAKE2b 0.6, and copies nothing that is contiguous.
    """
    return {
        name: crc32(np.ascontiguousarray(array))  # type: ignore[arg-type, unused-ignore]
        for name, array in arrays.items()
        if array is not None
    }


def is_write_refusal(error: object) -> bool:
    """Whether an error, or its message, is NumPy's, Cython's or Numba's refusal to write to a read-only array."""
    message = str(error).lower()
    return "read-only" in message or "readonly array" in message
