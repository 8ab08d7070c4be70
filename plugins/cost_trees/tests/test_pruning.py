"""Pessimistic pruning: the limit compared with the binomial distribution, the compiled form with its reference."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from bench_cost_trees.criteria import Criterion
from bench_cost_trees.induction import Limits, grow_compiled
from bench_cost_trees.pruning import pruned, pruned_plain, upper_limit
from hypothesis import given, settings
from hypothesis import strategies as st


def binomial_cdf(errors: int, n: int, p: float) -> float:
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(errors + 1))


@pytest.mark.parametrize("confidence", [0.01, 0.1, 0.25, 0.9, 1.0])
def test_without_errors_the_limit_is_exact(confidence):
    for n in (1, 2, 6, 16, 100):
        assert binomial_cdf(0, n, upper_limit(0, n, confidence)) == pytest.approx(confidence)
    # Quinlan 1993, §4.2: U_25%(0, 6) = 0.206, U_25%(0, 9) = 0.143, U_25%(0, 1) = 0.75
    assert [round(upper_limit(0, n, 0.25), 3) for n in (6, 9, 1)] == [0.206, 0.143, 0.75]


@pytest.mark.parametrize(("errors", "n"), [(1, 4), (1, 16), (3, 20), (10, 40), (60, 200)])
@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.4])
def test_with_errors_the_limit_is_near_the_exact_one(errors, n, confidence):
    low, high = errors / n, 1.0
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if binomial_cdf(errors, n, mid) > confidence else (low, mid)
    assert upper_limit(errors, n, confidence) == pytest.approx(low, abs=0.035)


@given(n=st.integers(1, 300), data=st.data())
def test_the_limit_is_a_rate_that_grows_with_errors_and_doubt(n, data):
    errors = data.draw(st.integers(0, n))
    sure, unsure = sorted(data.draw(st.tuples(st.floats(0.001, 1), st.floats(0.001, 1))), reverse=True)
    assert errors / n - 1e-12 <= upper_limit(errors, n, sure) <= upper_limit(errors, n, unsure) + 1e-12 <= 1 + 1e-9


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), confidence=st.sampled_from([0.001, 0.01, 0.25, 0.5, 1.0]))
def test_compiled_pruning_equals_its_reference_implementation(table, seed, confidence):
    grower, prices = table(seed)
    rows = np.arange(len(grower.y))
    tree = grow_compiled(grower, rows, Criterion("gain"), prices, Limits(None, 2, 1), by_path=True)
    plain, compiled = pruned_plain(tree, confidence), pruned(tree, confidence)
    for name in ("column", "threshold", "missing_left", "left", "counts"):
        assert np.array_equal(getattr(plain, name), getattr(compiled, name))
    assert len(plain) <= len(tree)
    # A pruned tree is the top of the unpruned one: rows of one leaf stay together.
    unpruned, top = tree.route(grower.X)[0], plain.route(grower.X)[0]
    assert len(set(zip(unpruned.tolist(), top.tolist(), strict=True))) == len(set(unpruned.tolist()))


def test_full_confidence_keeps_every_split_that_saves_an_error_and_no_other(table):
    for seed in range(30):
        grower, prices = table(seed)
        rows = np.arange(len(grower.y))
        tree = grow_compiled(grower, rows, Criterion("gain"), prices, Limits(None, 2, 1), by_path=True)
        kept = pruned(tree, 1.0)
        if len(kept) > 1:
            assert kept.errors[kept.left < 0].sum() < kept.errors[0]


def test_noise_is_pruned_away_and_signal_is_not(make):
    rng = np.random.default_rng(3)
    from bench_cost_trees.trees import C45

    X = rng.normal(size=(300, 4))
    noise = C45(confidence_factors=(0.01,)).fit(make(X, rng.integers(0, 2, 300))).policies[0]
    signal = C45(confidence_factors=(0.01,)).fit(make(X, (X[:, 2] > 0).astype(int))).policies[0]
    assert noise.details["leaves"] < 20
    assert (signal.details["leaves"], signal.details["features"]) == (2, 1)
