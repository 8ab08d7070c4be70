"""Kernels of the grower: one presorted order per column, partitioned stably at each split.

An entry of an order is a row's number; its top bit says whether the row's value is above the one before it. A partition
keeps the bit up to date (as the "or" over skipped entries). So the search for a cut reads no values, only one small
number per row, which packs class and weight.

Class weights are integers, so the impurity F (see `grower`) is updated in constant time per row: with a table of
n log n for entropy, and with sums of squares for Gini and Pairs.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["grow_tree", "mark_steps"]

ENTROPY, GINI, PAIRS = 0, 1, 2
STEP, ROW = np.uint32(2**31), np.uint32(2**31 - 1)
"""Masks of an entry's top bit and of its other bits."""
CLASS_BITS = 16
"""Number of lower bits of a packed number, which hold a row's class; its weight is above them."""


@numba.njit(cache=True, nogil=True)
def _mixed(state):  # type: ignore[no-untyped-def]
    """The next number of a splitmix64 stream."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.njit(cache=True, nogil=True)
def mark_steps(values, order):  # type: ignore[no-untyped-def]
    """Set the top bit of the entries whose value is above that of the entry before them.

    Missing values come last and count as equal.

    Args:
        values: float32 (rows,).
        order: uint32 (rows,): rows by rising value; changed.
    """
    for j in range(len(order) - 1, 0, -1):
        before, here = values[order[j - 1]], values[order[j]]
        if before < here or (np.isnan(here) and not np.isnan(before)):
            order[j] |= STEP


@numba.njit(cache=True, nogil=True)
def _entropy_cut(entries, lo, hi, packed, total, n, logs, min_leaf, left):  # type: ignore[no-untyped-def]
    """The best cut of the entries lo..hi by entropy: the decrease of F, and the place before which it cuts (−1 without
    a cut)."""
    inner_left, inner_right = 0.0, 0.0
    for k in range(len(total)):
        left[k] = 0
        inner_right += logs[total[k]]
    before = logs[n] - inner_right
    n_left = np.int64(0)
    best, at = -np.inf, -1
    for j in range(lo, hi):
        entry = entries[j]
        if entry >= STEP and n_left >= min_leaf and n - n_left >= min_leaf:
            after = (logs[n_left] - inner_left) + (logs[n - n_left] - inner_right)
            if before - after > best:
                best, at = before - after, j
        pack = packed[entry & ROW]
        c, weight = np.int64(pack & np.uint32(2**CLASS_BITS - 1)), np.int64(pack >> np.uint32(CLASS_BITS))
        was = left[c]
        now = was + weight
        right = total[c] - was
        inner_left += logs[now] - logs[was]
        inner_right += logs[right - weight] - logs[right]
        left[c] = now
        n_left += weight
    return best, at


@numba.njit(cache=True, nogil=True)
def _square_cut(entries, lo, hi, packed, total, n, pairs, min_leaf, left):  # type: ignore[no-untyped-def]
    """As `_entropy_cut`, by Gini or Pairs. Sums of squares are integers, exact up to 2^53."""
    inner_left, inner_right = np.int64(0), np.int64(0)
    for k in range(len(total)):
        left[k] = 0
        inner_right += total[k] * total[k]
    before = float(n) * n - inner_right if pairs else n - inner_right / n
    n_left = np.int64(0)
    best, at = -np.inf, -1
    for j in range(lo, hi):
        entry = entries[j]
        n_right = n - n_left
        if entry >= STEP and n_left >= min_leaf and n_right >= min_leaf:
            if pairs:
                after = float(max(n_left * n_left - inner_left, n_right * n_right - inner_right))
            else:
                after = (n_left - inner_left / n_left) + (n_right - inner_right / n_right)
            if before - after > best:
                best, at = before - after, j
        pack = packed[entry & ROW]
        c, weight = np.int64(pack & np.uint32(2**CLASS_BITS - 1)), np.int64(pack >> np.uint32(CLASS_BITS))
        was = left[c]
        inner_left += weight * (2 * was + weight)
        inner_right -= weight * (2 * (total[c] - was) - weight)
        left[c] = was + weight
        n_left += weight
    return best, at


@numba.njit(cache=True, nogil=True)
def _partition(entries, lo, hi, goes_left, spare):  # type: ignore[no-untyped-def]
    """Move the entries lo..hi whose row goes left to the front; both parts keep their order; top bits are updated."""
    a, b = lo, 0
    step_left, step_right = np.uint32(0), np.uint32(0)
    for j in range(lo, hi):
        entry = entries[j]
        row, step = entry & ROW, entry & STEP
        goes = goes_left[row]
        step_left |= step
        step_right |= step
        # Both places are written and one is overwritten later: this avoids mispredicted branches.
        entries[a] = row | step_left
        spare[b] = row | step_right
        a += goes
        b += 1 - goes
        step_left &= np.uint32(goes) - np.uint32(1)
        step_right &= np.uint32(0) - np.uint32(goes)
    for j in range(b):
        entries[a + j] = spare[j]


@numba.njit(cache=True, nogil=True)
def _is_leaf(total, min_leaf, depth, max_depth):  # type: ignore[no-untyped-def]
    """Whether a node with these class weights remains a leaf."""
    n, present = 0, 0
    for c in range(len(total)):
        n += total[c]
        present += total[c] > 0
    return present < 2 or n < 2 * min_leaf or (max_depth > 0 and depth >= max_depth)


@numba.njit(cache=True, nogil=True)
def _weigh(entries, lo, hi, packed, total):  # type: ignore[no-untyped-def]
    """Class weights of the entries lo..hi, written to `total`; returns their sum."""
    total[:] = 0
    n = np.int64(0)
    for j in range(lo, hi):
        pack = packed[entries[j] & ROW]
        weight = np.int64(pack >> np.uint32(CLASS_BITS))
        total[np.int64(pack & np.uint32(2**CLASS_BITS - 1))] += weight
        n += weight
    return n


@numba.njit(cache=True, nogil=True)
def _in_bag(order, number, entries):  # type: ignore[no-untyped-def]
    """Write the entries of one column's order whose rows are in the bag to `entries`, numbered within the bag."""
    j, step = 0, np.uint32(0)
    for i in range(len(order)):
        row = order[i] & ROW
        step |= order[i] & STEP
        if number[row] >= 0:
            entries[j] = np.uint32(number[row]) | step
            step = np.uint32(0)
            j += 1


