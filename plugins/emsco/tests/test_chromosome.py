"""Chromosomes: gaps, compression, masks, counting, uniqueness."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from bench_emsco import chromosome, sets
from bench_models.subsets.sets import ONE_WORD
from hypothesis import given, settings
from hypothesis import strategies as st

vectors = st.lists(st.integers(0, 20), min_size=1, max_size=12).map(lambda row: np.array(row, dtype=np.int8))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 2), (4, 4), (5, 3), (6, 4), (4, 6)])
def test_the_number_of_solutions_is_that_of_enumeration(n: int, k: int) -> None:
    vectors = np.array(list(itertools.product(range(min(n, k)), repeat=n)), dtype=np.int8)
    solutions = vectors[~chromosome.gaps(vectors)]
    assert chromosome.solution_count(n, k) == len(solutions)
    stages = chromosome.stage_counts(solutions)
    for j in range(k + 1):
        assert chromosome.ordered_partitions(n, j) == np.count_nonzero(stages == j)


def test_the_number_of_solutions_is_exact_beyond_64_bits() -> None:
    assert chromosome.solution_count(14, 4) == 254_152_083
    assert chromosome.ordered_partitions(30, 30) == 265252859812191058636308480000000  # 30!
    assert chromosome.ordered_partitions(12, 13) == 0


def test_compress_closes_gaps_as_in_the_paper() -> None:
    assert chromosome.compress(np.array([0, 0, 0, 2], np.int8)).tolist() == [0, 0, 0, 1]
    assert bool(chromosome.gaps(np.array([0, 0, 0, 2], np.int8)))
    assert chromosome.compress(np.array([5, 3, 5, 9], np.int8)).tolist() == [1, 0, 1, 2]


@settings(deadline=None)
@given(vectors)
def test_compress_keeps_order_is_idempotent_and_leaves_no_gaps(vector: np.ndarray) -> None:
    packed = chromosome.compress(vector)
    assert not chromosome.gaps(packed)
    assert np.array_equal(np.sign(packed[:, None] - packed), np.sign(vector[:, None] - vector))
    assert np.array_equal(chromosome.compress(packed), packed)
    assert int(chromosome.stage_counts(packed)) == len(set(vector.tolist()))


@settings(deadline=None)
@given(vectors)
def test_masks_grow_to_all_features_and_hold_the_stages_reached(vector: np.ndarray) -> None:
    packed = chromosome.compress(vector)
    masks = chromosome.cumulative_masks(packed, 12)[0]
    for stage, mask in enumerate(masks.tolist()):
        assert mask == sum(1 << f for f, s in enumerate(packed.tolist()) if s <= stage)
    assert int(masks[-1]) == (1 << len(packed)) - 1


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=30))
def test_unique_rows_come_in_order_of_first_occurrence(rows: list[list[int]]) -> None:
    population = np.array(rows, np.int8)
    first, counts = chromosome.unique_rows(population)
    assert first.tolist() == [i for i, row in enumerate(rows) if row not in rows[:i]]
    assert counts.tolist() == [rows.count(rows[i]) for i in first]


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.sampled_from([np.int8, np.int16]))
def test_the_kernels_for_unique_rows_and_masks_agree_with_numpy(seed: int, n: int, dtype: type) -> None:
    from bench_emsco import _kernels_evolution as kernels

    rng = np.random.default_rng(seed)
    population = chromosome.compress(rng.integers(0, rng.integers(1, 4), (50, n)).astype(dtype))
    assert population.dtype == dtype
    population = population[rng.integers(0, 50, 80)]
    for mine, reference in zip(kernels.unique_rows(population), chromosome.unique_rows(population), strict=True):
        assert np.array_equal(mine, reference)
    sets_of = kernels.cumulative_masks if n <= ONE_WORD else kernels.cumulative_words
    assert np.array_equal(sets_of(population, 5), chromosome.cumulative_masks(population, 5))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_a_cumulative_set_holds_the_features_of_its_stage_and_those_before(seed: int, n: int) -> None:
    population = np.random.default_rng(seed).integers(0, 4, (3, n)).astype(np.int8)
    masks = chromosome.cumulative_masks(population, 4)
    for row, stages in enumerate(population.tolist()):
        for stage in range(4):
            held = sum(1 << feature for feature, own in enumerate(stages) if own <= stage)
            assert sets.as_integer(masks[row, stage]) == held


def test_the_default_bound_on_stages_is_the_papers() -> None:
    assert [chromosome.default_stages(n) for n in (1, 8, 12, 14, 30, 784)] == [1, 8, 10, 10, 15, 392]


def test_bad_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="n_features"):
        chromosome.ordered_partitions(0, 1)
    with pytest.raises(ValueError, match="stages"):
        chromosome.ordered_partitions(2, -1)
    with pytest.raises(ValueError, match="n_features"):
        chromosome.default_stages(0)
    with pytest.raises(ValueError, match="k must be at most"):
        chromosome.stage_type(2**15)
