"""Pessimistic pruning: a subtree becomes a leaf where that is not expected to err more.

The errors expected at a leaf with E errors among N training rows are N U(E, N), where U is the upper limit of the error
rate at a confidence CF: the rate at which so few errors have the chance CF (Quinlan 1993, §4.2). For E = 0 it is exact,
``1 − CF^(1/N)``; else it is the upper end of the Wilson interval with a correction for continuity of half an error, at
``z = Φ⁻¹(1 − CF)``, 0 above 50 %. CF = 1 takes the training errors for what they are.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bench_cost_trees.tree import Tree

__all__ = ["normal_quantile", "pruned", "pruned_leaves", "pruned_plain", "upper_limit"]


def normal_quantile(confidence: float) -> float:
    """z of a confidence in (0, 1]; 0 from 50 % on."""
    return 0.0 if confidence >= 0.5 else NormalDist().inv_cdf(1.0 - confidence)


def upper_limit(errors: int, n: int, confidence: float) -> float:
    """The error rate that is feared of a leaf with so many errors among n training rows; 0 for n = 0."""
    if n == 0:
        return 0.0
    if errors == 0:
        return float(1.0 - confidence ** (1.0 / n))
    z = normal_quantile(confidence)
    f = min((errors + 0.5) / n, 1.0)
    spread = z * math.sqrt(f / n - f * f / n + z * z / (4.0 * n * n))
    return (f + z * z / (2.0 * n) + spread) / (1.0 + z * z / n)


def pruned_plain(tree: Tree, confidence: float) -> Tree:
    """The pruned tree: subtrees are replaced by leaves bottom-up, ties by a leaf."""
    sizes, errors = tree.counts.sum(axis=1).tolist(), tree.errors.tolist()
    leaf = np.zeros(len(tree), dtype=bool)
    estimate = [n * upper_limit(e, n, confidence) for e, n in zip(errors, sizes, strict=True)]
    for node in reversed(range(len(tree))):
        child = int(tree.left[node])
        if child < 0 or estimate[node] <= estimate[child] + estimate[child + 1] + 1e-9:
            leaf[node] = True
        else:
            estimate[node] = estimate[child] + estimate[child + 1]
    return tree.cut(leaf)


def pruned(tree: Tree, confidence: float) -> Tree:
    """`pruned_plain`, compiled."""
    return tree.cut(pruned_leaves(tree, confidence))


def pruned_leaves(tree: Tree, confidence: float) -> NDArray[np.bool_]:
    """Where the pruned tree ends; bool (nodes,). What lies below such a node means nothing."""
    from bench_cost_trees._kernels import prune

    leaf: NDArray[np.bool_] = prune(tree.left, tree.counts, confidence, normal_quantile(confidence))
    return leaf
