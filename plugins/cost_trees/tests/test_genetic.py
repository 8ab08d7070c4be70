"""The genetic algorithm: Gray code, sampling, search, and reproducibility."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from bench_cost_trees.genetic import Settings, evolve, from_gray, to_gray
from hypothesis import given
from hypothesis import strategies as st


def test_a_gray_code_counts_in_equal_steps_and_neighbours_differ_in_a_bit():
    codes = [i ^ (i >> 1) for i in range(16)]
    bits = np.array([[bool(code >> place & 1) for place in (3, 2, 1, 0)] for code in codes])
    assert from_gray(bits, 1.0, 100.0) == pytest.approx(np.linspace(1, 100, 16))
    assert (np.diff(bits.astype(int), axis=0) != 0).sum(axis=1).tolist() == [1] * 15


@given(st.lists(st.floats(1, 100), min_size=1, max_size=5), st.integers(2, 12))
def test_decoding_recovers_a_number_within_half_a_step(numbers, length):
    back = from_gray(to_gray(np.array(numbers), 1.0, 100.0, length), 1.0, 100.0)
    assert np.abs(back - numbers).max() <= 99 / (2**length - 1) / 2 + 1e-9


def test_numbers_out_of_range_are_clipped():
    assert from_gray(to_gray(np.array([-5.0, 1e9]), 1.0, 100.0, 6), 1.0, 100.0).tolist() == [1.0, 100.0]


def test_known_strings_are_tried_in_the_first_generation():
    tried = []
    known = np.arange(30) % 3 == 0
    evolve(lambda s: tried.append(s.copy()) or 1.0, 30, Settings(6, 6), np.random.default_rng(0), [known])
    assert np.array_equal(tried[0], known)
    assert not any(np.array_equal(string, known) for string in tried[1:])


def test_the_search_minimises_a_simple_cost():
    settings = Settings(population=40, trials=2000, mutation_rate=0.01)
    found = evolve(lambda string: float((~string).sum()), 30, settings, np.random.default_rng(0))
    assert found.cost <= 4
    assert found.cost == min(found.lowest) == (~found.best).sum()
    assert found.mean[-1] < found.mean[0] - 5
    assert len(found.lowest) == 50


@given(population=st.integers(2, 20), trials=st.integers(1, 90))
def test_exactly_the_given_number_of_strings_is_evaluated(population, trials):
    tried = []

    def cost(string):
        tried.append(string.copy())
        return float(string.sum())

    found = evolve(cost, 7, Settings(population, trials), np.random.default_rng(1))
    assert len(tried) == trials
    assert found.cost == min(string.sum() for string in tried)
    assert len(found.lowest) == -(-trials // population)


def test_the_best_string_of_a_generation_is_in_the_next():
    tried = []

    def cost(string):
        tried.append(string.copy())
        return float(string.sum())

    evolve(cost, 25, Settings(10, 200, crossover_rate=1.0, mutation_rate=0.2), np.random.default_rng(2))
    generations = np.array(tried).reshape(20, 10, 25)
    for before, after in itertools.pairwise(generations):
        elite = before[before.sum(axis=1).argmin()]
        assert (after == elite).all(axis=1).any()


def test_parents_are_drawn_in_proportion_to_fitness():
    # Without crossover and mutation, a string of half the fitness has half the children, rounded up or down.
    costs = {0: 0.0, 1: 5.0, 2: 10.0}
    seen = []

    def cost(string):
        seen.append(int(string[0]) + int(string[1]))
        return costs[seen[-1]]

    evolve(cost, 2, Settings(300, 600, 0.0, 0.0), np.random.default_rng(3))
    before, after = np.bincount(seen[:300], minlength=3), np.bincount(seen[300:], minlength=3)
    saving = before * [10.0, 5.0, 0.0]
    assert np.abs(after - 300 * saving / saving.sum()).max() <= 1
    assert after[2] == 0


def test_the_same_generator_gives_the_same_run():
    runs = [
        evolve(lambda s: float(s[:3].sum()), 12, Settings(6, 60), np.random.default_rng(seed)) for seed in (5, 5, 6)
    ]
    assert np.array_equal(runs[0].best, runs[1].best)
    assert runs[0].mean == runs[1].mean != runs[2].mean
