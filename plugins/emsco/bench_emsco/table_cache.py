"""The interface of `subset_cache.SubsetCache` over decisions that are known for all subsets."""

from __future__ import annotations

import numpy as np
from bench_models.subsets.sets import check_sets, pack_rows
from numpy.typing import ArrayLike, NDArray

from .subset_cache import Lookup

__all__ = ["TableCache"]


class TableCache:
    """The cache's interface over given decisions of all 2**n subsets, for tests and precomputed tables.

    Nothing is fitted, so ``work`` and ``most_work`` are 0.

    Args:
        confident: uint64 (2**n, words): confident rows of each subset; the row index is the subset.
        right: uint64 (2**n, words): confident and right rows, a subset of the bits of `confident`.
        n_rows: number of evaluation rows; by default all bits of the words.

    Raises:
        ValueError: shapes differ, the number of subsets is not a power of two, or a bit is set that must be 0.
    """

    def __init__(self, confident: ArrayLike, right: ArrayLike, n_rows: int | None = None) -> None:
        self.confident = np.ascontiguousarray(confident, dtype=np.uint64)
        self.right = np.ascontiguousarray(right, dtype=np.uint64)
        if self.confident.ndim != 2 or self.confident.shape != self.right.shape:
            raise ValueError(f"confident {self.confident.shape} and right {self.right.shape} must be equal 2-d shapes")
        self.n_fitted, self.n_words = self.confident.shape
        self.work = self.most_work = 0
        self.n_features = self.n_fitted.bit_length() - 1
        if self.n_fitted != 1 << self.n_features:
            raise ValueError(f"confident must have 2**n rows, got {self.n_fitted}")
        self.n_rows = 64 * self.n_words if n_rows is None else int(n_rows)
        if not 64 * (self.n_words - 1) < self.n_rows <= 64 * self.n_words:
            raise ValueError(f"n_rows is {self.n_rows}, the tables have {self.n_words} words a subset")
        outside = ~pack_rows(np.ones((1, self.n_rows), dtype=bool))[0]
        if (self.right & ~self.confident).any() or (self.confident & outside).any():
            raise ValueError("right must lie within confident, and both within the rows")
        self.masks = np.arange(self.n_fitted, dtype=np.uint64)
        self.not_converged: list[int] = []
        self.lookup = Lookup(
            np.arange(self.n_fitted, dtype=np.int32), np.zeros(1, dtype=np.uint64), np.full(1, -1, dtype=np.int32)
        )

    def indices(self, masks: ArrayLike) -> NDArray[np.int64]:
        """The subsets themselves, int64 (m,)."""
        return check_sets(masks, self.n_features).astype(np.int64)

    def fill_all(self, prices: ArrayLike | None = None, max_work: int | None = None) -> NDArray[np.int64]:
        """Do nothing: the table is complete."""
        return np.zeros(0, dtype=np.int64)
