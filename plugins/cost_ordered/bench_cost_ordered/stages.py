"""The stages of CO-T: cost classes of features, cheapest first (EMSCO §4.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["entry_prices", "stages_by_cost"]


def entry_prices(problem: Problem) -> NDArray[np.float64]:
    """Cost of acquiring each feature alone: its own price plus its group's.

    Prices that grow with item size are taken at the mean size of the training items.

    Returns:
        float64 (features,).
    """
    costs = problem.costs
    size = None
    if costs.depends_on_size:
        sizes = problem.train.sizes
        size = float(np.mean(sizes)) if sizes is not None and len(sizes) else 0.0
    return np.array([costs.cost_of([feature], size) for feature in range(costs.n_features)])


def stages_by_cost(problem: Problem, max_stages: int | None = None) -> list[NDArray[np.int64]]:
    """Features that each stage adds.

    If the cost scheme defines cost classes, they are the stages, ordered by mean price and then by class number.
    Otherwise, features of equal price (see `entry_prices`; to 12 significant digits) form a class. More classes than
    ``max_stages`` are merged by quantile: let x_i be the share of features whose class is not more expensive than that
    of feature i; then the stage of feature i is ``ceil(max_stages · x_i)``. A class is never divided.

    Returns:
        One int64 array of ascending feature indices per stage. The arrays are not empty, and every feature is in
        exactly one of them.
    """
    prices = entry_prices(problem)
    if problem.costs.classes is None:
        rounded = [float(f"{price:.12g}") for price in prices]  # .1 + .2, of a group, is .3
        order = np.unique(rounded, return_inverse=True)[1].reshape(-1)
    else:
        numbers, member = np.unique(problem.costs.classes, return_inverse=True)
        member = member.reshape(-1)
        means = np.bincount(member, weights=prices) / np.bincount(member)
        rank = np.empty(len(numbers), dtype=np.int64)
        rank[np.lexsort((numbers, means))] = np.arange(len(numbers))
        order = rank[member]
    if max_stages is not None and order.max() + 1 > max_stages:
        share = np.searchsorted(np.sort(order), order, side="right") / len(order)
        merged = np.ceil(max_stages * share - 1e-9)
        order = np.unique(merged, return_inverse=True)[1].reshape(-1)
    return [np.flatnonzero(order == stage) for stage in range(int(order.max()) + 1)]
