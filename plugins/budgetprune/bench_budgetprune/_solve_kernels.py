"""Kernels of Algorithm 1: the trees' dynamic programme, the duals' projected step, one tree's best response."""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["best_response", "count_open", "fixable", "paid", "prune_trees", "step_duals", "way_length"]


@numba.njit(cache=True, nogil=True)
def prune_trees(left, right, parent, leaf_price, toll, value, opened):  # type: ignore[no-untyped-def]
    """The best pruning of each tree independently: step 2 of Algorithm 1, the shortest path of Lemma 3.1.

    value[h] = min(leaf_price[h], toll[h] + value[left] + value[right]), children before parents.

    Args:
        left, right, parent: int32 (nodes,).
        leaf_price: float64 (nodes,): cost of h as a leaf.
        toll: float64 (nodes,): cost of h's test.
        value: float64 (nodes,), written.
        opened: bool (nodes,), written: the tests that remain; ties are pruned.

    Returns:
        The sum of the roots' values.
    """
    total = 0.0
    for h in range(len(left) - 1, -1, -1):
        value[h] = leaf_price[h]
        opened[h] = False
        if left[h] >= 0:
            inner = toll[h] + value[left[h]] + value[right[h]]
            if inner < leaf_price[h]:
                value[h] = inner
                opened[h] = True
        if parent[h] < 0:
            total += value[h]
    for h in range(len(left)):
        if parent[h] >= 0 and not opened[parent[h]]:
            opened[h] = False
    return total


@numba.njit(cache=True, nogil=True)
def fixable(left, right, parent, leaf_price, toll, value, spare, fixed):  # type: ignore[no-untyped-def]
    """Fix the nodes whose state is the same in every pruning that could still be better.

    Under the given duals, the best pruning with h open (or closed) costs more than the best of all by some amount. If
    this exceeds `spare`, the distance from the bound to the best known objective, h is closed (or open).

    Args:
        value: float64 (nodes,), from `prune_trees` under the same tolls.
        spare: float.
        fixed: int8 (nodes,), written: 1 open, −1 closed, 0 undecided; leaves are −1.

    Returns:
        How many inner nodes are fixed.
    """
    nodes = len(left)
    above = np.zeros(nodes)  # the tree's best value without the subtree of h, with all nodes above h open
    closed = np.zeros(nodes)  # the tree's best value if h or a node above it is a leaf
    best = np.zeros(nodes)
    count = 0
    for h in range(nodes):
        p = parent[h]
        if p < 0:
            above[h] = 0.0
            closed[h] = leaf_price[h]
            best[h] = value[h]
        else:
            sibling = right[p] if left[p] == h else left[p]
            above[h] = above[p] + toll[p] + value[sibling]
            closed[h] = min(closed[p], above[h] + leaf_price[h])
            best[h] = best[p]
        fixed[h] = -1
        if left[h] >= 0:
            if above[h] + toll[h] + value[left[h]] + value[right[h]] - best[h] > spare:
                count += 1
            elif closed[h] - best[h] > spare and (p < 0 or fixed[p] == 1):
                fixed[h] = 1
                count += 1
            else:
                fixed[h] = 0
    return count


@numba.njit(cache=True, nogil=True)
def paid(start, stop, pair_start, entry_node, price, opened):  # type: ignore[no-untyped-def]
    """The price of those of the pairs start..stop that have an open entry."""
    cost = 0.0
    for p in range(start, stop):
        for e in range(pair_start[p], pair_start[p + 1]):
            if opened[entry_node[e]]:
                cost += price[p]
                break
    return cost


@numba.njit(cache=True, nogil=True)
def count_open(start, stop, pair_start, entry_node, price, opened, many):  # type: ignore[no-untyped-def]
    """Write the number of open entries of the pairs start..stop to `many` (pairs,)."""
    for p in range(start, stop):
        k = 0
        for e in range(pair_start[p], pair_start[p + 1]):
            k += opened[entry_node[e]]
        many[p] = k


@numba.njit(cache=True, nogil=True)
def way_length(start, stop, pair_start, entry_node, price, way):  # type: ignore[no-untyped-def]
    """Squared length of the duals' direction, in the metric of the step, for pairs start..stop.

    A pair's duals keep their sum, so only the deviations of the direction from its mean count, times the price.
    """
    length = 0.0
    for p in range(start, stop):
        a, b = pair_start[p], pair_start[p + 1]
        one, two = 0.0, 0.0
        for e in range(a, b):
            x = way[entry_node[e]]
            one += x
            two += x * x
        length += price[p] * max(two - one * one / (b - a), 0.0)
    return length


