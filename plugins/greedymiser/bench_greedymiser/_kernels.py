"""Compiled forms of `tree.grow_tree` and of walking rows down an ensemble."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

__all__ = ["grow", "walk"]

_CODES = 256
_TREES_AT_ONCE = 128


@numba.njit(cache=True)
def grow(
    codes: Any,
    n_values: Any,
    residual: Any,
    feature_of_column: Any,
    price: Any,
    group_of: Any,
    group_price: Any,
    used: Any,
    opened: Any,
    depth: Any,
    least: Any,
    floor: Any,
) -> Any:
    """Grow one tree; arguments and order of every sum as in `tree.grow_tree`."""
    columns, rows = codes.shape
    most = min(2 ** (depth + 1) - 1, 2 * rows + 1)
    column = np.full(most, -1, np.int64)
    cut = np.full(most, -1, np.int64)
    missing_left = np.zeros(most, np.bool_)
    left = np.full(most, -1, np.int64)
    node = np.zeros(rows, np.int64)
    base = np.empty(rows, np.uint32)
    n_nodes, low = 1, 0
    for _ in range(depth):
        width = n_nodes - low
        if width == 0:
            break
        total = np.zeros(width)
        count = np.zeros(width)
        for row in range(rows):
            # Rows of finished leaves are counted in a place of their own: cheaper than leaving them out.
            slot = node[row] - low if node[row] >= low else width
            base[row] = slot * _CODES
            if slot < width:
                total[slot] += residual[row]
                count[slot] += 1.0

        best_gain = np.full((width, columns), -np.inf)
        best_cut = np.zeros((width, columns), np.int64)
        best_side = np.zeros((width, columns), np.bool_)
        sums = np.empty((width + 1) * _CODES)
        counts = np.empty((width + 1) * _CODES, np.uint32)
        for c in range(columns):
            values = n_values[c]
            code = codes[c]
            if values == 1 and not _has_missing(code, values):
                continue
            for slot in range(width):
                first = slot * _CODES
                sums[first : first + values + 1] = 0.0
                counts[first : first + values + 1] = 0
            for row in range(rows):
                # Unsigned: no test for negative indices in the innermost loop.
                place = np.uint64(base[row]) + np.uint64(code[row])
                sums[place] += residual[row]
                counts[place] += np.uint32(1)
            for slot in range(width):
                if count[slot] >= 2 * least:
                    first, stop = slot * _CODES, slot * _CODES + values + 1
                    gain, where, side = _best_cut(
                        sums[first:stop], counts[first:stop], total[slot], count[slot], least
                    )
                    best_gain[slot, c] = gain
                    best_cut[slot, c] = where
                    best_side[slot, c] = side

        # Column by column the histograms are done; prices change from node to node, so nodes choose in order.
        grown = n_nodes
        for slot in range(width):
            chosen = -1
            best = 0.0
            for c in range(columns):
                gain = best_gain[slot, c]
                if gain <= floor:
                    continue
                feature = feature_of_column[c]
                net = gain
                if not used[feature]:
                    cost = price[feature]
                    if group_of[feature] >= 0 and not opened[group_of[feature]]:
                        cost += group_price[group_of[feature]]
                    net = gain - cost
                if net > best:
                    best = net
                    chosen = c
            if chosen < 0:
                continue
            feature = feature_of_column[chosen]
            used[feature] = True
            if group_of[feature] >= 0:
                opened[group_of[feature]] = True
            at = low + slot
            column[at] = chosen
            cut[at] = best_cut[slot, chosen]
            missing_left[at] = best_side[slot, chosen]
            left[at] = grown
            grown += 2
        for row in range(rows):
            at = node[row]
            if at < low or column[at] < 0:
                continue
            code_here = codes[column[at], row]
            if code_here == n_values[column[at]]:
                goes_left = missing_left[at]
            else:
                goes_left = code_here <= cut[at]
            node[row] = left[at] if goes_left else left[at] + 1
        low = n_nodes
        n_nodes = grown
    return column[:n_nodes], cut[:n_nodes], missing_left[:n_nodes], left[:n_nodes], node


@numba.njit(cache=True)
def _has_missing(code: Any, values: Any) -> Any:
    for row in range(len(code)):  # noqa: SIM110
        if code[row] == values:
            return True
    return False


@numba.njit(cache=True)
def _best_cut(sums: Any, counts: Any, total: Any, count: Any, least: Any) -> Any:
    """Greatest gain of a node's histogram (its last place holds the missing values), the cut, their side."""
    values = len(sums) - 1
    missing_sum, missing = sums[values], float(counts[values])
    parent = total * total / count
    best, where, side, larger = -np.inf, 0, False, False
    s, m = 0.0, 0.0
    for b in range(values):
        if counts[b] == 0 and b > 0:
            continue
        s += sums[b]
        m += float(counts[b])
        if m >= least and count - m >= least:
            rest = total - s
            gain = s * s / m + rest * rest / (count - m) - parent
            if gain > best:
                best, where, side = gain, b, False
                larger = m >= count - m
        if missing > 0.0:
            s2, m2 = s + missing_sum, m + missing
            if m2 >= least and count - m2 >= least:
                rest = total - s2
                gain = s2 * s2 / m2 + rest * rest / (count - m2) - parent
                if gain > best:
                    best, where, side = gain, b, True
    if best == -np.inf:
        return best, 0, False
    above = where + 1
    while above < values and counts[above] == 0:
        above += 1
    cut = (where + above - 1) // 2 if above < values else values - 1
    return best, cut, side if missing > 0.0 else larger


@numba.njit(cache=True)
def walk(
    X: Any,
    roots: Any,
    column: Any,
    threshold: Any,
    missing_left: Any,
    left: Any,
    value: Any,
    feature_of_column: Any,
    first: Any,
    last: Any,
    scores: Any,
    acquired: Any,
) -> None:
    """Add the trees ``first`` … ``last − 1`` to scores (rows, outputs) and mark the features on each row's paths."""
    outputs = scores.shape[1]
    for start in range(first, last, _TREES_AT_ONCE):
        stop = min(start + _TREES_AT_ONCE, last)
        for row in range(len(X)):
            for tree in range(start, stop):
                at = roots[tree]
                c = column[at]
                while c >= 0:
                    x = X[row, c]
                    acquired[row, feature_of_column[c]] = True
                    if x <= threshold[at] or (missing_left[at] and x != x):
                        at = left[at]
                    else:
                        at = left[at] + 1
                    c = column[at]
                scores[row, tree % outputs] += value[at]
