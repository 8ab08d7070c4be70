"""Table 1 of BUDGETPRUNE: how often rows use a feature."""

from __future__ import annotations

import numpy as np
from bench_forest.flat import FlatForest
from numpy.typing import NDArray

__all__ = ["usage_shares"]


def usage_shares(
    forest: FlatForest, X: NDArray[np.float64], features: int, threads: int = 1
) -> dict[str, float]:
    """Shares of (row, feature) that use the feature never, 1 to 7 times, more often; the mean over all features.

    A use is a test on the row's way through a tree. The paper prints one "typical" feature; the mean over
    features needs no choice.

    Args:
        forest: the (pruned) trees.
        X: (rows, columns).
        features: number of features.
        threads: how many threads to use.

    Returns:
        ``usage_none``, ``usage_few`` (1–7) and ``usage_many`` (> 7), summing to 1.
    """
    from bench_budgetprune import _build_kernels as kernels

    uses = kernels.uses(forest.route(X, threads), forest.parent, forest.feature, features)
    none, many = float((uses == 0).mean()), float((uses > 7).mean())
    return {"usage_none": none, "usage_few": 1.0 - none - many, "usage_many": many}
