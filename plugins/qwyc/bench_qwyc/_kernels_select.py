"""Selection of the k-th smallest of many sums, without sorting.

A bound estimated from a sample admits few more than k values, and quickselect finds the k-th smallest among them. For
few values a heap of the k smallest is used, and quickselect alone where k is a large share of the values. The k-th
largest is the k-th smallest of the negated sums.
"""

from __future__ import annotations

import numba

__all__ = ["kth_smallest"]


@numba.njit(cache=True, nogil=True)
def _sift_down(heap, k, at):  # type: ignore[no-untyped-def]
    """Restore a max-heap after the value at place ``at`` was lowered."""
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
    """Reorder ``values[:count]`` so that place k holds its k-th smallest value (k from 0); return that value."""
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


@numba.njit(cache=True, nogil=True)
def _least(values, count):  # type: ignore[no-untyped-def]
    """The least value, found block by block: few blocks hold a new minimum, and testing a block is cheap."""
    least, start = values[0], 0
    while start + 64 <= count:
        hits = 0
        for j in range(64):
            hits += values[start + j] < least
        if hits:
            for j in range(start, start + 64):
                least = min(least, values[j])
        start += 64
    for j in range(start, count):
        least = min(least, values[j])
    return least


@numba.njit(cache=True, nogil=True)
def _heap_kth(values, count, step, k, heap):  # type: ignore[no-untyped-def]
    """The k-th smallest among every ``step``-th value; leaves the k smallest of them in the heap."""
    for i in range(k):
        heap[i] = values[i * step]
    for at in range(k // 2 - 1, -1, -1):
        _sift_down(heap, k, at)
    for i in range(k * step, count, step):
        if values[i] < heap[0]:
            heap[0] = values[i]
            _sift_down(heap, k, 0)
    return heap[0]


@numba.njit(cache=True, nogil=True)
def _collect(values, count, bound, out):  # type: ignore[no-untyped-def]
    """Copy the values up to a bound and return their number. Most blocks hold none, and testing a block is cheap."""
    found, start = 0, 0
    while start + 64 <= count:
        hits = 0
        for j in range(64):
            hits += values[start + j] <= bound
        if hits:
            for j in range(start, start + 64):
                if values[j] <= bound:
                    out[found] = values[j]
                    found += 1
        start += 64
    for j in range(start, count):
        if values[j] <= bound:
            out[found] = values[j]
            found += 1
    return found


@numba.njit(cache=True, nogil=True)
def kth_smallest(values, count, k, heap):  # type: ignore[no-untyped-def]
    """The k-th smallest of ``values[:count]``, and the number of values below it.

    Args:
        values: the values; their order may change.
        count: number of values to consider; at least k.
        k: rank, from 1.
        heap: scratch for at least ``count`` values.
    """
    below = 0
    if k == 1:
        return _least(values, count), below
    if 16 * k > count:
        kth = _quickselect(values, count, k - 1)
        for i in range(k):
            below += values[i] < kth
        return kth, below
    if count >= 2048:
        # A bound from every 32nd value; nearly always, slightly more than k values are within it.
        bound = _heap_kth(values, count, 32, k // 22 + 6, heap)
        within = _collect(values, count, bound, heap)
        if within >= k:
            kth = _quickselect(heap, within, k - 1)
            for i in range(k):
                below += heap[i] < kth
            return kth, below
    kth = _heap_kth(values, count, 1, k, heap)
    for i in range(k):
        below += heap[i] < kth
    return kth, below
