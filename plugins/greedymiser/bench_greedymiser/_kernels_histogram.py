"""Histograms of a node's rows over the columns' values: filling them, and the best cut of every column."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

__all__ = ["best_cuts", "fill", "fill_all"]

_SLACK = 1 - 1e-12
"""A factor that covers the rounding errors of the products it is applied to."""


@numba.njit(cache=True)
def fill_all(histogram: Any, codes: Any, starts: Any, counts: Any, residual: Any) -> None:
    """Fill the histogram of all rows; its counts are given."""
    for place in range(len(counts)):
        histogram[place, 0] = 0.0
        histogram[place, 1] = counts[place]
    for row in range(len(codes)):
        value = residual[row]
        for lane in range(len(starts)):
            # Unsigned indices save numba's test for negative ones in the innermost loop.
            histogram[np.uint64(starts[lane]) + np.uint64(codes[row, lane]), 0] += value


@numba.njit(cache=True)
def fill(histogram: Any, codes: Any, starts: Any, residual: Any, rows: Any) -> None:
    """Fill the histogram of the given rows."""
    histogram[:] = 0.0
    for row in rows:
        value = residual[row]
        for lane in range(len(starts)):
            place = np.uint64(starts[lane]) + np.uint64(codes[row, lane])
            histogram[place, 0] += value
            histogram[place, 1] += 1.0


@numba.njit(cache=True)
def best_cuts(
    histogram: Any,
    total: Any,
    count: Any,
    least: Any,
    floor: Any,
    costs: Any,
    n_values: Any,
    first: Any,
    shares: Any,
    missing: Any,
    gains: Any,
    cuts: Any,
    sides: Any,
) -> None:
    """For each column: the greatest gain at a node, its cut, and the side of missing values.

    The gain stays −inf for a column without a cut, and for one that cannot be chosen. `costs` (columns,) are the
    current prices, which can only fall; so the chosen split is worth at least the greatest gain minus cost found so
    far. Cuts that cannot reach this bound, or the best gain of their column, are rejected by comparing products, which
    saves the divisions.
    """
    n = float(count)
    parent = total * total / n
    bound = max(floor, 0.0)
    for c in range(len(first)):
        start = first[c]
        if start < 0:
            continue
        best, where, side, larger = -np.inf, 0, False, False
        reach = (bound + parent) * _SLACK
        if shares[c]:
            # The lower bin holds all rows that are not in the upper one.
            rest, above = histogram[start, 0], histogram[start, 1]
            s, m = total - rest, n - above
            if m >= least and above >= least:
                best, larger = s * s / m + rest * rest / above - parent, m >= above
            gone, last = 0.0, 0
        else:
            values = n_values[c]
            gone_sum, gone = 0.0, 0.0
            if missing[c]:
                gone_sum, gone = histogram[start + values, 0], histogram[start + values, 1]
            s, m = 0.0, 0.0
            for b in range(values):
                here = histogram[start + b, 1]
                if here == 0.0 and b > 0:
                    continue
                s += histogram[start + b, 0]
                m += here
                rest, above = total - s, n - m
                if m >= least and above >= least and s * s * above + rest * rest * m >= reach * (m * above):
                    gain = s * s / m + rest * rest / above - parent
                    if gain > best:
                        best, where, side, larger = gain, b, False, m >= above
                        reach = max(reach, (best + parent) * _SLACK)
                if gone > 0.0:
                    s2, m2 = s + gone_sum, m + gone
                    rest, above = total - s2, n - m2
                    if m2 >= least and above >= least:
                        gain = s2 * s2 / m2 + rest * rest / above - parent
                        if gain > best:
                            best, where, side = gain, b, True
            last = values - 1
        if best == -np.inf:
            continue
        # Put the cut in the middle of the bins that are empty at this node.
        cut = where
        if last > 0:
            upper = where + 1
            while upper <= last and histogram[start + upper, 1] == 0.0:
                upper += 1
            cut = (where + upper - 1) // 2 if upper <= last else last
        gains[c], cuts[c] = best, cut
        sides[c] = side if gone > 0.0 else larger
        bound = max(bound, best - costs[c])
