"""Random orders of rows, from raw words of a bit generator, so that they do not depend on a library's shuffle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shuffler", "shuffled"]


class Shuffler:
    """Random permutations from the raw words of a bit generator: Fisher and Yates's shuffle.

    A bounded integer is the lowest bits of a 32-bit word, drawn again while it is too large. The permutations equal
    those of `numpy.random.Generator.permutation` in NumPy 1.17 to 2.4; NumPy does not promise to keep them.

    Args:
        bits: the source of the words; each 64-bit word gives two of 32 bits, the lower half first.
    """

    def __init__(self, bits: np.random.BitGenerator) -> None:
        self._words = _words(bits)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A random order of ``count`` items; int64 (count,)."""
        order = list(range(count))
        words = self._words
        for last in range(count - 1, 0, -1):
            mask = (1 << last.bit_length()) - 1
            place = next(words) & mask
            while place > last:
                place = next(words) & mask
            order[last], order[place] = order[place], order[last]
        return np.array(order, dtype=np.int64)


_AT_ONCE = 128


def _words(bits: np.random.BitGenerator) -> Iterator[int]:
    """The 32-bit words of a generator, one after the other. Several 64-bit words are drawn at once."""
    while True:
        yield from np.asarray(bits.random_raw(_AT_ONCE), dtype="<u8").view("<u4").tolist()


def shuffled(
    bits: np.random.BitGenerator, count: int, query: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """A random order of rows; the rows of a query stay next to each other, and the queries get new ids.

    Args:
        bits: the source of the words; ``count`` are drawn.
        count: how many rows.
        query: int64 (rows,) query ids, or None.

    Returns:
        int64 (rows,): which row comes first, second, …; and int64 (rows,): query ids in that order, from 0
        ascending, or None.
    """
    order = np.argsort(np.asarray(bits.random_raw(count)), kind="stable")
    if query is None:
        return order, None
    _, codes = np.unique(query, return_inverse=True)
    codes = codes.reshape(-1)
    # A query's place is that of its first row.
    place = np.full(codes.max(initial=-1) + 1, count)
    np.minimum.at(place, codes[order], np.arange(count))
    order = order[np.argsort(place[codes[order]], kind="stable")]
    return order, np.cumsum(np.diff(codes[order], prepend=-1) != 0) - 1
