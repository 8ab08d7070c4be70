"""Compiled version of `induction.grow_plain`."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

__all__ = ["grow"]

_LN2 = math.log(2.0)
_TERMS = 24
_SORT_BELOW = 8
"""Above this ratio of a column's distinct values to those at the node, the latter are sorted; else all are scanned."""


@numba.njit(cache=True)
def grow(
    codes: Any,
    values: Any,
    starts: Any,
    y: Any,
    n_classes: Any,
    sums: Any,
    feature_of_column: Any,
    rows: Any,
    kind: Any,
    first: Any,
    later: Any,
    again: Any,
    group: Any,
    by_path: Any,
    depth: Any,
    least_split: Any,
    least_leaf: Any,
    floor: Any,
) -> Any:
    """Grow one tree as `induction.grow_plain` does.

    Additions of entries of `sums` are exact, so the order of the rows does not change the result.
    """
    columns, n_rows = len(codes), len(rows)
    most = max(2 * n_rows, 1)
    column, threshold = np.full(most, -1, np.int64), np.zeros(most)
    missing_left, left = np.zeros(most, np.bool_), np.full(most, -1, np.int64)
    counts = np.zeros((most, n_classes), np.int64)
    parent, level = np.full(most, -1, np.int64), np.zeros(most, np.int64)
    begin, end = np.zeros(most, np.int64), np.zeros(most, np.int64)
    order, spare = rows.copy(), np.empty(n_rows, np.int64)
    end[0] = n_rows

    widest = 0
    for c in range(columns):
        widest = max(widest, starts[c + 1] - starts[c])
    histogram = np.zeros((max(widest, 1), n_classes), np.int64)
    held = np.zeros(max(widest, 1), np.int64)
    present = np.empty(max(widest, 1), np.int64)
    below, above = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    gains, information = np.zeros(columns), np.ones(columns)
    cuts, sides, now = np.zeros(columns), np.zeros(columns, np.bool_), np.zeros(columns)
    made = np.zeros(len(first), np.bool_)
    opened = np.zeros(len(first) + 1, np.bool_)

    n_nodes, at = 1, 0
    while at < n_nodes:
        size = end[at] - begin[at]
        for i in range(begin[at], end[at]):
            counts[at, y[order[i]]] += 1
        pure = False
        for k in range(n_classes):
            if counts[at, k] == size:
                pure = True
        if pure or size < least_split or size < 2 * least_leaf or level[at] >= depth:
            at += 1
            continue
        made[:] = False
        opened[:] = False
        if by_path:
            up = parent[at]
            while up >= 0:
                feature = feature_of_column[column[up]]
                made[feature] = True
                if group[feature] >= 0:
                    opened[group[feature]] = True
                up = parent[up]
        for c in range(columns):
            feature = feature_of_column[c]
            now[c] = first[feature]
            if made[feature]:
                now[c] = again
            elif group[feature] >= 0 and opened[group[feature]]:
                now[c] = later[feature]
            gains[c], information[c] = 0.0, 1.0
            if first[feature] == np.inf:
                now[c] = np.inf
                continue
            gain, info, cut, side = _best_threshold(
                codes[c], values[starts[c] : starts[c + 1]], y, sums, order[begin[at] : end[at]],
                least_leaf, floor, histogram, held, present, below, above,
            )  # fmt: skip
            if gain > 0.0:
                gains[c], information[c], cuts[c], sides[c] = gain / size, info / size, cut, side
        chosen = _choose(kind, gains, information, now)
        if chosen >= 0:
            column[at], threshold[at], missing_left[at], left[at] = chosen, cuts[chosen], sides[chosen], n_nodes
            middle, n_right = begin[at], 0
            inside = values[starts[chosen] : starts[chosen + 1]]
            for i in range(begin[at], end[at]):
                row = order[i]
                code = codes[chosen, row]
                goes_left = missing_left[at] if code < 0 else inside[code] <= threshold[at]
                if goes_left:
                    order[middle] = row
                    middle += 1
                else:
                    spare[n_right] = row
                    n_right += 1
            for i in range(n_right):
                order[middle + i] = spare[i]
            begin[n_nodes], end[n_nodes] = begin[at], middle
            begin[n_nodes + 1], end[n_nodes + 1] = middle, end[at]
            for child in (n_nodes, n_nodes + 1):
                parent[child], level[child] = at, level[at] + 1
            n_nodes += 2
        at += 1
    return (
        column[:n_nodes].copy(), threshold[:n_nodes].copy(), missing_left[:n_nodes].copy(), left[:n_nodes].copy(),
        counts[:n_nodes].copy(),
    )  # fmt: skip


