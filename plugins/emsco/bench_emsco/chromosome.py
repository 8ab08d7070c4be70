"""Chromosomes: ordered feature set partitions as integer vectors (EMSCO §2.1 and §3.1).

A chromosome is an int8 vector (int16 if more than 127 stages are allowed) with one stage number per feature, counted
from 0. Its stage count ||Q|| is the greatest stage plus one. Every stage below it has at least one feature: a vector
with an empty stage is not a solution, and `compress` repairs it. All functions take a single chromosome, shape (n,), or
a population, shape (P, n).
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from bench_models.subsets.sets import Sets, from_flags
from numpy.typing import NDArray

from bench_emsco.sets import new_sets

Chromosomes = NDArray[np.int8] | NDArray[np.int16]
Masks = Sets

MAX_STAGES = 2**15 - 1


def stage_type(k: int) -> type[np.int8] | type[np.int16]:
    """The array type of chromosomes with at most `k` stages.

    Raises:
        ValueError: `k` is above 32767.
    """
    if k > MAX_STAGES:
        raise ValueError(f"k must be at most {MAX_STAGES}, not {k}")
    return np.int8 if k <= np.iinfo(np.int8).max else np.int16


def default_stages(n_features: int) -> int:
    """The paper's bound on the stage count, k = max(ceil(n / 2), 10) (§4.3.1), capped at n."""
    _check_feature_count(n_features)
    return min(n_features, max(-(-n_features // 2), 10))


def ordered_partitions(n_features: int, stages: int) -> int:
    """Number of solutions with exactly j = `stages` stages: j! S2(n, j), exact (Eq. 1).

    Raises:
        ValueError: `n_features` < 1 or `stages` < 0.
    """
    if n_features < 1:
        raise ValueError(f"n_features must be at least 1, not {n_features}")
    if stages < 0:
        raise ValueError(f"stages must be at least 0, not {stages}")
    return sum((-1) ** (stages - i) * math.comb(stages, i) * i**n_features for i in range(stages + 1))


def solution_count(n_features: int, k: int) -> int:
    """The size of the search space: solutions with 1 to `k` stages, exact (Eq. 2)."""
    return sum(ordered_partitions(n_features, j) for j in range(1, k + 1))


def stage_counts(chromosomes: Chromosomes) -> NDArray[np.int64]:
    """||Q|| of every chromosome: the greatest stage plus one. Shape (n,) -> (), (P, n) -> (P,)."""
    return np.max(chromosomes, axis=-1).astype(np.int64) + 1


def gaps(chromosomes: Chromosomes) -> NDArray[np.bool_]:
    """True where some stage below the greatest has no feature (§3.1). Shape (n,) -> (), (P, n) -> (P,)."""
    present = _present(_table(chromosomes))
    missing = present.sum(axis=1) != stage_counts(_table(chromosomes))
    return missing.reshape(np.shape(chromosomes)[:-1])


def compress(chromosomes: Chromosomes) -> Chromosomes:
    """Renumber the stages without gaps, keeping their order (§3.1): {0, 0, 0, 2} becomes {0, 0, 0, 1}.

    Takes non-negative stages of shape (n,) or (P, n); returns a new array of the same shape.
    """
    population = _table(chromosomes)
    renumbered = np.cumsum(_present(population), axis=1, dtype=np.int64) - 1
    packed = np.take_along_axis(renumbered, population.astype(np.int64), axis=1)
    return packed.astype(population.dtype).reshape(np.shape(chromosomes))


def cumulative_masks(chromosomes: Chromosomes, k: int) -> Masks:
    """The features that a row has paid for after each stage, as sets (see `sets`).

    Shape (P, n) -> (P, k) uint64, or (P, k, words) for 64 features and more. Beyond a chromosome's last stage, the set
    of all features is repeated.
    """
    population = _table(chromosomes)
    size, n = population.shape
    masks = new_sets(size * k, n)
    masks = masks.reshape(size, k, *masks.shape[1:])
    for stage in range(k):
        masks[:, stage] = from_flags(population <= stage)
    return masks


def keys(chromosomes: Chromosomes) -> list[bytes]:
    """One hashable key per chromosome of a (P, n) population; equal keys mean equal chromosomes."""
    population = np.ascontiguousarray(chromosomes)
    return [row.tobytes() for row in population]


def unique_rows(chromosomes: Chromosomes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The unique chromosomes of a (P, n) population, in the order in which they first occur.

    Returns:
        first: (U,): row of the first occurrence of each.
        counts: (U,): number of occurrences of each.
    """
    seen: dict[bytes, int] = {}
    first: list[int] = []
    counts: list[int] = []
    for row, key in enumerate(keys(chromosomes)):
        slot = seen.setdefault(key, len(first))
        if slot == len(first):
            first.append(row)
            counts.append(0)
        counts[slot] += 1
    return np.array(first, dtype=np.int64), np.array(counts, dtype=np.int64)


def _present(population: Chromosomes) -> NDArray[np.bool_]:
    """Whether each stage has a feature: (P, n) stages -> bool (P, greatest stage + 1)."""
    present = np.zeros((population.shape[0], int(population.max(initial=0)) + 1), dtype=np.bool_)
    present[np.arange(population.shape[0])[:, None], population] = True
    return present


def _check_feature_count(n_features: int) -> None:
    if n_features < 1:
        raise ValueError(f"n_features must be at least 1, not {n_features}")


def _table(chromosomes: Chromosomes) -> Chromosomes:
    """Chromosomes as (P, n); a single one as (1, n)."""
    return cast(Chromosomes, np.atleast_2d(chromosomes))
