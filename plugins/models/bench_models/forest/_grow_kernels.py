"""Kernels of the grower: one presorted order per column, partitioned stably at each split.

Class weights are whole numbers, so that F is kept up to date in constant time per row: a table of n log n for
entropy, sums of squares for Gini and Pairs.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["grow_tree"]

ENTROPY, GINI, PAIRS = 0, 1, 2


@numba.njit(cache=True, nogil=True)
def _mixed(state):  # type: ignore[no-untyped-def]
    """The next number of a splitmix64 stream."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.njit(cache=True, nogil=True, inline="always")
def _part(criterion, n, inner, logs):  # type: ignore[no-untyped-def]
    """F of a set from its weight and the running sum over classes."""
    if criterion == ENTROPY:
        return logs[n] - inner
    if criterion == GINI:
        return n - inner / n if n > 0 else 0.0
    return float(n) * n - inner


@numba.njit(cache=True, nogil=True)
def _best_cut(values, rows, bag, y, total, n, criterion, logs, min_leaf, counts):  # type: ignore[no-untyped-def]
    """The best cut of one column: fall of F, place before which it cuts, −1 without one."""
    classes = len(total)
    inner_right = 0.0
    for c in range(classes):
        counts[c] = 0
        inner_right += logs[total[c]] if criterion == ENTROPY else float(total[c]) * total[c]
    whole = _part(criterion, n, inner_right, logs)
    inner_left, n_left = 0.0, 0
    best, at = -np.inf, -1
    for j in range(len(rows) - 1):
        row = rows[j]
        weight, c = bag[row], y[row]
        before_left, before_right = counts[c], total[c] - counts[c]
        after_left, after_right = before_left + weight, before_right - weight
        if criterion == ENTROPY:
            inner_left += logs[after_left] - logs[before_left]
            inner_right += logs[after_right] - logs[before_right]
        else:
            inner_left += float(after_left) * after_left - float(before_left) * before_left
            inner_right += float(after_right) * after_right - float(before_right) * before_right
        counts[c] = after_left
        n_left += weight
        here, following = values[row], values[rows[j + 1]]
        # Missing values stand last; one equals the other.
        if not (here < following) and not (np.isnan(following) and not np.isnan(here)):
            continue
        if n_left < min_leaf or n - n_left < min_leaf:
            continue
        f_left = _part(criterion, n_left, inner_left, logs)
        f_right = _part(criterion, n - n_left, inner_right, logs)
        after = max(f_left, f_right) if criterion == PAIRS else f_left + f_right
        if whole - after > best:
            best, at = whole - after, j + 1
    return best, at


@numba.njit(cache=True, nogil=True)
def grow_tree(values, order, y, bag, classes, criterion, worth, tried, min_leaf, max_depth, seed):  # type: ignore[no-untyped-def]
    """One tree, its nodes in depth-first order.

    Args:
        values: float32 (columns, rows).
        order: int32 (columns, rows): rows by rising value, missing ones last.
        y: int64 (rows,).
        bag: int64 (rows,): how often each row is in the bag.
        classes, criterion, tried, min_leaf, max_depth: see `grower.grow`.
        worth: float64 (columns,): what a split's gain is multiplied by.
        seed: uint64.

    Returns:
        column, threshold, left, right, counts of the nodes.
    """
    columns = len(values)
    size = 0
    for i in range(len(y)):
        if bag[i] > 0:
            size += 1
    index = np.empty((columns, size), dtype=np.int32)
    for f in range(columns):
        j = 0
        for i in range(order.shape[1]):
            if bag[order[f, i]] > 0:
                index[f, j] = order[f, i]
                j += 1
    total_weight = bag.sum()
    logs = np.zeros(total_weight + 1)
    for i in range(2, total_weight + 1):
        logs[i] = i * np.log2(float(i))
    most = 2 * size
    column = np.full(most, -1, dtype=np.int32)
    threshold = np.zeros(most)
    left = np.full(most, -1, dtype=np.int32)
    right = np.full(most, -1, dtype=np.int32)
    counts = np.zeros((most, classes))
    # A stack of (lo, hi, depth, stream, parent, is left); nodes get numbers when popped: depth-first.
    stack_lo = np.zeros(most, dtype=np.int64)
    stack_hi = np.zeros(most, dtype=np.int64)
    stack_depth = np.zeros(most, dtype=np.int64)
    stack_stream = np.zeros(most, dtype=np.uint64)
    stack_parent = np.full(most, -1, dtype=np.int64)
    stack_left = np.zeros(most, dtype=np.bool_)
    stack_hi[0] = size
    stack_stream[0] = seed
    top, made = 1, 0
    total = np.zeros(classes, dtype=np.int64)
    scratch = np.zeros(classes, dtype=np.int64)
    goes_left = np.zeros(len(y), dtype=np.bool_)
    spare = np.empty(size, dtype=np.int32)
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
        total[:] = 0
        for j in range(lo, hi):
            row = index[0, j]
            total[y[row]] += bag[row]
        n, present = 0, 0
        for c in range(classes):
            counts[node, c] = total[c]
            n += total[c]
            present += total[c] > 0
        if present < 2 or n < 2 * min_leaf or (max_depth > 0 and depth >= max_depth):
            continue
        best, best_column, best_at = -np.inf, -1, -1
        # Columns are tried in random order until `tried` of them could be cut at all, as scikit-learn does.
        for j in range(columns):
            pool[j] = j
        state, useful = stream, 0
        for j in range(columns):
            if tried < columns:
                state = _mixed(state)
                k = j + np.int64(state % np.uint64(columns - j))
                pool[j], pool[k] = pool[k], pool[j]
            f = pool[j]
            fall, at = _best_cut(values[f], index[f, lo:hi], bag, y, total, n, criterion, logs, min_leaf, scratch)
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
        cut = lo + best_at
        low = values[best_column, index[best_column, cut - 1]]
        high = values[best_column, index[best_column, cut]]
        column[node] = best_column
        threshold[node] = float(low) if np.isnan(high) else 0.5 * (float(low) + float(high))
        for j in range(lo, cut):
            goes_left[index[best_column, j]] = True
        for j in range(cut, hi):
            goes_left[index[best_column, j]] = False
        for f in range(columns):
            if f == best_column:
                continue
            a, b = lo, 0
            for j in range(lo, hi):
                row = index[f, j]
                if goes_left[row]:
                    index[f, a] = row
                    a += 1
                else:
                    spare[b] = row
                    b += 1
            for j in range(b):
                index[f, a + j] = spare[j]
        for side in range(2):  # the left child on top: it is numbered next
            stack_lo[top] = cut if side == 0 else lo
            stack_hi[top] = hi if side == 0 else cut
            stack_depth[top] = depth + 1
            stack_stream[top] = _mixed(stream ^ np.uint64(0xA5A5A5A5 + side))
            stack_parent[top] = node
            stack_left[top] = side == 1
            top += 1
    return column[:made], threshold[:made], left[:made], right[:made], counts[:made]
