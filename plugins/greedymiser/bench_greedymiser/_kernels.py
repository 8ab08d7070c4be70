"""Compiled `tree.grow_tree`."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from bench_greedymiser._kernels_histogram import best_cuts, fill, fill_all

__all__ = ["grow"]

_MOST_KEPT = 1 << 22
"""Most places of all histograms kept for child nodes (64 MiB); other histograms are counted from the rows again."""


@numba.njit(cache=True)
def grow(
    bins: Any,
    n_values: Any,
    codes: Any,
    starts: Any,
    first: Any,
    shares: Any,
    missing: Any,
    counts: Any,
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
    """Grow one tree as `tree.grow_tree` does, from packed rows (`packed.Packed`) as well as bins (columns, rows).

    Of two siblings, only the rows of the smaller one are counted; the other's histogram is the parent's minus that.
    All sums are exact (`tree.summable`), so neither this nor the order of the rows changes the result.
    """
    columns, rows = bins.shape
    places = len(counts)
    prices = (price, group_of, group_price, used, opened)
    most = min(2 ** (depth + 1) - 1, 2 * rows + 1)
    column = np.full(most, -1, np.int64)
    cut = np.full(most, -1, np.int64)
    missing_left = np.zeros(most, np.bool_)
    left = np.full(most, -1, np.int64)
    # A node's rows are order[begin] … order[end − 1]; total is the sum of their residuals.
    order, spare = np.arange(rows).astype(np.uint32), np.empty(rows, np.uint32)
    begin, end, total = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most)
    end[0], total[0] = rows, residual.sum()

    # Histograms (sum, count): one for each node whose children derive theirs from it, and a scratch one for the others.
    n_free = max(1, min(2 ** max(depth - 2, 0), _MOST_KEPT // max(places, 1)))
    scratch, free = n_free, np.arange(n_free)
    histograms = np.empty((n_free + 1, places, 2))
    holds = np.full(most, -1, np.int64)

    widest = min(2 ** (depth - 1), rows)
    gains = np.empty((widest, columns))
    cuts = np.empty((widest, columns), np.int64)
    sides = np.empty((widest, columns), np.bool_)
    costs = np.empty(columns)
    gains[0] = -np.inf
    if rows >= 2 * least:
        if depth > 1:
            n_free -= 1
            holds[0] = free[n_free]
        own = histograms[holds[0] if depth > 1 else scratch]
        fill_all(own, codes, starts, counts, residual)
        for c in range(columns):
            costs[c] = _cost(feature_of_column[c], prices)
        best_cuts(
            own, total[0], rows, least, floor, costs, n_values, first, shares, missing,
            gains[0], cuts[0], sides[0],
        )  # fmt: skip

    n_nodes, low = 1, 0
    for level in range(depth):
        # Prices change from node to node, so nodes choose in order.
        grown = n_nodes
        for at in range(low, n_nodes):
            slot = at - low
            chosen = _choose(gains[slot], floor, feature_of_column, prices)
            if chosen < 0:
                if holds[at] >= 0:
                    free[n_free] = holds[at]
                    n_free += 1
                continue
            feature = feature_of_column[chosen]
            used[feature] = True
            if group_of[feature] >= 0:
                opened[group_of[feature]] = True
            column[at], cut[at], missing_left[at] = chosen, cuts[slot, chosen], sides[slot, chosen]
            left[at] = grown
            middle, left_total = _part(
                order, spare, begin[at], end[at],
                bins[chosen], n_values[chosen], cut[at], missing_left[at], residual,
            )  # fmt: skip
            begin[grown], end[grown], total[grown] = begin[at], middle, left_total
            begin[grown + 1], end[grown + 1], total[grown + 1] = middle, end[at], total[at] - left_total
            grown += 2
        if level == depth - 1 or grown == n_nodes:
            n_nodes = grown
            break
        for c in range(columns):
            costs[c] = _cost(feature_of_column[c], prices)
        keep = level + 2 < depth
        for at in range(low, n_nodes):
            if left[at] < 0:
                continue
            # The smaller child first.
            pair = (left[at], left[at] + 1)
            if end[pair[1]] - begin[pair[1]] < end[pair[0]] - begin[pair[0]]:
                pair = (left[at] + 1, left[at])
            gains[pair[0] - n_nodes] = -np.inf
            gains[pair[1] - n_nodes] = -np.inf
            inherited = holds[at]
            if end[pair[1]] - begin[pair[1]] < 2 * least:
                if inherited >= 0:
                    free[n_free] = inherited
                    n_free += 1
                continue
            smaller = histograms[scratch]
            for turn in range(2):
                child = pair[turn]
                slot = child - n_nodes
                size = end[child] - begin[child]
                if turn == 1 and inherited >= 0:
                    own = histograms[inherited]
                    own -= smaller
                    holds[child] = inherited
                else:
                    where = scratch
                    if keep and n_free > 0:
                        n_free -= 1
                        where = free[n_free]
                        holds[child] = where
                    own = histograms[where]
                    fill(own, codes, starts, residual, order[begin[child] : end[child]])
                    smaller = own
                if size >= 2 * least:
                    best_cuts(
                        own, total[child], size, least, floor, costs, n_values, first, shares, missing,
                        gains[slot], cuts[slot], sides[slot],
                    )  # fmt: skip
        low, n_nodes = n_nodes, grown

    node = np.zeros(rows, np.int64)
    for at in range(1, n_nodes):
        if left[at] < 0:
            for i in range(begin[at], end[at]):
                node[order[i]] = at
    return column[:n_nodes], cut[:n_nodes], missing_left[:n_nodes], left[:n_nodes], node


@numba.njit(cache=True)
def _part(
    order: Any, spare: Any, begin: Any, end: Any, code: Any, gone: Any, cut: Any, gone_left: Any, residual: Any
) -> Any:
    """Partition a node's rows stably, left rows first; return where the right rows begin, and the left rows' sum."""
    middle, n_right, total = begin, 0, 0.0
    for i in range(begin, end):
        row = order[i]
        goes_left = gone_left if code[row] == gone else code[row] <= cut
        if goes_left:
            order[middle] = row
            middle += 1
            total += residual[row]
        else:
            spare[n_right] = row
            n_right += 1
    for i in range(n_right):
        order[middle + i] = spare[i]
    return middle, total


@numba.njit(cache=True)
def _cost(feature: Any, prices: Any) -> Any:
    """Current price of a feature; `prices` as in `grow`."""
    price, group_of, group_price, used, opened = prices
    if used[feature]:
        return 0.0
    cost = price[feature]
    if group_of[feature] >= 0 and not opened[group_of[feature]]:
        cost += group_price[group_of[feature]]
    return cost


@numba.njit(cache=True)
def _choose(gains: Any, floor: Any, feature_of_column: Any, prices: Any) -> Any:
    """The column of greatest gain minus current price, the first among equals; −1 if no split pays."""
    chosen, best = -1, 0.0
    for c in range(len(gains)):
        if gains[c] <= floor:
            continue
        net = gains[c] - _cost(feature_of_column[c], prices)
        if net > best:
            chosen, best = c, net
    return chosen
