"""Selection, recombination and mutation, and their compiled equivalents."""

from __future__ import annotations

import numpy as np
import pytest
from bench_emsco import operators
from bench_emsco.chromosome import compress, gaps, stage_counts, stage_type
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

SEEDS = st.integers(0, 2**32 - 1)


def words_of(*numbers: float) -> np.ndarray:
    """Words whose `uniforms` are the given numbers in [0, 1)."""
    return np.array([int(number * 2**53) << 11 for number in numbers], dtype=np.uint64)


def random_words(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(0, 2**64, shape, dtype=np.uint64)


def random_population(rng: np.random.Generator, size: int, n: int, k: int) -> np.ndarray:
    return compress(rng.integers(0, k, (size, n)).astype(stage_type(k)))


@pytest.mark.parametrize("support", [0, 1, 4, 14])
@pytest.mark.parametrize("beta", [1.0, 2.0, 2.5, 7.25])
def test_the_mutation_pmf_is_the_beta_binomial_of_equation_7(support: int, beta: float) -> None:
    pmf = operators.mutation_pmf(support, beta)
    expected = stats.betabinom.pmf(np.arange(support + 1), support, 1.0, beta)
    np.testing.assert_allclose(pmf, expected, rtol=1e-12)
    if beta > 1.0:
        assert np.all(np.diff(pmf) < 0)
    assert operators.mutation_pmf(support, beta, "uniform").tolist() == [1 / (support + 1)] * (support + 1)


@pytest.mark.parametrize("mutation", ["beta-binomial", "uniform"])
def test_mutation_draws_stages_with_that_pmf(mutation: operators.MutationKind) -> None:
    # Feature 0 of (0, 0, 1, 2) always mutates, the others never: support {0..min(3, 4)}.
    draws, beta = 40_000, 2.0
    population = np.tile(np.array([0, 0, 1, 2], np.int8), (draws, 1))
    words = np.full((draws, 4), 2**64 - 1, dtype=np.uint64)
    words[:, 0] = random_words(np.random.default_rng(5), draws) >> np.uint64(1)  # uniform below 1/2
    mutated = operators.mutate(population, words, 0.5, operators.mutation_cdf(5, beta, mutation))
    assert np.array_equal(mutated[:, 1:], population[:, 1:])
    seen = np.bincount(mutated[:, 0], minlength=4)
    assert stats.chisquare(seen, operators.mutation_pmf(3, beta, mutation) * draws).pvalue > 0.001


def test_the_highest_stage_is_within_the_bound() -> None:
    population = np.array([[0, 0, 1, 2]], np.int8)
    last = operators.mutate(population, words_of(0.4999, 0.9, 0.9, 0.9)[None], 0.5, operators.mutation_cdf(3, 2.0))
    assert last.tolist() == [[2, 0, 1, 2]]
    more = operators.mutate(population, words_of(0.4999, 0.9, 0.9, 0.9)[None], 0.5, operators.mutation_cdf(4, 2.0))
    assert more.tolist() == [[3, 0, 1, 2]]


def test_a_feature_alone_in_its_stage_does_not_mutate() -> None:
    population = np.array([[1, 0, 2]], np.int8)
    words = words_of(0.99, 0.99, 0.99)[None]
    assert operators.mutate(population, words, 1.0, operators.mutation_cdf(3, 2.0)).tolist() == [[1, 0, 2]]


def test_a_stage_opened_by_mutation_counts_for_the_features_after_it() -> None:
    population = np.zeros((1, 4), np.int8)
    words = words_of(0.99, 0.99, 0.99, 0.99)[None]
    assert operators.mutate(population, words, 1.0, operators.mutation_cdf(4, 2.0)).tolist() == [[1, 2, 3, 0]]


@settings(deadline=None, max_examples=60)
@given(SEEDS)
def test_mutation_and_recombination_make_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 31))
    k = int(rng.integers(1, n + 1))
    a, b = random_population(rng, 20, n, k), random_population(rng, 20, n, k)
    child = operators.recombine(a, b, random_words(rng, 20, 3), 0.75)
    mutated = operators.mutate(child, random_words(rng, 20, n), 0.5, operators.mutation_cdf(k, 2.0))
    for population in (child, mutated):
        assert not np.any(gaps(population))
        assert np.all(stage_counts(population) <= k)
    assert np.all(stage_counts(mutated) >= stage_counts(child))


# Parents with 2 and 4 stages; coins: the first three features from a, the rest from b.
PARENT_A, PARENT_B, COINS = [0, 1, 1, 0, 1, 0], [0, 0, 1, 1, 2, 3], 0b111000


