"""Progressive search of the lattice: α descends until a precomputation budget is used up.

Source: PolyDom, "Feature Set Pruning", the discussion of many features.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from bench_polydom.lattice import Accuracy, Covering, Expansion, Lattice, OutOfBudget, checked_tolerances

__all__ = ["PROGRESSIVE_ALPHAS", "progressive_search"]

PROGRESSIVE_ALPHAS = (2.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)


def progressive_search(
    accuracy: Accuracy,
    n_features: int,
    alphas: Sequence[float] = PROGRESSIVE_ALPHAS,
    e: float = 0.0,
    *,
    covering: Covering = "none",
    greedy_first: bool = False,
    max_sets: float = math.inf,
    max_seconds: float = math.inf,
) -> Expansion:
    """Search for descending α, each search continuing from the previous one, until a precomputation budget is used up.

    Args:
        accuracy: as in `search`.
        n_features: number d of features.
        alphas: tolerances, in any order; the largest is searched first.
        e: as in `search`.
        covering: as in `search`.
        greedy_first: whether to expand the sets that GreedyAcc trains (`bench_polydom.greedy`) before the search, so
            that a search that is stopped has sets of every size.
        max_sets: maximum number of models to train.
        max_seconds: time in seconds after which no further model is started; makes the result depend on the machine.

    Returns:
        All expanded sets, including those of an incomplete search. `Expansion.alpha` is the smallest completed
        tolerance, or infinity if none was completed.

    Raises:
        ValueError: ``alphas`` is empty, a tolerance is negative or not finite, or there are too many features.
    """
    if not alphas:
        raise ValueError("progressive search needs at least one alpha")
    for alpha in alphas:
        checked_tolerances(alpha, e)
    lattice = Lattice(n_features, accuracy, max_sets, time.monotonic() + max_seconds)
    done, stopped = math.inf, False
    try:
        if greedy_first:
            lattice.grow()
        for alpha in sorted(set(alphas), reverse=True):
            lattice.run(alpha, e, covering)
            done = alpha
    except OutOfBudget:
        stopped = True
    return Expansion(lattice.accuracies, lattice.failures, n_features, done, stopped)
