"""Kernels of the preflow on (IP)'s closure network, see `bench_budgetprune.flow`.

Common arguments: left, right, parent int32 (nodes,); pair_start int64 (pairs + 1,), entry_node int32 (entries,);
by_start int64 (nodes + 1,), by_pair, by_entry int32 (entries,): entries by node. The preflow: sent float64 (entries,)
from nodes to pairs, up (nodes,) from nodes to their parents. excess (nodes,): excess of each node; sink (nodes,) and
room (pairs,): residual capacities of the arcs from nodes and from pairs to the sink. Labels: label (nodes,), pair_label
(pairs,) int32, `FAR` where no path leads to the sink.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["FAR", "begin", "label_all", "level_cut", "push", "sent_tolls"]

FAR = 2**30


@numba.njit(cache=True, nogil=True)
def begin(  # type: ignore[no-untyped-def]
    left, right, parent, pair_start, entry_node, supply, toll, weight, room, sent, up, excess, sink
):
    """The flow given by the trees' own prunings: closed nodes send their complete toll, the rest goes to the roots.

    Args:
        supply: float64 (nodes,): gain of opening a node, without tolls.
        toll: float64 (nodes,): the most that its entries may send under these weights.
        weight: float64 (nodes,): a pair's price is split in proportion to the weights of its nodes.
        room: float64 (pairs,): prices; reduced by the flow sent.
    """
    nodes = len(left)
    come = np.zeros(nodes)
    part = np.zeros(nodes)
    for h in range(nodes - 1, -1, -1):
        if left[h] < 0:
            continue
        x = come[h] + supply[h]
        if x < 0.0:
            sink[h], x = -x, 0.0
        used = min(x, toll[h])
        if toll[h] > 0.0:
            part[h] = used / toll[h]
        if x > used:
            if parent[h] >= 0:
                up[h] = x - used
                come[parent[h]] += x - used
            else:
                excess[h] = x - used
    for p in range(len(room)):
        total = 0.0
        for e in range(pair_start[p], pair_start[p + 1]):
            total += weight[entry_node[e]]
        scale = room[p] / total
        left_over = room[p]
        for e in range(pair_start[p], pair_start[p + 1]):
            h = entry_node[e]
            sent[e] = min(scale * weight[h] * part[h], left_over)
            left_over -= sent[e]
        room[p] = left_over


@numba.njit(cache=True, nogil=True)
def label_all(  # type: ignore[no-untyped-def]
    left, right, parent, pair_start, entry_node, by_start, by_pair, by_entry,
    sent, up, room, sink, label, pair_label, queue, little,
):  # fmt: skip
    """Labels: distance from the sink in arcs, breadth first; arcs with residual capacity of at most `little` are full.

    Returns:
        The largest label below `FAR`.
    """
    nodes = len(left)
    head, tail, largest = 0, 0, 1
    label[:] = FAR
    pair_label[:] = FAR
    for h in range(nodes):
        if left[h] >= 0 and sink[h] > little:
            label[h] = 1
            queue[tail] = h
            tail += 1
    for p in range(len(room)):
        if room[p] > little:
            pair_label[p] = 1
            queue[tail] = nodes + p
            tail += 1
    while head < tail:
        v = queue[head]
        head += 1
        if v >= nodes:
            p = v - nodes
            after = pair_label[p] + 1
            for e in range(pair_start[p], pair_start[p + 1]):
                h = entry_node[e]
                if label[h] == FAR:
                    label[h] = after
                    queue[tail] = h
                    tail += 1
            continue
        after = label[v] + 1
        largest = label[v]
        for child in (left[v], right[v]):
            if left[child] >= 0 and label[child] == FAR:
                label[child] = after
                queue[tail] = child
                tail += 1
        above = parent[v]
        if above >= 0 and label[above] == FAR and up[v] > little:
            label[above] = after
            queue[tail] = above
            tail += 1
        for j in range(by_start[v], by_start[v + 1]):
            p = by_pair[j]
            if pair_label[p] == FAR and sent[by_entry[j]] > little:
                pair_label[p] = after
                queue[tail] = nodes + p
                tail += 1
    return largest


@numba.njit(cache=True, nogil=True)
def push(  # type: ignore[no-untyped-def]
    left, right, parent, pair_start, entry_node, by_start, by_pair, by_entry,
    sent, up, excess, room, sink, label, pair_label, little, work,
):  # fmt: skip
    """Push and relabel, first in first out, starting with the highest labels; stops after an amount of work.

    Pairs never hold an excess: flow that a pair cannot pass to the sink replaces, in the same step, the flow of another
    node into the pair, and becomes that node's excess.

    Args:
        work: number of arcs to inspect before stopping.
    """
    nodes = len(left)
    waiting = np.zeros(nodes, dtype=np.bool_)
    at = by_start[:-1].copy()
    active = np.flatnonzero((excess > little) & (label < FAR))
    line = np.empty(nodes + 1, dtype=np.int64)
    head, count, size = 0, len(active), nodes + 1
    for i, k in enumerate(np.argsort(-label[active])):
        line[i] = active[k]
        waiting[active[k]] = True
    while count > 0 and work > 0:
        h = line[head]
        head = (head + 1) % size
        count -= 1
        waiting[h] = False
        while excess[h] > little and label[h] < FAR:
            lower = label[h] - 1
            work -= 1
            if lower == 0 and sink[h] > little:
                x = min(excess[h], sink[h])
                excess[h] -= x
                sink[h] -= x
                continue
            above = parent[h]
            if above >= 0 and label[above] == lower:
                up[h] += excess[h]
                excess[above] += excess[h]
                excess[h] = 0.0
                if not waiting[above]:
                    line[(head + count) % size] = above
                    count += 1
                    waiting[above] = True
                break
            lowest = FAR if above < 0 else label[above]
            if sink[h] > little:
                lowest = 0
            for child in (left[h], right[h]):
                if left[child] >= 0 and up[child] > little and excess[h] > little:
                    if label[child] == lower:
                        x = min(excess[h], up[child])
                        excess[h] -= x
                        up[child] -= x
                        excess[child] += x
                        if not waiting[child]:
                            line[(head + count) % size] = child
                            count += 1
                            waiting[child] = True
                    if up[child] > little:
                        lowest = min(lowest, label[child])
            j, end = at[h], by_start[h + 1]
            while j < end and excess[h] > little:
                p = by_pair[j]
                work -= 1
                if pair_label[p] != lower:
                    j += 1
                    continue
                own = by_entry[j]
                if room[p] > little:
                    x = min(excess[h], room[p])
                    excess[h] -= x
                    room[p] -= x
                    sent[own] += x
                    if excess[h] <= little:
                        break
                least = FAR
                for e in range(pair_start[p], pair_start[p + 1]):
                    work -= 1
                    if e == own or sent[e] <= little:
                        continue
                    g = entry_node[e]
                    if label[g] == lower - 1 and excess[h] > little:
                        x = min(excess[h], sent[e])
                        excess[h] -= x
                        sent[e] -= x
                        sent[own] += x
                        excess[g] += x
                        if not waiting[g]:
                            line[(head + count) % size] = g
                            count += 1
                            waiting[g] = True
                    if sent[e] > little:
                        least = min(least, label[g])
                if excess[h] <= little:
                    break
                # The pair leads to no lower label; the node cannot push back its own flow.
                pair_label[p] = max(pair_label[p], min(least + 1, FAR))
                j += 1
            at[h] = j
            if excess[h] <= little:
                break
            for j in range(by_start[h], end):
                work -= 1
                lowest = min(lowest, pair_label[by_pair[j]])
            label[h] = min(max(lowest, label[h]) + 1, FAR)
            at[h] = by_start[h]


@numba.njit(cache=True, nogil=True)
def sent_tolls(pair_start, entry_node, price, sent, toll):  # type: ignore[no-untyped-def]
    """Add the flow sent to the nodes' tolls: any preflow is a dual solution, whatever its excesses.

    Returns:
        Σ min(0, price − flow sent): the amount by which rounding lowers the bound.
    """
    slack = 0.0
    for p in range(len(price)):
        total = 0.0
        for e in range(pair_start[p], pair_start[p + 1]):
            total += sent[e]
            toll[entry_node[e]] += sent[e]
        slack += min(price[p] - total, 0.0)
    return slack


@numba.njit(cache=True, nogil=True)
def level_cut(left, parent, pair_start, entry_node, price, supply, level, levels):  # type: ignore[no-untyped-def]
    """Find the best of the prunings {level ≥ θ}, θ from 1 to `levels`, in one pass.

    Args:
        supply: float64 (nodes,): gain of opening a node, without tolls.
        level: int32 (nodes,), 0 to `levels`; lowered to the parent's where that is lower, to 0 at leaves.

    Returns:
        θ.
    """
    gain = np.zeros(levels + 1)
    for h in range(len(left)):
        if left[h] < 0:
            level[h] = 0
        elif parent[h] >= 0:
            level[h] = min(level[h], level[parent[h]])
        gain[level[h]] += supply[h] if left[h] >= 0 else 0.0
    for p in range(len(price)):
        top = 0
        for e in range(pair_start[p], pair_start[p + 1]):
            top = max(top, level[entry_node[e]])
        gain[top] -= price[p]
    best, most, sum_ = levels, -np.inf, 0.0
    for theta in range(levels, 0, -1):
        sum_ += gain[theta]
        if sum_ > most:
            best, most = theta, sum_
    return best
