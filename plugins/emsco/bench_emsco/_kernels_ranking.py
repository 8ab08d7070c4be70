"""Compiled kernels of non-dominated sorting and fitness; they equal functions of `pareto` and `ranking` bit for bit.

They use only correctly rounded operations (no log, no exp). The module is imported only when a run needs it, because
importing numba is slow.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def fronts(accuracy, cost):
    """`pareto.fronts` by efficient non-dominated sorting.

    Only the staircase of a front is stored: its members that no other member covers in (accuracy, cost), by ascending
    cost and therefore ascending accuracy. One binary search then tests whether a front dominates a point, and another
    finds the point's front. The staircase of front f is stair[start[f]:start[f + 1]].
    """
    size = accuracy.size
    front = np.empty(size, np.int64)
    stair = np.empty(size + 1, np.int64)
    start = np.zeros(size + 2, np.int64)
    count = 0
    used = 0
    for p in range(size):
        low, high = 0, count  # the first front in [low, high] without a member that dominates p
        while low < high:
            middle = (low + high) // 2
            at = _places(cost, stair, start[middle], start[middle + 1], cost[p], True)
            if at > start[middle] and accuracy[stair[at - 1]] >= accuracy[p]:
                low = middle + 1
            else:
                high = middle
        if low == count:
            count += 1
            start[count] = used
        front[p] = low
        begin = _places(cost, stair, start[low], start[low + 1], cost[p], False)
        end = begin
        while end < start[low + 1] and accuracy[stair[end]] <= accuracy[p]:
            end += 1
        shift = 1 - (end - begin)
        if shift == 1:
            for i in range(used, end, -1):
                stair[i] = stair[i - 1]
        elif shift < 0:
            for i in range(end, used):
                stair[i + shift] = stair[i]
        stair[begin] = p
        used += shift
        for f in range(low + 1, count + 1):
            start[f] += shift
    return front


@njit(cache=True, inline="always")
def _places(cost, stair, low, high, limit, right_side):
    """Binary search in stair[low:high], sorted by cost: the first place with cost > limit (or >= limit)."""
    while low < high:
        middle = (low + high) // 2
        here = cost[stair[middle]]
        if here < limit or (right_side and here == limit):
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def rank_points(conclusive, accuracy, cost, n_rows, epsilon):
    """`ranking.rank_points`, without its checks; returns the fields of a `ranking.Standing`."""
    size = conclusive.size
    front = fronts(accuracy, cost)
    goals = np.empty((size, 3))
    norm = np.empty(size)
    cheapest = cost.min()
    smallest = np.inf
    greatest = 0.0
    for p in range(size):
        goals[p, 0] = np.float64(conclusive[p]) / np.float64(n_rows)
        goals[p, 1] = accuracy[p]
        goals[p, 2] = np.float64(cheapest) / np.float64(cost[p]) if cost[p] > 0 else 1.0
        norm[p] = np.sqrt(goals[p, 0] * goals[p, 0] + goals[p, 1] * goals[p, 1] + goals[p, 2] * goals[p, 2])
        greatest = max(greatest, norm[p])
        if norm[p] > 0.0:
            smallest = min(smallest, norm[p])
    if norm.min() == 0.0:
        smallest *= 0.5
        for p in range(size):
            norm[p] = max(norm[p], smallest)
    base = greatest / smallest + epsilon

    last = front.max()
    begin = np.zeros(last + 2, np.int64)  # where each front begins among the points sorted by fitness
    for p in range(size):
        begin[front[p] + 1] += 1
    powers = np.ones(last + 1)
    for f in range(1, last + 1):
        begin[f + 1] += begin[f]
        powers[f] = powers[f - 1] * (1.0 / base)
    weight = np.empty(size)
    place = np.empty(size, np.int64)
    for p in np.argsort(-norm, kind="mergesort"):
        weight[p] = powers[front[p]] * norm[p]
        place[p] = begin[front[p]]
        begin[front[p]] += 1
    return goals, norm, front, weight, base, place


@njit(cache=True)
def sort_chromosomes(place, point, front, stages, at_least, max_per_point):
    """`ranking.sort_chromosomes`: two stable counting sorts, by stages and then by place."""
    size = point.size
    begin = np.zeros(stages.max() + 2, np.int64)
    for row in range(size):
        begin[stages[row] + 1] += 1
    for s in range(1, begin.size):
        begin[s] += begin[s - 1]
    by_stages = np.empty(size, np.int64)
    for row in range(size):
        by_stages[begin[stages[row]]] = row
        begin[stages[row]] += 1
    begin = np.zeros(place.size + 1, np.int64)
    for row in range(size):
        begin[place[point[row]] + 1] += 1
    best = 0
    for d in range(place.size):
        if front[d] == 0:
            best += min(begin[place[d] + 1], max_per_point)
    for d in range(1, begin.size):
        begin[d] += begin[d - 1]
    order = np.empty(size, np.int64)
    for row in by_stages:
        order[begin[place[point[row]]]] = row
        begin[place[point[row]]] += 1
    elite = np.empty(size, np.int64)
    limit = max(at_least, best)
    taken = 0
    current = -1
    shared = 0
    for at in range(size):
        if taken == limit:
            break
        if point[order[at]] != current:
            current = point[order[at]]
            shared = 0
        if shared < max_per_point:
            elite[taken] = at
            taken += 1
        shared += 1
    return order, elite[:taken].copy()
