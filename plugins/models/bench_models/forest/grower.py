"""A grower of random forests with BudgetRF's impurities: Pairs, and any criterion weighted by prices.

Source: Nan, Wang, Saligrama, "Feature-Budgeted Random Forest", ICML 2015, as cited in BUDGETPRUNE §5 (we did not have
the text). A split maximises (F(S) − F after it) / price. For ``pairs``, F(S) counts the pairs of rows of different
classes, n² − Σ n_c², and "F after" is that of the worse child (minimax). For ``entropy`` and ``gini``, F is weight
times impurity, and "F after" is the sum over the children. The columns to try are drawn from a random stream that
depends on the node's place in its tree, so stopping one branch early does not change the others.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_models.forest.flat import FlatForest

__all__ = ["Growth", "grow"]

CRITERIA = {"entropy": 0, "gini": 1, "pairs": 2}


@dataclass(frozen=True)
class Growth:
    """How a forest is grown.

    Attributes:
        trees: number of trees.
        criterion: ``entropy``, ``gini`` or ``pairs``.
        prices: float64 (features,), above 0; if None, all are equal.
        tried: number of columns tried at a split; if None, all.
        min_leaf: smallest in-bag weight of a leaf.
        max_depth: greatest depth of a leaf; 0 means no limit.
        bootstrap: whether each tree gets a bootstrap sample; otherwise every tree gets all rows.

    Raises:
        ValueError: the criterion is unknown, or a price is not above 0.
    """

    trees: int
    criterion: str
    prices: NDArray[np.float64] | None = None
    tried: int | None = None
    min_leaf: int = 1
    max_depth: int = 0
    bootstrap: bool = True

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion {self.criterion!r} is not one of {', '.join(CRITERIA)}")
        if self.prices is not None and not (self.prices > 0).all():
            raise ValueError("prices of splits must be above 0")


def grow(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    classes: int,
    feature_of_column: NDArray[np.int64],
    growth: Growth,
    seed: int = 0,
    threads: int = 1,
) -> FlatForest:
    """Grow a forest until nodes are pure, too small or too deep.

    Args:
        X: (rows, columns); read as float32, as scikit-learn does. A missing value counts as larger than all others.
        y: class codes (rows,).
        classes: number of classes.
        feature_of_column: int64 (columns,).
        growth: criterion, prices and limits.
        seed: seed of the bootstrap and the choice of columns.
        threads: number of trees grown at once; does not influence the result.

    Raises:
        ValueError: values are infinite or beyond float32, or there are more than 2^16 classes or 2^31 − 1 rows.
    """
    from bench_models.forest import _grow_kernels as kernels

    if classes > 2**kernels.CLASS_BITS or len(y) >= 2**31:
        raise ValueError(f"{classes} classes and {len(y)} rows: the grower takes 2^16 classes and 2^31 - 1 rows")
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(np.asarray(X, dtype=np.float32).T)
    if np.isinf(values).any():
        raise ValueError("the columns hold infinite values or values too large for float32")
    worth = np.ones(len(values)) if growth.prices is None else 1.0 / growth.prices[feature_of_column]
    tried = min(growth.tried or len(values), len(values))
    labels = np.require(y, dtype=np.int64, requirements="W")  # numba compiles once more for read-only arrays
    sequences = np.random.SeedSequence([seed, 0xF0E5]).spawn(growth.trees)

    def grown_tree(sequence: np.random.SeedSequence) -> dict[str, NDArray[Any]]:
        rng = np.random.default_rng(sequence)
        rows = len(labels)
        bag = np.ones(rows, dtype=np.int64)
        if growth.bootstrap:
            bag = np.bincount(rng.integers(0, rows, rows), minlength=rows)
        column, threshold, left, right, counts = kernels.grow_tree(
            values, order, labels, bag, classes, CRITERIA[growth.criterion], worth, tried,
            growth.min_leaf, growth.max_depth, np.uint64(rng.integers(2**63)),
        )  # fmt: skip
        return {"column": column, "threshold": threshold, "left": left, "right": right, "counts": counts}

    def sort_column(f: int) -> None:
        order[f] = np.argsort(values[f], kind="stable")
        kernels.mark_steps(values[f], order[f])

    order = np.empty(values.shape, dtype=np.uint32)
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        list(pool.map(sort_column, range(len(values))))
        grown = list(pool.map(grown_tree, sequences))
    offsets = np.concatenate([[0], np.cumsum([len(tree["column"]) for tree in grown])]).astype(np.int64)
    for tree, start in zip(grown, offsets, strict=False):
        for side in ("left", "right"):
            tree[side] = np.where(tree[side] < 0, -1, tree[side] + start).astype(np.int32)
    joined = {name: np.concatenate([tree[name] for tree in grown]) for name in grown[0]}
    return FlatForest(
        offsets=offsets,
        missing_left=np.zeros(int(offsets[-1]), dtype=bool),
        feature_of_column=np.asarray(feature_of_column, dtype=np.int64),
        **joined,
    )
