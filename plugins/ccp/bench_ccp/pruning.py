"""Minimal cost-complexity pruning on flat arrays (Breiman et al. 1984, §3.3).

For one α, a single bottom-up pass finds the smallest tree that minimises R(T) + α |leaves of T|. Weakest-link pruning
that stops at α gives the same tree.
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
    """Risk R of each node: its share of the tree's in-bag weight times its impurity, as in scikit-learn.

    Args:
        forest: the trees.
        measure: the impurity: ``entropy`` (bits), ``gini``, or ``error`` (the share of rows outside the most frequent
            class).

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
    """Mark in `opened` the nodes that remain tests, and return the number of leaves; a tie is pruned."""
    nodes = len(left)
    value = np.zeros(nodes)
    leaves = 0
    for h in range(nodes - 1, -1, -1):
        value[h] = risk[h] + alpha
        opened[h] = False
        if left[h] >= 0:
            inner = value[left[h]] + value[right[h]]
            # scikit-learn adds in another order; the tolerance keeps ties that differ in their last bits.
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
    """Nodes that remain tests when every tree is pruned with α.

    Args:
        forest: the trees.
        risk: float64 (nodes,), from `risk`.
        alpha: complexity parameter α ≥ 0, in the unit of the risk per leaf.

    Returns:
        bool (nodes,).
    """
    opened = np.zeros(forest.nodes, dtype=np.bool_)
    _prune(forest.left, forest.right, forest.parent, risk, alpha, opened)
    return opened


def alpha_grid(forest: FlatForest, risk: NDArray[np.float64], count: int) -> list[float]:
    """Ascending α, from 0, at which the number of leaves falls in geometric steps to one leaf per tree.

    Args:
        forest: the trees.
        risk: float64 (nodes,), from `risk`.
        count: number of α wanted; the result is shorter when several steps have the same α.
    """
    scratch = np.zeros(forest.nodes, dtype=np.bool_)

    def leaves(alpha: float) -> int:
        return int(_prune(forest.left, forest.right, forest.parent, risk, alpha, scratch))

    unpruned = leaves(0.0)
    if unpruned <= forest.trees or count == 1:
        return [0.0]
    top = float(risk.max()) + 1.0  # no split lowers the risk by more than a node's risk
    alphas = [0.0]
    for target in np.geomspace(unpruned, forest.trees, count)[1:]:
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
    """Ascending α in steps of at most 1 %: 0, then from 2^−27 to the first α that prunes every tree to its root.

    Each power of two is divided into 128 steps. The values are exact, so they are the same on every machine.

    Args:
        forest: the trees.
        risk: float64 (nodes,), from `risk`.
    """
    steps = [0.0]
    power = -27
    while steps[-1] < risk.max():  # no split lowers the risk by more than a node's risk
        steps += [math.ldexp(1.0 + i / 128, power) for i in range(128)]
        power += 1
    first = bisect_left(steps, True, key=lambda alpha: not prune(forest, risk, alpha).any())
    return steps[: first + 1]
