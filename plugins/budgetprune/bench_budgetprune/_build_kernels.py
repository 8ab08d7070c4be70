"""Kernels that build the arrays of (IP)'s pairs and their entries."""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["entries", "pairs_by_node", "passing", "reduce_pairs", "surviving", "uses"]


@numba.njit(cache=True, nogil=True)
def _count_needs(leaves, parent, own, group, count):  # type: ignore[no-untyped-def]
    """Count how many nodes above some leaves are the first to need each unit: int64 (units,), in place."""
    count[:] = 0
    for leaf in leaves:
        node = parent[leaf]
        while node >= 0:
            if own[node] >= 0:
                count[own[node]] += 1
            if group[node] >= 0:
                count[group[node]] += 1
            node = parent[node]


@numba.njit(cache=True, nogil=True)
def entries(leaf, parent, own, group, units):  # type: ignore[no-untyped-def]
    """Pairs, row by row, units ascending, with their entries in the order of trees.

    Args:
        leaf: int32 (rows, trees).
        parent: int32 (nodes,).
        own, group: int32 (nodes,): units that a node is the first to need on its path, −1 for none.
        units: number of units.

    Returns:
        pair starts, entry nodes, unit and row of each pair.
    """
    rows, trees = leaf.shape
    total, pairs = 0, 0
    count = np.zeros(units, dtype=np.int64)
    for i in range(rows):
        _count_needs(leaf[i], parent, own, group, count)
        for k in range(units):
            total += count[k]
            pairs += count[k] > 0
    starts = np.zeros(pairs + 1, dtype=np.int64)
    nodes = np.empty(total, dtype=np.int32)
    unit_of = np.empty(pairs, dtype=np.int32)
    row_of = np.empty(pairs, dtype=np.int32)
    place = np.zeros(units, dtype=np.int64)
    pair, at = 0, 0
    for i in range(rows):
        _count_needs(leaf[i], parent, own, group, count)
        for k in range(units):
            place[k] = at
            if count[k] > 0:
                at += count[k]
                unit_of[pair], row_of[pair] = k, i
                pair += 1
                starts[pair] = at
        for t in range(trees):
            node = parent[leaf[i, t]]
            while node >= 0:
                if own[node] >= 0:
                    nodes[place[own[node]]] = node
                    place[own[node]] += 1
                if group[node] >= 0:
                    nodes[place[group[node]]] = node
                    place[group[node]] += 1
                node = parent[node]
    return starts, nodes, unit_of, row_of


@numba.njit(cache=True, nogil=True)
def passing(leaf, parent):  # type: ignore[no-untyped-def]
    """Number of rows that pass through or end in each node: float64 (nodes,)."""
    rows, trees = leaf.shape
    count = np.zeros(len(parent))
    for i in range(rows):
        for t in range(trees):
            node = leaf[i, t]
            while node >= 0:
                count[node] += 1
                node = parent[node]
    return count


@numba.njit(cache=True, nogil=True)
def pairs_by_node(pair_start, entry_node, nodes):  # type: ignore[no-untyped-def]
    """Entries sorted by node: starts int64 (nodes + 1,), pairs and entry numbers int32 (entries,)."""
    starts = np.zeros(nodes + 1, dtype=np.int64)
    for e in range(len(entry_node)):
        starts[entry_node[e] + 1] += 1
    for h in range(nodes):
        starts[h + 1] += starts[h]
    at = starts[:-1].copy()
    pairs = np.empty(len(entry_node), dtype=np.int32)
    entries = np.empty(len(entry_node), dtype=np.int32)
    for p in range(len(pair_start) - 1):
        for e in range(pair_start[p], pair_start[p + 1]):
            h = entry_node[e]
            pairs[at[h]] = p
            entries[at[h]] = e
            at[h] += 1
    return starts, pairs, entries


@numba.njit(cache=True, nogil=True)
def surviving(pair_start, entry_node, price, fixed):  # type: ignore[no-untyped-def]
    """Numbers of undecided pairs and entries, and the price of the pairs that are due."""
    pairs, count, due = 0, 0, 0.0
    for p in range(len(price)):
        left = 0
        for e in range(pair_start[p], pair_start[p + 1]):
            state = fixed[entry_node[e]]
            if state > 0:
                left = -1
                break
            left += state == 0
        if left < 0:
            due += price[p]
        elif left > 1:
            pairs += 1
            count += left
    return pairs, count, due


@numba.njit(cache=True, nogil=True)
def reduce_pairs(pair_start, entry_node, price, fixed, number, toll):  # type: ignore[no-untyped-def]
    """The pairs that remain undecided when some nodes are fixed.

    Args:
        fixed: int8 (nodes,): 1 open, −1 closed, 0 undecided.
        number: int32 (nodes,): new node numbers of undecided inner nodes.
        toll: float64 (new nodes,): incremented by the price of pairs that are left with one entry.

    Returns:
        New pair starts, entry nodes, prices, the old number of each entry; the price of pairs that a node fixed
        open makes due.
    """
    pairs, count, due = surviving(pair_start, entry_node, price, fixed)
    starts = np.zeros(pairs + 1, dtype=np.int64)
    nodes = np.empty(count, dtype=np.int32)
    old = np.empty(count, dtype=np.int32)
    prices = np.empty(pairs)
    pair, at = 0, 0
    for p in range(len(price)):
        left, sole = 0, -1
        for e in range(pair_start[p], pair_start[p + 1]):
            state = fixed[entry_node[e]]
            if state > 0:
                left = -1
                break
            if state == 0:
                left += 1
                sole = entry_node[e]
        if left == 1:
            toll[number[sole]] += price[p]
        elif left > 1:
            for e in range(pair_start[p], pair_start[p + 1]):
                if fixed[entry_node[e]] == 0:
                    nodes[at] = number[entry_node[e]]
                    old[at] = e
                    at += 1
            prices[pair] = price[p]
            pair += 1
            starts[pair] = at
    return starts, nodes, prices, old, due


@numba.njit(cache=True, nogil=True)
def uses(leaf, parent, feature, features):  # type: ignore[no-untyped-def]
    """Number of tests of each feature on each row's paths: int32 (rows, features)."""
    rows, trees = leaf.shape
    count = np.zeros((rows, features), dtype=np.int32)
    for i in range(rows):
        for t in range(trees):
            node = parent[leaf[i, t]]
            while node >= 0:
                count[i, feature[node]] += 1
                node = parent[node]
    return count
