"""Sets of features as bits of 64-bit words.

With up to 63 features, a set is one uint64, bit f for feature f, and m sets have shape (m,). With more features, a set
has ceil(n / 64) words, with feature f in bit f % 64 of word f // 64, and m sets have shape (m, words). A single number
is faster, and few features are the common case. Code that does not access single features works on either shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ONE_WORD", "Sets", "all_features", "check_sets", "from_flags", "members", "pack_rows"]

Sets = NDArray[np.uint64]

ONE_WORD = 63
"""Maximum number of features of a set that is a single number; its top bit stays free."""


def all_features(n_features: int) -> Sets:
    """The set of all features, as an array of one set."""
    return from_flags(np.ones((1, n_features), dtype=bool))


def pack_rows(rows: ArrayLike) -> NDArray[np.uint64]:
    """Booleans (m, rows) as words uint64 (m, ceil(rows / 64)); row r is bit r % 64 of word r // 64."""
    flags = np.atleast_2d(np.asarray(rows, dtype=bool))
    words = max(1, -(-flags.shape[1] // 64))
    padded = np.zeros((flags.shape[0], words * 64), dtype=bool)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def from_flags(flags: NDArray[np.bool_]) -> Sets:
    """Sets from membership, bool (m, n)."""
    sets = pack_rows(flags)
    return sets[:, 0].copy() if flags.shape[1] <= ONE_WORD else sets


def members(sets: Sets, features: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of c features are in each of m sets, bool (m, c)."""
    bits = features.astype(np.uint64)
    words = sets[:, None]
    if sets.ndim > 1:
        words, bits = sets[:, features // 64], bits % np.uint64(64)
    return ((words >> bits) & np.uint64(1)).astype(np.bool_, order="C")


def check_sets(sets: ArrayLike, n_features: int) -> Sets:
    """Sets as contiguous uint64, (m,) or (m, words).

    Raises:
        ValueError: the shape is wrong, or a bit at or above n_features is set.
    """
    given = np.asarray(sets, dtype=np.uint64)
    if n_features <= ONE_WORD:
        narrow = np.ascontiguousarray(np.atleast_1d(given))
        if narrow.ndim != 1:
            raise ValueError(f"masks must be one-dimensional, got shape {narrow.shape}")
        if (narrow >> np.uint64(n_features)).any():
            raise ValueError(f"masks: a subset has a feature above {n_features - 1}")
        return narrow
    words = -(-n_features // 64)
    wide = np.ascontiguousarray(np.atleast_2d(given))
    if wide.ndim != 2 or wide.shape[1] != words:
        raise ValueError(f"masks must have shape (m, {words}) for {n_features} features, got {wide.shape}")
    if n_features % 64 and (wide[:, -1] >> np.uint64(n_features % 64)).any():
        raise ValueError(f"masks: a subset has a feature above {n_features - 1}")
    return wide
