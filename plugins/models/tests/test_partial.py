"""Predictors from any set of known features: a set is scored like a row that knows it."""

from __future__ import annotations

import numpy as np
import pytest
from bench_models.partial import Candidates, fit_masked_trees, random_masks, removal_losses, set_losses
from hypothesis import given
from hypothesis import strategies as st

from bench_core.testing import make_problem


@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("variant", ["plain", "one-hot", "missing-values"])
def test_losses_of_sets_are_those_of_rows_that_know_them(task, variant):
    problem = make_problem(task, variant)
    n = problem.n_features
    trees = fit_masked_trees(
        problem, np.arange(n), copies=3, n_estimators=8, max_leaf_nodes=6, learning_rate=0.2, min_samples_leaf=1
    )
    rng = np.random.default_rng(0)
    candidates = Candidates(rng.random((70, n)) < 0.5)
    X, y, known = problem.train.X[:12], problem.train.y[:12], rng.random((12, n)) < 0.3

    class Plain:
        probabilities = staticmethod(trees.probabilities)

    fast, slow = (set_losses(predictor, X, y, known, candidates) for predictor in (trees, Plain()))
    np.testing.assert_allclose(fast, slow, atol=1e-9)
    part = np.where(known, -1, rng.integers(-1, 70, (12, n)))
    part[0] = -1
    fast, slow = (removal_losses(predictor, X, y, known, part) for predictor in (trees, Plain()))
    assert fast.shape == (12, 2 + part.max())
    np.testing.assert_allclose(fast, slow, atol=1e-9)
    other = np.where(known[:, problem.feature_of_column], X, rng.normal(size=X.shape))
    np.testing.assert_array_equal(trees.probabilities(X, known), trees.probabilities(other, known))


@given(sets=st.integers(1, 200), features=st.integers(1, 9), seed=st.integers(0, 99))
def test_bits_say_which_sets_hold_a_feature(sets, features, seed):
    member = np.random.default_rng(seed).random((sets, features)) < 0.5
    bits = Candidates(member).bits
    held = [[bool(int(bits[f, s // 64]) >> (s % 64) & 1) for f in range(features)] for s in range(sets)]
    assert held == member.tolist()


def test_masks_know_complete_units_and_every_number_of_them_equally_often():
    masks = random_masks(np.random.default_rng(0), 6000, np.array([0, 0, 1, 2]))
    assert (masks[:, 0] == masks[:, 1]).all()
    counts = np.bincount(masks[:, 1:].sum(axis=1), minlength=4)
    assert np.abs(counts - 1500).max() < 150
    assert np.abs(masks.mean(axis=0) - 0.5).max() < 0.03
