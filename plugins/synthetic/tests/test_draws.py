"""The random numbers have the right distributions, and agree with library functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench_synthetic.draws import Draws, exact_exp, normal_quantile, on_grid, orthonormal, product
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import kstest


def test_the_normal_quantile_is_accurate_to_fifteen_digits():
    tails = 10.0 ** -np.linspace(0.31, 16, 2000)
    p = np.concatenate([np.linspace(0.001, 0.999, 4001), tails, 1.0 - tails[tails > 1e-15]])
    assert normal_quantile(p) == pytest.approx(ndtri(p), rel=3e-15, abs=1e-15)


def test_uniform_and_normal_numbers_have_their_distributions():
    draws = Draws(7)
    assert kstest(draws.uniform(100, 200).ravel(), "uniform").pvalue > 1e-3
    assert kstest(draws.normal(200, 100).ravel(), "norm").pvalue > 1e-3


@given(low=st.integers(-50, 50), span=st.integers(0, 40), seed=st.integers(0, 10**12))
def test_integers_stay_within_their_range(low, span, seed):
    drawn = Draws(seed).integers(low, low + span, 30 * (span + 1))
    assert drawn.min() >= low
    assert drawn.max() <= low + span


def test_integers_and_permutations_are_uniform():
    counts = np.bincount(Draws(1).integers(0, 6, 70_000))
    assert counts == pytest.approx(10_000, rel=0.05)
    firsts = [int(Draws(seed).permutation(5)[0]) for seed in range(1000)]
    assert np.bincount(firsts) == pytest.approx(200, rel=0.3)
    assert sorted(Draws(3).permutation(50)) == list(range(50))


@given(dimensions=st.integers(1, 70), share=st.floats(0, 1), seed=st.integers(0, 1000))
def test_corners_are_distinct(dimensions, share, seed):
    count = 1 + int(share * (min(2**dimensions, 40) - 1))
    corners = Draws(seed).corners(count, dimensions)
    assert corners.shape == (count, dimensions)
    assert set(np.unique(corners)) <= {0.0, 1.0}
    assert len(np.unique(corners, axis=0)) == count


@given(n=st.integers(1, 9), m=st.integers(0, 9), k=st.integers(1, 9), seed=st.integers(0, 99))
def test_a_product_is_the_sum_of_its_terms_in_order(n, m, k, seed):
    left, right = Draws(seed, 1).normal(n, m), Draws(seed, 2).normal(m, k)
    expected = [[sum((left[i, j] * right[j, c] for j in range(m)), 0.0) for c in range(k)] for i in range(n)]
    assert np.array_equal(product(left, right), np.array(expected))


@given(rows=st.integers(1, 40), columns=st.integers(1, 12), seed=st.integers(0, 99))
def test_orthonormal_columns_span_the_original_columns(rows, columns, seed):
    table = Draws(seed).normal(rows, min(rows, columns))
    basis = orthonormal(table)
    assert basis.T @ basis == pytest.approx(np.eye(basis.shape[1]), abs=1e-12)
    assert basis @ (basis.T @ table) == pytest.approx(table, abs=1e-9)


def test_rounding_to_the_grid_changes_a_value_by_half_a_step_at_most_and_gives_no_negative_zero():
    values = Draws(5).normal(1000) * 1000
    assert np.abs(on_grid(values) - values).max() <= 2.0**-31
    assert np.array_equal(on_grid(on_grid(values)), on_grid(values))
    assert math.copysign(1.0, on_grid(np.array([-1e-12]))[0]) == 1.0


@pytest.mark.parametrize("x", [0.0, -0.1, -1.0, -700.0, 3.25])
def test_the_exponential_agrees_with_libm_to_the_last_bits(x):
    assert exact_exp(x) == pytest.approx(math.exp(x), rel=3e-16)
