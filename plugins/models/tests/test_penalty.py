"""Which columns are worth the prices of their groups, compared with the definition and with known minima."""

from __future__ import annotations

import numpy as np
import pytest
from bench_models.kernels_penalty import group_excess
from bench_models.penalty import Penalty
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs


def random_penalty(rng, columns):
    """Features of several columns, columns of several features, acquisition groups and evaluations."""
    features = int(rng.integers(1, 4))
    used = [np.flatnonzero(rng.random(features) < 0.5) for _ in range(columns)]
    groups = np.where(rng.random(features) < 0.5, 0, -1)
    some = (groups == 0).any()
    costs = Costs(rng.uniform(0, 2, features), groups if some else None, [1.5] if some else None)
    return Penalty.build(costs, used, evaluation=rng.uniform(0, 0.5, columns))


def objective(penalty, prices, pull, beta):
    """½‖β − pull‖² + Σ_r prices[r] ‖β_r‖."""
    total = 0.5 * np.square(beta - pull).sum()
    for r, price in enumerate(prices):
        mine = [t for t in range(len(pull)) if r in penalty.rows[penalty.ptr[t] : penalty.ptr[t + 1]]]
        total += price * np.linalg.norm(beta[mine])
    return total


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 5))
def test_the_excess_is_the_proximal_operator(seed, columns):
    rng = np.random.default_rng(seed)
    penalty = random_penalty(rng, columns)
    pull = np.maximum(rng.uniform(-1, 4, columns), 0)
    prices = np.where(rng.random(len(penalty.weights)) < 0.2, 0.0, penalty.weights)
    excess = penalty.excess(pull, prices)
    best = objective(penalty, prices, pull, excess)
    # The objective is convex, so a minimum among its neighbours is the minimum.
    others = [np.zeros(columns), pull]
    for size in (1e-3, 1e-2, 0.1, 1.0):
        others += [excess + size * rng.normal(size=columns) for _ in range(50)]
        others += [excess * (1 - size)]
    assert best <= min(objective(penalty, prices, pull, other) for other in others) + 1e-8


def test_columns_of_a_feature_share_its_price():
    penalty = Penalty.build(Costs(np.array([4.9, 1.0])), [np.array([0]), np.array([0]), np.array([1])])
    left = penalty.excess(np.array([3.0, 4.0, 1.0]), penalty.weights)
    np.testing.assert_allclose(left, [0.06, 0.08, 0.0], atol=1e-12)
    # Neither column alone is worth 4.9.
    assert penalty.excess(np.array([3.0, 0.0, 0.0]), penalty.weights).tolist() == [0.0] * 3


@pytest.mark.parametrize("seed", range(5))
def test_the_kernel_equals_its_reference_implementation(seed):
    rng = np.random.default_rng(seed)
    penalty = random_penalty(rng, 6)
    given = rng.uniform(0, 4, 6), penalty.weights, penalty.ptr, penalty.rows
    np.testing.assert_allclose(group_excess(*given), group_excess.py_func(*given), rtol=1e-12, atol=1e-12)


def test_a_paid_group_takes_nothing():
    penalty = Penalty.build(Costs(np.array([4.9, 1.0])), [np.array([0]), np.array([0]), np.array([1])])
    assert penalty.excess(np.array([3.0, 4.0, 1.0]), np.zeros(2)).tolist() == [3.0, 4.0, 1.0]


@pytest.mark.parametrize("factor", [1.0, 7.0])
def test_the_smallest_factor_is_where_nothing_is_worth_its_price(factor):
    prices = Costs(factor * np.array([2.0, 1.0, 0.0]))
    penalty = Penalty.build(prices, [np.array([0]), np.array([0]), np.array([1]), np.array([2])])
    pull = np.array([3.0, 4.0, 2.4, 100.0])
    assert penalty.smallest_factor(pull) == pytest.approx(2.5 / factor, rel=1e-6)
    assert penalty.smallest_factor(pull * [1, 1, 2, 1]) == pytest.approx(4.8 / factor, rel=1e-6)
    assert penalty.smallest_factor(np.zeros(4)) == 0.0
