"""Read-only arrays for plugins, and checksums that show whether they were changed.

The read-only flag of a NumPy array can be reset by anyone who has the array, and the array can be written through its
``base``. An array over a ``bytes`` object is safe: NumPy refuses to reset its flag, and it has no writable base. It can
still be changed without NumPy (``ctypes``), so arrays that several trials share are also hashed after each trial.
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
"""The message for authors whose plugin writes in place."""

_D = TypeVar("_D", bound=np.generic)


def frozen(values: NDArray[_D]) -> NDArray[_D]:
    """Return the values in a C-contiguous array over a ``bytes`` object, which NumPy cannot write to.

    It is a copy, unless the array is of this kind already.
    """
    exact = np.asarray(values)
    return exact if is_frozen(exact) else np.ndarray(exact.shape, exact.dtype, exact.tobytes())


def is_frozen(array: NDArray[Any]) -> bool:
    """Whether an array was made by `frozen`."""
    base: Any = array.base
    return isinstance(base, bytes) and len(base) == array.nbytes and array.flags.c_contiguous


def locked(values: NDArray[_D]) -> NDArray[_D]:
    """Return a view flagged as read-only. It prevents accidents only: the flag can be reset."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def checksums(arrays: Mapping[str, NDArray[Any] | None]) -> dict[str, int]:
    """CRC-32 of each array's memory, by name; arrays that are None are left out.

    A change within 32 bits is always detected; any other change is missed with probability 2 ** -32. CRC-32 reads
    2–4 GB/s on one core (SHA-256: 1, BLAKE2b: 0.6). Contiguous arrays are not copied.
    """
    return {
        name: crc32(np.ascontiguousarray(array))  # type: ignore[arg-type, unused-ignore]
        for name, array in arrays.items()
        if array is not None
    }


def is_write_refusal(error: object) -> bool:
    """Whether an error or message is NumPy's, Cython's or Numba's refusal to write to a read-only array.

    An error of the operating system, such as ``[Errno 30] Read-only file system``, does not count.
    """
    message = str(error).lower()
    return ("read-only" in message or "readonly array" in message) and "[errno" not in message
