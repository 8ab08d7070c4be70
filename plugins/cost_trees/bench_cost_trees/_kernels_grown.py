"""Compiled versions of `pruning.pruned_plain` and `fitness.mean_cost_plain`, which take a grown tree."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

__all__ = ["mean_cost", "prune"]


@numba.njit(cache=True)
def prune(left: Any, counts: Any, confidence: Any, z: Any) -> Any:
    """`pruning.pruned_leaves`: whether each node is a leaf of the pruned tree or lies below one; bool (nodes,)."""
    nodes, classes = counts.shape
    leaf = np.zeros(nodes, np.bool_)
    estimate = np.zeros(nodes)
    for at in range(nodes - 1, -1, -1):
        n, most = 0, 0
        for k in range(classes):
            n += counts[at, k]
            most = max(most, counts[at, k])
        estimate[at] = n * _upper_limit(n - most, n, confidence, z)
        if left[at] < 0:
            leaf[at] = True
            continue
        inner = estimate[left[at]] + estimate[left[at] + 1]
        if estimate[at] <= inner + 1e-9:
            leaf[at] = True
        else:
            estimate[at] = inner
    return leaf


@numba.njit(cache=True)
def _upper_limit(errors: Any, n: Any, confidence: Any, z: Any) -> Any:
    """`pruning.upper_limit`."""
    if n == 0:
        return 0.0
    if errors == 0:
        return 1.0 - confidence ** (1.0 / n)
    f = min((errors + 0.5) / n, 1.0)
    spread = z * math.sqrt(f / n - f * f / n + z * z / (4.0 * n * n))
    return (f + z * z / (2.0 * n) + spread) / (1.0 + z * z / n)


@numba.njit(cache=True)
def mean_cost(
    X: Any,
    y: Any,
    rows: Any,
    column: Any,
    threshold: Any,
    missing_left: Any,
    left: Any,
    labels: Any,
    feature_of_column: Any,
    first: Any,
    later: Any,
    group: Any,
    error_cost: Any,
) -> Any:
    """`fitness.mean_cost_plain`: mean over rows of the price of the tests plus the cost of a wrong label."""
    nodes = len(column)
    bill, parent = np.zeros(nodes), np.full(nodes, -1, np.int64)
    for at in range(nodes):
        if left[at] < 0:
            continue
        feature = feature_of_column[column[at]]
        made, opened, up = False, False, parent[at]
        while up >= 0:
            other = feature_of_column[column[up]]
            made = made or other == feature
            opened = opened or (group[feature] >= 0 and group[other] == group[feature])
            up = parent[up]
        paid = bill[at]
        if not made:
            paid += later[feature] if opened else first[feature]
        for child in (left[at], left[at] + 1):
            parent[child], bill[child] = at, paid
    total = 0.0
    for i in range(len(rows)):
        row = rows[i]
        at = 0
        while left[at] >= 0:
            value = X[row, column[at]]
            goes_left = missing_left[at] if np.isnan(value) else value <= threshold[at]
            at = left[at] if goes_left else left[at] + 1
        total += bill[at]
        if labels[at] != y[row]:
            total += error_cost
    return total / len(rows)