@numba.njit(cache=True, nogil=True)
def step_duals(start, stop, pair_start, entry_node, price, way, step, share, toll):  # type: ignore[no-untyped-def]
    """Step 3 of Algorithm 1, and the tolls of the next step 2, for pairs start..stop.

    A pair's duals over λ, its *shares*, are on the simplex {≥ 0, sum = price}: a smaller sum would only lower the
    bound, and a larger one would make the minimum over w negative. They move by step · price · way and are projected
    back (Michelot's algorithm).

    Args:
        way: float64 (nodes,): the direction, a running mean of the trees' open nodes.
        step: step size; with 0 only the tolls are summed.
        share: float64 (entries,), updated.
        toll: float64 (nodes,), zeroed and written: the sum of the shares of a node's entries.

    Returns:
        Σ min(0, price − Σ share): the amount by which rounding lowers the bound over λ (at most 0).
    """
    toll[:] = 0.0
    slack = 0.0
    for p in range(start, stop):
        a, b = pair_start[p], pair_start[p + 1]
        m, cap = b - a, price[p]
        if step > 0.0:
            move = step * cap
            total, least, most = 0.0, np.inf, -np.inf
            for e in range(a, b):
                x = way[entry_node[e]]
                least, most = min(least, x), max(most, x)
                share[e] += move * x
                total += share[e]
            excess = (total - cap) / m
            if most > least:
                active = m + 1
                while True:
                    # Entries that the shift makes negative become 0; the others share the rest of the shift.
                    total, stay = 0.0, 0
                    for e in range(a, b):
                        if share[e] > excess:
                            total += share[e]
                            stay += 1
                    if stay >= active or stay == 0:  # rounding can make one positive again: avoid an endless loop
                        break
                    active, excess = stay, (total - cap) / stay
            for e in range(a, b):
                share[e] = max(share[e] - excess, 0.0)
        total = 0.0
        for e in range(a, b):
            total += share[e]
            toll[entry_node[e]] += share[e]
        if total > cap:
            slack += cap - total
    return slack


@numba.njit(cache=True, nogil=True)
def best_response(  # type: ignore[no-untyped-def]
    roots, left, right, leaf_price, toll, price, lambda_, by_start, by_pair, many, opened, value
):
    """Replace each tree in turn by its best pruning, given the other trees.

    A unit that another tree already needs costs nothing here, so the objective never rises.

    Args:
        leaf_price, toll: float64 (nodes,): cost of h as a leaf; the fixed part of its test's price.
        by_start, by_pair: pairs by node.
        many: int32 (pairs,): open entries of each pair, updated.
        opened: bool (nodes,), updated.
        value: float64 (nodes,), scratch.

    Returns:
        Number of trees that changed.
    """
    nodes = len(left)
    changed = 0
    fresh = np.zeros(nodes, dtype=np.bool_)
    for t in range(len(roots)):
        first = roots[t]
        end = roots[t + 1] if t + 1 < len(roots) else nodes
        for h in range(first, end):
            if opened[h]:
                for j in range(by_start[h], by_start[h + 1]):
                    many[by_pair[j]] -= 1
        for h in range(end - 1, first - 1, -1):
            value[h] = leaf_price[h]
            fresh[h] = False
            if left[h] >= 0:
                inner = toll[h] + value[left[h]] + value[right[h]]
                if inner < leaf_price[h]:
                    for j in range(by_start[h], by_start[h + 1]):
                        if many[by_pair[j]] == 0:
                            inner += lambda_ * price[by_pair[j]]
                    if inner < leaf_price[h]:
                        value[h] = inner
                        fresh[h] = True
        for h in range(first, end):
            if not fresh[h] and left[h] >= 0:
                fresh[left[h]] = False
                fresh[right[h]] = False
        differs = False
        for h in range(first, end):
            if fresh[h]:
                for j in range(by_start[h], by_start[h + 1]):
                    many[by_pair[j]] += 1
            if fresh[h] != opened[h]:
                opened[h] = fresh[h]
                differs = True
        changed += differs
    return changed
