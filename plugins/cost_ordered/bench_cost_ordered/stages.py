"""Which features are acquired at which stage: cost classes, cheapest first (EMSCO §4.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["entry_prices", "stages_by_cost"]


def entry_prices(problem: Problem) -> NDArray[np.float64]:
    """What each feature would cost if it were the only one acquired: its own price plus its group's.

    Prices that grow with item size are taken at the training part's mean size.

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
    """The new features of each stage.

    The classes are the cost scheme's where it has classes, ordered by their mean price and then by number;
    otherwise features of one price (see `entry_prices`) are a class. With ``max_stages``, and more classes than
    that, neighbouring classes merge by quantile: with x_i the share of features whose class is not more expensive than
    feature i's, its stage is ``ceil(max_stages · x_i)``. A class is never torn apart.

    Returns:
        Features (int64, ascending) per stage; disjoint, none empty, together all features.
    """
    prices = entry_prices(problem)
    if problem.costs.classes is None:
        order = np.unique(prices, return_inverse=True)[1].reshape(-1)
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
