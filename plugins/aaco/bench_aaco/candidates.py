"""Units of purchase, candidate sets of units, and the distinct sets among several."""

from __future__ import annotations

import numpy as np
from bench_models.partial import Candidates
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["distinct_sets", "draw_candidates", "units_of"]


def units_of(problem: Problem) -> NDArray[np.int64]:
    """Return the unit of each feature: features of one group without own prices form a unit; int64 (features,)."""
    costs, n = problem.costs, problem.n_features
    unit = np.arange(n)
    if costs.groups is not None:
        for group in np.unique(costs.groups[costs.groups >= 0]):
            free = np.flatnonzero((costs.groups == group) & ~costs.prices.any(axis=1))
            unit[free] = free[:1].repeat(len(free))
    return np.unique(unit, return_inverse=True)[1].reshape(-1).astype(np.int64)


def draw_candidates(rng: np.random.Generator, unit: NDArray[np.int64], subsets: int) -> Candidates:
    """Return every single unit, then random sets of two or more: uniform sizes, uniform members."""
    units = int(unit.max()) + 1
    sets = [np.arange(units) == u for u in range(units)]
    if units > 1 and subsets:
        words = rng.bit_generator.random_raw(subsets * (units + 1)).reshape(subsets, units + 1)
        size = 2 + (words[:, 0] % np.uint64(units - 1)).astype(np.int64)
        ranks = np.argsort(np.argsort(words[:, 1:], axis=1, kind="stable"), axis=1, kind="stable")
        sets += list(ranks < size[:, None])
    return Candidates(np.array(sets)[:, unit])


def distinct_sets(sets: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the distinct sets, and for each set its place among them.

    Args:
        sets: bool (n, features), at least one feature.
    """
    packed = np.packbits(sets, axis=1)
    keys = packed.view(f"S{packed.shape[1]}").reshape(-1)  # NumPy sorts texts ten times as fast as rows of an array
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return sets[first], place
