"""Compiled look-up of subsets: a direct table for few features, else open addressing with linear probing.

A kernel that looks subsets up takes the three arrays of `SubsetCache.lookup` and calls `find`.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _home(mask, size):
    """First slot of a subset among `size` (a power of two): the finaliser of SplitMix64."""
    h = np.uint64(mask)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h = h ^ (h >> np.uint64(31))
    return np.int64(h & np.uint64(size - 1))


@njit(cache=True, nogil=True)
def find(mask, direct, keys, slots):
    """Index of a subset, -1 if it is unknown. `slots` is -1 in free slots; `direct` is empty or of length 2**n."""
    if direct.shape[0] > 0:
        return np.int64(direct[np.int64(mask)])
    size = keys.shape[0]
    at = _home(mask, size)
    while slots[at] >= 0:
        if keys[at] == mask:
            return np.int64(slots[at])
        at = (at + 1) & (size - 1)
    return np.int64(-1)


@njit(cache=True, nogil=True)
def find_many(masks, direct, keys, slots, out):
    """out[i] = find(masks[i]); returns the number of unknown subsets."""
    missing = 0
    for i in range(masks.shape[0]):
        out[i] = find(masks[i], direct, keys, slots)
        if out[i] < 0:
            missing += 1
    return missing


@njit(cache=True, nogil=True)
def insert_many(masks, first, direct, keys, slots):
    """Store masks[i] under index first + i. The caller keeps `keys` at most half full and the subsets distinct."""
    for i in range(masks.shape[0]):
        if direct.shape[0] > 0:
            direct[np.int64(masks[i])] = first + i
            continue
        at = _home(masks[i], keys.shape[0])
        while slots[at] >= 0:
            at = (at + 1) & (keys.shape[0] - 1)
        keys[at] = masks[i]
        slots[at] = first + i