@numba.njit(cache=True)
def _best_threshold(
    code: Any,
    values: Any,
    y: Any,
    sums: Any,
    rows: Any,
    least: Any,
    floor: Any,
    histogram: Any,
    held: Any,
    present: Any,
    below: Any,
    above: Any,
) -> Any:
    """`induction.best_threshold`: gain (0 if there is no split), split information, threshold, side of missing values.

    `histogram` (values, classes), `held` (values) and `present` (values) are scratch. The first two must be zero and
    are zero again on return.
    """
    n_classes = len(below)
    above[:] = 0
    n, n_present = 0, 0
    for i in range(len(rows)):
        row = rows[i]
        place = code[row]
        if place < 0:
            continue
        if held[place] == 0:
            present[n_present] = place
            n_present += 1
        histogram[place, y[row]] += 1
        held[place] += 1
        above[y[row]] += 1
        n += 1
    if n_present > 1:
        if len(values) > _SORT_BELOW * n_present:
            present[:n_present].sort()
        else:
            n_present = 0
            for place in range(len(values)):
                if held[place] > 0:
                    present[n_present] = place
                    n_present += 1
    spread_above, spread_below = 0.0, 0.0
    for k in range(n_classes):
        below[k] = 0
        spread_above += sums[above[k]]
    total = sums[n] - spread_above
    best, info, cut, side = 0.0, 1.0, 0.0, False
    m = 0
    for j in range(n_present - 1):
        place = present[j]
        for k in range(n_classes):
            moved = histogram[place, k]
            if moved > 0:
                spread_below += sums[below[k] + moved] - sums[below[k]]
                spread_above += sums[above[k] - moved] - sums[above[k]]
                below[k] += moved
                above[k] -= moved
        m += held[place]
        if m < least or n - m < least:
            continue
        gain = total - (sums[m] - spread_below)
        gain -= sums[n - m] - spread_above
        if gain >= floor and gain > best:
            best, side = gain, m >= n - m
            info = sums[len(rows)] - sums[m] - sums[n - m] - sums[len(rows) - n]
            low, high = values[place], values[present[j + 1]]
            half = low / 2 + high / 2
            cut = half if low <= half and half < high else low
    for j in range(n_present):
        place = present[j]
        held[place] = 0
        for k in range(n_classes):
            histogram[place, k] = 0
    return best, info, cut, side


@numba.njit(cache=True)
def _choose(kind: Any, gains: Any, information: Any, divisors: Any) -> Any:
    """`criteria.choose` with the criterion as a number.

    Kind 0 scores gain / divisor, kind 1 (2^gain − 1) / divisor, kind 2 gain² / divisor, kind 3 the gain ratio.
    """
    least = 0.0
    if kind == 3:
        total, positive = 0.0, 0
        for c in range(len(gains)):
            if gains[c] > 0.0:
                total += gains[c]
                positive += 1
        if positive > 0:
            least = total / positive * (1.0 - 1e-9)
    chosen, best, best_gain = -1, 0.0, 0.0
    for c in range(len(gains)):
        gain = gains[c]
        if gain <= 0.0 or gain < least:
            continue
        if kind == 3:
            worth = gain / information[c]
        elif divisors[c] > 0.0:
            top = gain
            if kind == 1:
                step, top = gain * _LN2, 0.0
                for k in range(_TERMS, 0, -1):
                    top = step / k * (1.0 + top)
            elif kind == 2:
                top = gain * gain
            worth = top / divisors[c]
        else:
            worth = np.inf
        if worth > best or (worth == best and worth > 0.0 and gain > best_gain):
            chosen, best, best_gain = c, worth, gain
    return chosen
