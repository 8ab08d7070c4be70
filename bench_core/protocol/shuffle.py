"""Orders of rows that the core chooses, from raw words of a bit generator, so that no library's shuffle is in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["shuffled"]


def shuffled(
    bits: np.random.BitGenerator, count: int, query: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """A random order of rows; the rows of a query stay next to each other, and the queries get new ids.

    Args:
        bits: where the words come from; ``count`` are drawn.
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
    changes = np.diff(codes[order], prepend=-1) != 0
    return order, np.cumsum(changes) - 1
