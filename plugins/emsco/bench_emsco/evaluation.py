"""The three objectives of a population, from per-subset bit masks over evaluation rows (EMSCO §2.2).

A row leaves at the first stage whose classifier is confident, and pays for all features up to that stage; a row that
leaves at no stage pays for all features. So a chromosome needs two bit masks per stage, for its cumulative subset: rows
that are confident, and rows that are confident and right. They come from a *subset cache*: an object with
`indices(masks) -> int64 (m,)` for m sets (see `sets`), which returns row numbers of its arrays `confident` and `right`,
uint64 (capacity, words). A call of `indices` may fit models and may reallocate the two arrays. Bits beyond the last row
must be 0, and the bits of `right` must be a subset of those of `confident`. `work` counts what `indices` has spent so
far, and no subset takes more than `most_work`.

Evaluation proceeds stage by stage over the batch and requests only subsets that some chromosome still needs: once every
row has left, later stages are never evaluated, so their models need not be fitted. `evaluate` is the NumPy reference
implementation; a `CompiledEvaluator` requests the same subsets, each only once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from bench_models.subsets.sets import ONE_WORD, all_features
from numpy.typing import NDArray

from bench_emsco.chromosome import Chromosomes, Masks, cumulative_masks, stage_counts
from bench_emsco.pareto import MAX_ROWS, Ints
from bench_emsco.sets import distinct_sets, new_sets, unique_sets

CostsOf = Callable[[Masks], NDArray[Any]]
"""A function from m sets of features to their prices (m,): int64 (ties are exact) or float64, in [0, inf)."""
Outcome = tuple[Ints, Ints, NDArray[Any]]
"""(conclusive, right, total cost over the rows), each of shape (P,)."""


class SubsetSource(Protocol):
    """The interface of a subset cache; see the module's docstring."""

    work: int
    most_work: int

    @property
    def confident(self) -> NDArray[np.uint64]: ...

    @property
    def right(self) -> NDArray[np.uint64]: ...

    def indices(self, masks: Masks) -> NDArray[np.int64]: ...


def evaluate(chromosomes: Chromosomes, k: int, n_rows: int, cache: SubsetSource, costs_of: CostsOf) -> Outcome:
    """Evaluate a (P, n) population of chromosomes with at most `k` stages on `n_rows` rows."""
    masks = cumulative_masks(chromosomes, k)
    stages = stage_counts(chromosomes)
    size = stages.size
    conclusive = np.zeros(size, dtype=np.int64)
    right = np.zeros(size, dtype=np.int64)
    cost = np.zeros(size, dtype=_cost_dtype(costs_of, chromosomes.shape[1]))
    done = np.zeros((size, cache.confident.shape[1]), dtype=np.uint64)
    for stage in range(k):
        active = np.flatnonzero((stages > stage) & (conclusive < n_rows))
        if not active.size:
            break
        subsets, place = unique_sets(masks[active, stage])
        rows = cache.indices(subsets)[place]
        price = _prices(costs_of, subsets)[place]
        new = cache.confident[rows] & ~done[active]
        done[active] |= new
        leaving = np.bitwise_count(new).sum(axis=1, dtype=np.int64)
        conclusive[active] += leaving
        right[active] += np.bitwise_count(new & cache.right[rows]).sum(axis=1, dtype=np.int64)
        cost[active] += leaving * price
        final = active[stages[active] == stage + 1]
        cost[final] += (n_rows - conclusive[final]) * price[stages[active] == stage + 1]
    return conclusive, right, cost


class CompiledEvaluator:
    """Compiled `evaluate`; it stores the place of each subset, so a generation of known subsets is one compiled call.

    Raises:
        ValueError: `n_rows` is not in 1..2^26, or a price is negative or not finite.
    """

    def __init__(self, n_features: int, k: int, n_rows: int, cache: SubsetSource, costs_of: CostsOf) -> None:
        from bench_emsco import _kernels_evolution as kernels

        if not 1 <= n_rows <= MAX_ROWS:
            raise ValueError(f"n_rows must be in 1..{MAX_ROWS}, not {n_rows}")
        self._kernels = kernels
        self._k, self._n_rows, self._cache, self._costs_of = k, n_rows, cache, costs_of
        self._dtype = _cost_dtype(costs_of, n_features)
        self._n_features, self._known = n_features, 0
        self._allocate(1024)

    def __call__(self, chromosomes: Chromosomes) -> Outcome:
        narrow = self._n_features <= ONE_WORD
        sets_of = self._kernels.cumulative_masks if narrow else self._kernels.cumulative_words
        masks = sets_of(chromosomes, self._k)
        stages = stage_counts(chromosomes)
        size = stages.size
        conclusive, right, at_stage = np.zeros((3, size), dtype=np.int64)
        cost = np.zeros(size, dtype=self._dtype)
        done = np.zeros((size, self._cache.confident.shape[1]), dtype=np.uint64)
        missing = new_sets(size, self._n_features)
        while True:
            wanted = self._kernels.advance(
                masks, stages, self._keys, self._rows, self._prices, self._cache.confident, self._cache.right,
                at_stage, done, conclusive, right, cost, self._n_rows, missing,
            )  # fmt: skip
            if not wanted:
                return conclusive, right, cost
            self._learn(distinct_sets(missing[:wanted]))

    def _learn(self, subsets: Masks) -> None:
        rows = np.asarray(self._cache.indices(subsets), dtype=np.int64)
        prices = _prices(self._costs_of, subsets).astype(self._dtype, copy=False)
        known = self._known + len(subsets)
        if 2 * known > self._rows.size:
            old = self._keys, self._rows, self._prices
            held = self._rows >= 0
            self._allocate(4 * known)
            self._kernels.remember(self._keys, self._rows, self._prices, *(part[held] for part in old))
        self._kernels.remember(self._keys, self._rows, self._prices, subsets, rows, prices)
        self._known = known

    def _allocate(self, at_least: int) -> None:
        capacity = 1 << (at_least - 1).bit_length()
        self._keys = new_sets(capacity, self._n_features)
        self._rows = np.full(capacity, -1, dtype=np.int64)
        self._prices = np.zeros(capacity, dtype=self._dtype)


def _prices(costs_of: CostsOf, subsets: Masks) -> NDArray[Any]:
    prices = np.asarray(costs_of(subsets))
    if prices.shape != (len(subsets),):
        raise ValueError(f"costs_of must return shape {(len(subsets),)}, not {prices.shape}")
    if not np.all((prices >= 0) & (prices < np.inf)):
        raise ValueError("costs_of must return prices in [0, inf)")
    return prices


def _cost_dtype(costs_of: CostsOf, n_features: int) -> np.dtype[Any]:
    """int64 if prices are integers, else float64, judged by the price of the set of all features."""
    return np.dtype(np.int64 if _prices(costs_of, all_features(n_features)).dtype.kind in "iu" else np.float64)