@numba.njit(cache=True, nogil=True)
def grow_tree(values, order, y, bag, classes, criterion, worth, tried, min_leaf, max_depth, seed):  # type: ignore[no-untyped-def]
    """One tree, its nodes in depth-first order.

    Args:
        values: float32 (columns, rows).
        order: uint32 (columns, rows): rows by rising value, missing ones last, with `mark_steps`.
        y: int64 (rows,), below 2^16.
        bag: int64 (rows,): how often each row is in the bag, below 2^16.
        classes: number of classes.
        criterion, tried, min_leaf, max_depth: see `grower.Growth`.
        worth: float64 (columns,): factor of a split's gain.
        seed: uint64.

    Returns:
        column, threshold, left, right, counts of the nodes.
    """
    columns, rows = order.shape
    size, total_weight = 0, 0
    number = np.full(rows, -1, dtype=np.int32)
    for i in range(rows):
        if bag[i] > 0:
            number[i] = size
            size += 1
            total_weight += bag[i]
    row_of = np.empty(size, dtype=np.int32)
    packed = np.empty(size, dtype=np.uint32)
    for i in range(rows):
        if bag[i] > 0:
            row_of[number[i]] = i
            packed[number[i]] = np.uint32(bag[i]) << np.uint32(CLASS_BITS) | np.uint32(y[i])
    index = np.empty((columns, size), dtype=np.uint32)
    for f in range(columns):
        _in_bag(order[f], number, index[f])
    logs = np.zeros(total_weight + 1)
    for i in range(2, total_weight + 1):
        logs[i] = i * np.log2(float(i))
    most = 2 * size
    column = np.full(most, -1, dtype=np.int32)
    threshold = np.zeros(most)
    left = np.full(most, -1, dtype=np.int32)
    right = np.full(most, -1, dtype=np.int32)
    counts = np.empty((most, classes))
    # A stack of (lo, hi, depth, stream, parent, is left); nodes are numbered when popped, that is, depth-first. A
    # node's own column is the one at which its parent was cut; its order is always up to date.
    stack_lo = np.zeros(size + 1, dtype=np.int64)
    stack_hi = np.zeros(size + 1, dtype=np.int64)
    stack_depth = np.zeros(size + 1, dtype=np.int64)
    stack_stream = np.zeros(size + 1, dtype=np.uint64)
    stack_parent = np.full(size + 1, -1, dtype=np.int64)
    stack_left = np.zeros(size + 1, dtype=np.bool_)
    stack_hi[0] = size
    stack_stream[0] = seed
    top, made = 1, 0
    total = np.zeros(classes, dtype=np.int64)
    scratch = np.zeros(classes, dtype=np.int64)
    goes_left = np.zeros(size, dtype=np.uint8)
    spare = np.empty(size + 1, dtype=np.uint32)
    pool = np.arange(columns)
    while top > 0:
        top -= 1
        lo, hi, depth, stream = stack_lo[top], stack_hi[top], stack_depth[top], stack_stream[top]
        node, above = made, stack_parent[top]
        made += 1
        if above >= 0:
            if stack_left[top]:
                left[above] = node
            else:
                right[above] = node
        n = _weigh(index[column[above] if above >= 0 else 0], lo, hi, packed, total)
        for c in range(classes):
            counts[node, c] = total[c]
        if _is_leaf(total, min_leaf, depth, max_depth):
            continue
        best, best_column, best_at = -np.inf, -1, -1
        # Columns are tried in random order until `tried` of them have a cut, as in scikit-learn.
        for j in range(columns):
            pool[j] = j
        state, useful = stream, 0
        for j in range(columns):
            if tried < columns:
                state = _mixed(state)
                k = j + np.int64(state % np.uint64(columns - j))
                pool[j], pool[k] = pool[k], pool[j]
            f = pool[j]
            if criterion == ENTROPY:
                fall, at = _entropy_cut(index[f], lo, hi, packed, total, n, logs, min_leaf, scratch)
            else:
                fall, at = _square_cut(index[f], lo, hi, packed, total, n, criterion == PAIRS, min_leaf, scratch)
            if at < 0:
                continue
            useful += 1
            score = max(fall, 0.0) * worth[f]
            if score > best:
                best, best_column, best_at = score, f, at
            if useful >= tried:
                break
        if best_column < 0:
            continue
        cut = best_at
        own = index[best_column]
        low = values[best_column, row_of[own[cut - 1] & ROW]]
        high = values[best_column, row_of[own[cut] & ROW]]
        column[node] = best_column
        threshold[node] = float(low) if np.isnan(high) else 0.5 * (float(low) + float(high))
        for j in range(lo, cut):
            goes_left[own[j] & ROW] = 1
        for j in range(cut, hi):
            goes_left[own[j] & ROW] = 0
        _weigh(own, lo, cut, packed, scratch)
        # Two leaves need only the order of their own column.
        ends = _is_leaf(scratch, min_leaf, depth + 1, max_depth)
        for c in range(classes):
            scratch[c] = total[c] - scratch[c]
        if not (ends and _is_leaf(scratch, min_leaf, depth + 1, max_depth)):
            for f in range(columns):
                if f != best_column:
                    _partition(index[f], lo, hi, goes_left, spare)
        for side in range(2):  # the left child on top: it is numbered next
            stack_lo[top] = cut if side == 0 else lo
            stack_hi[top] = hi if side == 0 else cut
            stack_depth[top] = depth + 1
            stack_stream[top] = _mixed(stream ^ np.uint64(0xA5A5A5A5 + side))
            stack_parent[top] = node
            stack_left[top] = side == 1
            top += 1
    return (
        column[:made].copy(), threshold[:made].copy(), left[:made].copy(), right[:made].copy(), counts[:made].copy()
    )  # fmt: skip
