"""Empty, distinct and single sets of features; sets are those of `bench_models.subsets.sets`."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench_models.subsets.sets import ONE_WORD, Sets
from numpy.typing import NDArray

__all__ = ["as_integer", "distinct_sets", "has", "new_sets", "unique_sets"]


def new_sets(count: int, n_features: int) -> Sets:
    """`count` empty sets."""
    return np.zeros(count if n_features <= ONE_WORD else (count, -(-n_features // 64)), dtype=np.uint64)


def has(sets: Sets, feature: int) -> NDArray[np.uint64]:
    """Whether a feature is in each of m sets: uint64 (m,) of 1 and 0."""
    words = sets if sets.ndim == 1 else sets[:, feature // 64]
    return (words >> np.uint64(feature % 64)) & np.uint64(1)


def unique_sets(sets: Sets) -> tuple[Sets, NDArray[np.int64]]:
    """The distinct sets, and for each of m sets its index among them, int64 (m,)."""
    if sets.ndim == 1:
        return np.unique(sets, return_inverse=True)
    distinct, place = np.unique(sets, axis=0, return_inverse=True)
    return distinct, place.reshape(-1)


def distinct_sets(sets: Sets) -> Sets:
    """The distinct sets."""
    return np.unique(sets, axis=0) if sets.ndim > 1 else np.unique(sets)


def as_integer(feature_set: Any) -> int:
    """A single set as a Python integer, bit f for feature f."""
    return sum(int(word) << (64 * place) for place, word in enumerate(np.atleast_1d(feature_set)))
