"""Table 1 of BUDGETPRUNE: how often rows use a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bench_models.forest.flat import FlatForest
from numpy.typing import NDArray

from bench_core import Costs

__all__ = ["Point", "as_good", "judge", "usage_shares"]


def usage_shares(forest: FlatForest, X: NDArray[np.float64], features: int, threads: int = 1) -> dict[str, float]:
    """Shares of (row, feature) pairs with no use, 1 to 7 uses, and more uses; means over all features.

    A use is a test on the row's path through a tree. The paper prints one "typical" feature; the mean needs no choice.

    Args:
        forest: the (pruned) trees.
        X: (rows, columns).
        features: number of features.
        threads: number of threads.

    Returns:
        ``usage_none``, ``usage_few`` (1–7) and ``usage_many`` (> 7), summing to 1.
    """
    from bench_budgetprune import _build_kernels as kernels

    uses = kernels.uses(forest.route(X, threads), forest.parent, forest.feature, features)
    none, many = float((uses == 0).mean()), float((uses > 7).mean())
    return {"usage_none": none, "usage_few": 1.0 - none - many, "usage_many": many}


@dataclass(frozen=True)
class Point:
    """A row of Table 1.

    Attributes:
        error: share of wrong labels.
        cost: mean price of a row.
        usage: see `usage_shares`.
    """

    error: float
    cost: float
    usage: dict[str, float]

    def named(self, prefix: str) -> dict[str, float]:
        """The numbers for a record."""
        return {
            f"{prefix}_error": self.error,
            f"{prefix}_cost": self.cost,
            **{f"{prefix}_{name}": share for name, share in self.usage.items()},
        }


def judge(
    forest: FlatForest,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    costs: Costs,
    sizes: NDArray[np.float64] | None,
    threads: int = 1,
) -> Point:
    """Table 1's numbers of a (pruned) forest on rows: float64 X (rows, columns), class codes y (rows,)."""
    from bench_models.forest import walk

    acquired, shares = walk.decide(forest.walked[0], X, costs.n_features, threads)
    return Point(
        float((shares.argmax(axis=1) != y).mean()),
        float(costs.bill(acquired, sizes).mean()),
        usage_shares(forest, X, costs.n_features, threads),
    )


def as_good(unpruned: Point, pruned: Sequence[Point], margin: float = 0.001) -> Point:
    """The cheapest point, the unpruned forest included, whose error is at most `margin` above the unpruned forest's.

    Table 1 compares an error of 6.6 % with 6.7 %: a margin of 0.1 points.
    """
    return min((p for p in (unpruned, *pruned) if p.error <= unpruned.error + margin), key=lambda p: p.cost)
