"""Compiled parts of GreedyPrune's steps: the tests that remain after a removal, the errors added, the price saved."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def removal(left, parent, part, opened, target):  # type: ignore[no-untyped-def]
    """The tests that remain after removing those of one part and all below them; bool (nodes,)."""
    stays = opened.copy()
    for h in range(len(left)):
        if stays[h] and (part[h] == target or (parent[h] >= 0 and not stays[parent[h]])):
            stays[h] = False
    return stays


@numba.njit(cache=True, nogil=True)
def losses(left, right, parent, part, first, opened, error, parts):  # type: ignore[no-untyped-def]
    """Rise of the training error after removing each part: float64 (parts,)."""
    nodes = len(left)
    below = np.zeros(nodes)
    for h in range(nodes - 1, -1, -1):
        below[h] = below[left[h]] + below[right[h]] if opened[h] else error[h]
    loss = np.zeros(parts)
    for h in range(nodes):
        if opened[h] and first[h]:
            loss[part[h]] += error[h] - below[h]
    return loss


@numba.njit(cache=True, nogil=True)
def savings(leaf, parent, part, own, group, opened, price, parts):  # type: ignore[no-untyped-def]
    """Price saved by removing each part, summed over rows: float64 (parts,); and the price paid now.

    A row saves a unit if, in every tree that needs it, a test of the part comes before or at the first test that needs
    the unit.
    """
    rows, trees = leaf.shape
    units = price.shape[1]
    saved = np.zeros(parts)
    paid = 0.0
    needs = np.zeros(units, dtype=np.int64)
    ends = np.zeros((units, parts), dtype=np.int64)
    way = np.zeros(1024, dtype=np.int64)
    seen = np.zeros(parts, dtype=np.bool_)
    order = np.zeros(parts, dtype=np.int64)
    for i in range(rows):
        needs[:] = 0
        ends[:] = 0
        for t in range(trees):
            node, length = parent[leaf[i, t]], 0
            while node >= 0:
                if opened[node]:
                    if length == len(way):
                        longer = np.zeros(2 * length, dtype=np.int64)
                        for k in range(length):
                            longer[k] = way[k]
                        way = longer
                    way[length] = node
                    length += 1
                node = parent[node]
            met = 0
            for j in range(length - 1, -1, -1):
                h = way[j]
                if not seen[part[h]]:
                    seen[part[h]] = True
                    order[met] = part[h]
                    met += 1
                for k in (own[h], group[h]):
                    if k >= 0:
                        needs[k] += 1
                        for a in range(met):
                            ends[k, order[a]] += 1
            for a in range(met):
                seen[order[a]] = False
        row = i if len(price) > 1 else 0
        for k in range(units):
            if needs[k] > 0 and price[row, k] > 0:
                paid += price[row, k]
                for q in range(parts):
                    if ends[k, q] == needs[k]:
                        saved[q] += price[row, k]
    return saved, paid