@pytest.mark.parametrize(
    ("choice", "child"),
    [
        # ||C|| = 3. From a: 1/2*3 = 1.5 -> 2, 2/2*3 = 3; from b: 2/4*3 = 1.5 -> 2, 3/4*3 = 2.25 -> 2, 3.
        # Less one: 1 2 2 1 1 2, compressed: 0 1 1 0 0 1.
        (0.1, [0, 1, 1, 0, 0, 1]),
        # ||C|| = ||A|| = 2. From a: 1, 2, 2; from b: 2/4*2 = 1, 3/4*2 = 1.5 -> 2, 2. Less one: 0 1 1 0 1 1.
        (0.5, [0, 1, 1, 0, 1, 1]),
        # ||C|| = ||B|| = 4. From a: 2, 4, 4; from b: 2, 3, 4. Less one: 1 3 3 1 2 3, compressed: 0 2 2 0 1 2.
        (0.9, [0, 2, 2, 0, 1, 2]),
    ],
)
def test_recombination_follows_the_worked_examples(choice: float, child: list[int]) -> None:
    words = np.array([[*words_of(0.0, choice), np.uint64(COINS)]])
    a, b = np.array([PARENT_A], np.int8), np.array([PARENT_B], np.int8)
    assert operators.recombine(a, b, words, 0.75).tolist() == [child]


def test_halves_round_to_even() -> None:
    # ||A|| = 2, ||B|| = 5, ||C|| = 5: from a 1/2*5 = 2.5 -> 2, 2/2*5 = 5; less one 1, 4; b gives 0, 2, 3.
    a, b = np.array([[0, 1, 0, 0, 0]], np.int8), np.array([[3, 4, 0, 2, 1]], np.int8)
    words = np.array([[*words_of(0.0, 0.9), np.uint64(0b11100)]])
    b[0] = [3, 4, 0, 2, 1]
    assert operators.recombine(a, b, words, 1.0).tolist() == [[1, 3, 0, 2, 1]]


@pytest.mark.parametrize(("coin", "parent"), [(0, PARENT_A), (1, PARENT_B)])
def test_without_recombination_the_child_is_one_of_its_parents(coin: int, parent: list[int]) -> None:
    words = np.array([[*words_of(0.75, 0.0), np.uint64(coin)]])
    a, b = np.array([PARENT_A], np.int8), np.array([PARENT_B], np.int8)
    assert operators.recombine(a, b, words, 0.75).tolist() == [parent]


def test_roulette_draws_in_proportion_to_the_weights() -> None:
    weights = np.array([5.0, 0.0, 3.0, 2.0, 0.0])
    drawn = operators.roulette(np.cumsum(weights), random_words(np.random.default_rng(2), 20_000))
    seen = np.bincount(drawn, minlength=5)
    assert seen[1] == seen[4] == 0
    assert stats.chisquare(seen[[0, 2, 3]], [10_000, 6_000, 4_000]).pvalue > 0.001
    assert operators.roulette(np.cumsum(weights), words_of(0.0, 1 - 2**-53)).tolist() == [0, 3]
    assert operators.roulette(np.cumsum([0.0, 1.0, 1.0]), words_of(0.0, 0.5)).tolist() == [1, 2]


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(SEEDS, st.sampled_from([0.0, 0.075, 1.0]), st.sampled_from([0.0, 0.75, 1.0]))
def test_the_kernels_breed_the_same_children(seed: int, mutation: float, recombination: float) -> None:
    from bench_emsco import _kernels_evolution as kernels

    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 64) if seed % 2 else rng.integers(64, 200))
    k = int(rng.integers(1, n + 1))
    parents = random_population(rng, 30, n, k)
    cumulative = np.cumsum(rng.random(30) * (rng.random(30) < 0.7) + (np.arange(30) == 3))
    words = random_words(rng, 40, operators.words_before_mutation(n) + n)
    cdf = operators.mutation_cdf(k, 2.0)
    arguments = parents, cumulative, words, recombination, mutation, cdf
    assert np.array_equal(kernels.breed(*arguments), operators.breed(*arguments))
    alone = parents, words[:30, :n].copy(), mutation, cdf
    assert np.array_equal(kernels.mutate(*alone), operators.mutate(*alone))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((-1, 2.0), "support"), ((3, 0.5), "beta"), ((3, np.nan), "beta"), ((3, 2.0, "normal"), "mutation")],
)
def test_bad_mutation_parameters_are_refused_by_name(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        operators.mutation_pmf(*arguments)
    with pytest.raises(ValueError, match="k must"):
        operators.mutation_cdf(0, 2.0)
