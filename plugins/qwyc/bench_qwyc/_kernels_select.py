"""The k-th smallest of many sums, without sorting them.

Only the ``k`` smallest are kept, in a heap whose top is the largest of them; where k is a large share of the sums,
quickselect is cheaper. Sums are taken as ``sign * (base + added)``, which is exact for both signs, so that the k-th
largest is the same search.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["kth_smallest"]


@numba.njit(cache=True, nogil=True)
def _sift_down(heap, k, at):  # type: ignore[no-untyped-def]
    """Restore a heap whose largest value is on top, after the value at a place was lowered."""
    value = heap[at]
    while True:
        child = 2 * at + 1
        if child >= k:
            break
        if child + 1 < k and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@numba.njit(cache=True, nogil=True)
def _quickselect(values, count, k):  # type: ignore[no-untyped-def]
    """Order ``values[:count]`` so far that place k holds its k-th smallest (from 0); return it."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        a, b, c = values[low], values[middle], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _least(values, count):  # type: ignore[no-untyped-def]
    """The least value; there is no NaN, and which of two zeros it is does not matter."""
    least = values[0]
    for i in range(1, count):
        value = values[i]
        least = value if value < least else least
    return least


@numba.njit(cache=True, nogil=True)
def _any_below(values, start, stop, limit):  # type: ignore[no-untyped-def]
    found = 0
    for i in range(start, stop):
        found |= values[i] < limit
    return found != 0


@numba.njit(cache=True, nogil=True)
def kth_smallest(values, count, k, heap):  # type: ignore[no-untyped-def]
    """The k-th smallest (k from 1) of ``values[:count]`` and how many are below it.

    Args:
        values: scratch; its order may change.
        count: how many of them count; at least k.
        k: at least 1.
        heap: scratch of at least k values.
    """
    below = 0
    if k == 1:
        return _least(values, count), below
    if 16 * k > count:
        kth = _quickselect(values, count, k - 1)
        for i in range(k):
            below += values[i] < kth
        return kth, below
    for i in range(k):
        heap[i] = values[i]
    for at in range(k // 2 - 1, -1, -1):
        _sift_down(heap, k, at)
    top = heap[0]
    i = k
    while i < count:
        # Nearly no block holds a value that matters: look at its least value first.
        stop = min(i + 16, count)
        if _any_below(values, i, stop, top):
            for j in range(i, stop):
                if values[j] < top:
                    heap[0] = values[j]
                    _sift_down(heap, k, 0)
                    top = heap[0]
        i = stop
    for i in range(k):
        below += heap[i] < top
    return top, below
