"""The steps of GreedyPrune: what every removal would save and lose, and the cheapest loss first.

BUDGETPRUNE §5 (iii): "at each iteration it attempts to remove all nodes corresponding to one feature … such that
the resulting pruned RF has the lowest training error and average feature cost … successively removing features
that result in large cost reduction yet small accuracy loss". Settled: the removal with the least rise in
training error (in-bag) per price saved (mean over validation rows); among equals the one that saves most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from bench_models.forest.acquisition import Units
from bench_models.forest.flat import FlatForest
from numpy.typing import NDArray

__all__ = ["Step", "greedy_steps", "removal"]


@dataclass(frozen=True, eq=False)
class Step:
    """The forest after some removals.

    Attributes:
        removed: what was removed in this step (−1 before the first).
        opened: bool (nodes,): the tests that stay.
        error: training error, the mean over trees of their in-bag error.
        cost: mean price over the rows.
    """

    removed: int
    opened: NDArray[np.bool_]
    error: float
    cost: float


@numba.njit(cache=True, nogil=True)
def removal(left, parent, part, opened, target):  # type: ignore[no-untyped-def]
    """The tests that stay when those of one part, and all below them, go; bool (nodes,)."""
    stays = opened.copy()
    for h in range(len(left)):
        if stays[h] and (part[h] == target or (parent[h] >= 0 and not stays[parent[h]])):
            stays[h] = False
    return stays


@numba.njit(cache=True, nogil=True)
def _losses(left, right, parent, part, first, opened, error, parts):  # type: ignore[no-untyped-def]
    """Rise of training error by removing each part: float64 (parts,)."""
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
def _savings(leaf, parent, part, own, group, opened, price, parts):  # type: ignore[no-untyped-def]
    """What removing each part saves, summed over rows: float64 (parts,); and what is paid now.

    A row's unit is saved when in every tree where it is needed, a test of the part comes before or with the
    first need.
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
                        longer[:length] = way
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


def greedy_steps(
    forest: FlatForest, leaf: NDArray[np.int32], units: Units, part_of_feature: NDArray[np.int64]
) -> list[Step]:
    """Remove one part after another until no test is left.

    Args:
        forest: the trees.
        leaf: int32 (rows, trees): where the rows whose price counts end.
        units: what is paid, priced for these rows.
        part_of_feature: int64 (features,): what is removed at once: a feature, or its group.

    Returns:
        The whole forest, then the forest after each removal.
    """
    from bench_models.forest.acquisition import first_tests

    parts = int(part_of_feature.max()) + 1
    part = np.where(forest.inner, part_of_feature[np.maximum(forest.feature, 0)], -1)
    first = first_tests(forest, part_of_feature) >= 0
    own, group = first_tests(forest, units.own), first_tests(forest, units.group)
    opened, removed = forest.inner.copy(), -1
    steps: list[Step] = []
    while True:
        saved, paid = _savings(leaf, forest.parent, part, own, group, opened, units.prices, parts)
        error = float(forest.error[forest.leaves(opened)].sum())
        steps.append(Step(removed, opened, error, paid / len(leaf)))
        left = np.unique(part[opened])
        if not len(left):
            return steps
        loss = _losses(forest.left, forest.right, forest.parent, part, first, opened, forest.error, parts)
        saves = saved[left] / len(leaf)
        # No saving is worth a loss only when the loss is nothing either: then it is an equal of the best.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(loss[left] <= 1e-15, 0.0, loss[left] / saves)
        removed = int(left[np.lexsort((left, -saves, ratio))[0]])
        opened = removal(forest.left, forest.parent, part, opened, removed)
