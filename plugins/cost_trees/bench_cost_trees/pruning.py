"""Pessimistic pruning: replace a subtree by a leaf if the estimated number of errors does not grow.

The estimate for a leaf with E errors among N training rows is N · U(E, N). U is the upper confidence limit of the
error rate at confidence factor CF: the rate at which at most E errors have probability CF (Quinlan 1993, §4.2). For
E = 0 it is exact, ``1 − CF^(1/N)``. Otherwise it is the upper end of the Wilson interval with a continuity correction
of half an error, at ``z = Φ⁻¹(1 − CF)``, or z = 0 where CF is 50 % or more.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bench_cost_trees.tree import Tree

__all__ = ["normal_quantile", "pruned", "pruned_leaves", "pruned_plain", "upper_limit"]


def normal_quantile(confidence: float) -> float:
    """z = Φ⁻¹(1 − CF) for a confidence factor CF in (0, 1]; 0 where CF ≥ 50 %."""
    return 0.0 if confidence >= 0.5 else NormalDist().inv_cdf(1.0 - confidence)


def upper_limit(errors: int, n: int, confidence: float) -> float:
    """Upper confidence limit U(E, N) of the error rate of a leaf; 0 for n = 0.

    Args:
        errors: errors E among the leaf's training rows.
        n: number N of the leaf's training rows.
        confidence: confidence factor CF, in (0, 1].
    """
    if n == 0:
        return 0.0
    if errors == 0:
        return float(1.0 - confidence ** (1.0 / n))
    z = normal_quantile(confidence)
    f = min((errors + 0.5) / n, 1.0)
    spread = z * math.sqrt(f / n - f * f / n + z * z / (4.0 * n * n))
    return (f + z * z / (2.0 * n) + spread) / (1.0 + z * z / n)


def pruned_plain(tree: Tree, confidence: float) -> Tree:
    """Prune a tree bottom-up; ties become leaves. The reference implementation of `pruned`."""
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
    """Compiled `pruned_plain`."""
    return tree.cut(pruned_leaves(tree, confidence))


def pruned_leaves(tree: Tree, confidence: float) -> NDArray[np.bool_]:
    """Leaves of the pruned tree; bool (nodes,). Values of nodes below these leaves are undefined."""
    from bench_cost_trees._kernels_grown import prune

    leaf: NDArray[np.bool_] = prune(tree.left, tree.counts, confidence, normal_quantile(confidence))
    return leaf
