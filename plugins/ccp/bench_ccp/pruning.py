"""Minimal cost-complexity pruning on flat arrays (Breiman et al. 1984, §3.3).

For one α, the smallest tree that minimises R(T) + α |leaves of T| is found bottom-up in one pass; it is the tree
that weakest-link pruning ends with when it stops at α.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Literal

import numba
import numpy as np
from bench_models.forest.flat import FlatForest
from numpy.typing import NDArray

__all__ = ["alpha_grid", "alpha_steps", "prune", "risk"]


def risk(forest: FlatForest, measure: Literal["entropy", "gini", "error"]) -> NDArray[np.float64]:
    """R of each node: its share of the tree's in-bag weight times its impurity, as in scikit-learn.

    Args:
        forest: the trees.
        measure: ``entropy`` (bits), ``gini``, or ``error``, the share of rows not of the most frequent class.

    Returns:
        float64 (nodes,).
    """
    p = forest.distribution
    if measure == "entropy":
        impurity = -np.sum(p * np.log2(p, where=p > 0, out=np.zeros_like(p)), axis=1)
    elif measure == "gini":
        impurity = 1.0 - np.sum(p * p, axis=1)
    else:
        impurity = 1.0 - p.max(axis=1)
    return np.asarray(forest.weight / forest.bag * impurity)


@numba.njit(cache=True, nogil=True)
def _prune(left, right, parent, risk, alpha, opened):  # type: ignore[no-untyped-def]
    """Writes the tests that stay to `opened`, returns the number of leaves; ties prune."""
    nodes = len(left)
    value = np.zeros(nodes)
    leaves = 0
    for h in range(nodes - 1, -1, -1):
        value[h] = risk[h] + alpha
        opened[h] = False
        if left[h] >= 0:
            inner = value[left[h]] + value[right[h]]
            # Sums in another order than scikit-learn's differ in their last bits: a tie is a tie.
            if inner < value[h] - 1e-12:
                value[h] = inner
                opened[h] = True
    for h in range(nodes):
        if parent[h] >= 0 and not opened[parent[h]]:
            opened[h] = False
        elif not opened[h]:
            leaves += 1
    return leaves


def prune(forest: FlatForest, risk: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Which nodes stay tests when every tree is pruned with α; bool (nodes,)."""
    opened = np.zeros(forest.nodes, dtype=np.bool_)
    _prune(forest.left, forest.right, forest.parent, risk, alpha, opened)
    return opened


def alpha_grid(forest: FlatForest, risk: NDArray[np.float64], count: int) -> list[float]:
    """Rising α, the first 0, that leave numbers of leaves in geometric steps down to one a tree.

    Args:
        forest: the trees.
        risk: from `risk`.
        count: how many; fewer come back when the trees have fewer sizes.
    """
    scratch = np.zeros(forest.nodes, dtype=np.bool_)

    def leaves(alpha: float) -> int:
        return int(_prune(forest.left, forest.right, forest.parent, risk, alpha, scratch))

    whole = leaves(0.0)
    if whole <= forest.trees or count == 1:
        return [0.0]
    top = float(risk.max()) + 1.0  # no split is worth more than the whole risk
    alphas = [0.0]
    for target in np.geomspace(whole, forest.trees, count)[1:]:
        low, high = 0.0, top
        for _ in range(60):
            middle = 0.5 * (low + high) if low == 0 and high < 1e-9 else np.sqrt(max(low, 1e-12) * high)
            if leaves(middle) > target:
                low = middle
            else:
                high = middle
        alphas.append(float(high))
    return sorted(set(alphas))


def alpha_steps(forest: FlatForest, risk: NDArray[np.float64]) -> list[float]:
    """Rising α, a percent or less apart: 0, and those from far below what a leaf is worth to the first to prune all.

    128 of them to a power of two, from 2^−27 on: exact, so that they are the same on every machine.

    Args:
        forest: the trees.
        risk: from `risk`.
    """
    steps = [0.0]
    power = -27
    while steps[-1] < risk.max():  # no split is worth more than the whole risk
        steps += [math.ldexp(1.0 + i / 128, power) for i in range(128)]
        power += 1
    first = bisect_left(steps, True, key=lambda alpha: not prune(forest, risk, alpha).any())
    return steps[: first + 1]
