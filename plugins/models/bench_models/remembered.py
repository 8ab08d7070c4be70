"""Results that are computed once: a policy is asked about a row with the same known values several times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FieldsOnly", "RememberedRows", "row_keys"]

_ENTRY = 256
"""Size of an entry besides the numbers of its result, in bytes: its key, the objects, its place in the index."""


def row_keys(*parts: NDArray[Any]) -> list[bytes]:
    """Return a digest of each row, the same for rows with equal bits: 16 bytes.

    Args:
        parts: arrays (rows, columns) that together make a row.
    """
    rows = [np.ascontiguousarray(part).view(np.uint8) for part in parts]
    return [blake2b(row.tobytes(), digest_size=16).digest() for row in np.concatenate(rows, axis=1)]


class FieldsOnly:
    """A dataclass whose copies and pickles hold its fields only: they compute cached properties again."""

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


class RememberedRows:
    """Results of rows by key. The first ones are kept, up to a maximum; later ones are computed again.

    Args:
        most: limit on the memory for results, in bytes.
    """

    def __init__(self, most: int) -> None:
        self._results: dict[bytes, NDArray[Any]] = {}
        self._left = most

    def of(self, keys: list[bytes], compute: Callable[[NDArray[np.int64]], NDArray[Any]]) -> NDArray[Any]:
        """Return the results of rows: (rows, width).

        Args:
            keys: of each row, see `row_keys`.
            compute: returns the results, (n, width), of some rows, int64 (n,). Rows with equal keys must have equal
                results.
        """
        new = [place for place, key in enumerate(keys) if key not in self._results]
        computed = compute(np.array(new, dtype=np.int64))
        results = np.empty((len(keys), computed.shape[1]), computed.dtype)
        results[new] = computed
        size = results.shape[1] * results.itemsize + _ENTRY
        for place, key in enumerate(keys):
            if key in self._results:
                results[place] = self._results[key]
            elif size <= self._left:
                self._results[key] = results[place].copy()
                self._left -= size
        return results
