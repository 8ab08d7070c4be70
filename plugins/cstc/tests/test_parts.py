"""Boosted trees as columns, prices as groups of columns, Platt's sigmoid, one-vs-rest."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cstc.calibrate import Platt, combine, fit_platt
from bench_cstc.columns import PlainColumns, boost
from bench_cstc.penalty import Penalty
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bench_core import Costs
from bench_core.testing import make_problem


def test_the_columns_of_boosted_trees_add_up_to_the_boosting():
    problem = make_problem("regression")
    boosted = boost(problem, problem.train.y, 12, 3, 0.2, 0.5)
    X = problem.validation.X
    phi = boosted.values(X)
    assert phi.shape == (len(X), 12)
    np.testing.assert_allclose(phi.sum(axis=1), boosted.booster.predict(X), rtol=1e-9)
    assert boosted.base == pytest.approx(problem.train.y.mean())
    assert boosted.evaluation.tolist() == [0.5] * 12
    assert boosted.values(X[:0]).shape == (0, 12)


def test_a_boosted_column_moves_only_with_the_features_it_names():
    problem = make_problem("regression")
    boosted = boost(problem, problem.train.y, 12, 2, 0.2, 0.0)
    X = problem.validation.X
    rng = np.random.default_rng(0)
    for feature in range(problem.n_features):
        other = X.copy()
        columns = problem.columns_of(feature)
        other[:, columns] = rng.permutation(other[:, columns]) + 10.0
        moved = (boosted.values(X) != boosted.values(other)).any(axis=0)
        for t in np.flatnonzero(moved):
            assert feature in boosted.features_of[t]


def test_features_groups_and_evaluations_are_paid_once_each():
    costs = Costs(np.array([1.0, 0.0, 3.0]), np.array([0, 0, -1]), np.array([2.0]))
    penalty = Penalty.build(
        costs, [np.array([0, 1]), np.array([1, 2]), np.array([2])], evaluation=np.full(3, 0.5)
    )
    per_column = [
        sorted(penalty.weights[penalty.rows[penalty.ptr[t] : penalty.ptr[t + 1]]].tolist()) for t in range(3)
    ]
    assert per_column == [[0.5, 1.0, 2.0], [0.5, 2.0, 3.0], [0.5, 3.0]]
    assert sorted(penalty.weights.tolist()) == [0.5, 0.5, 0.5, 1.0, 2.0, 3.0]
    np.testing.assert_allclose(penalty.sum_over(penalty.weights), [3.5, 5.5, 3.5])
    ptr, rows = penalty.of(np.array([2, 0]))
    assert ptr.tolist() == [0, 2, 5]
    assert sorted(penalty.weights[rows[:2]].tolist()) == [0.5, 3.0]


def test_prices_that_grow_with_size_enter_by_their_mean():
    costs = Costs(np.array([[1.0, 2.0]]))
    assert Penalty.build(costs, [np.array([0])], np.array([1.0, 3.0])).weights.tolist() == [5.0]


def test_the_columns_of_a_one_hot_feature_share_its_price():
    problem = make_problem("regression", "one-hot")
    columns = PlainColumns.of(problem)
    penalty = Penalty.build(problem.costs, columns.features_of)
    assert len(penalty.weights) == problem.n_features < problem.train.X.shape[1]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_platts_sigmoid_maximises_the_smoothed_likelihood(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(3.0, 2.0, 50)
    positive = scores + rng.normal(0, 2.0, 50) > 3.5
    up, down = positive.sum(), (~positive).sum()
    target = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(ab):
        u = ab[0] * scores + ab[1]
        return float((np.logaddexp(0, u) - target * u).sum())

    best = minimize(loss, [0.1, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun
    found = fit_platt(scores, positive)
    assert found.slope >= 0
    assert loss([found.slope, found.shift]) <= best + 1e-6 or found.slope == 0


def test_scores_that_say_nothing_or_the_opposite_get_the_share_of_positives():
    positive = np.array([True, False, False, True, False])
    share = (2 + 1) / (5 + 2)
    for scores in (np.zeros(5), np.where(positive, -1.0, 1.0)):
        sigmoid = fit_platt(scores, positive)
        assert sigmoid(np.array([3.0])) == pytest.approx(share)
    assert fit_platt(np.zeros(0), np.zeros(0, dtype=bool))(np.zeros(1)) == pytest.approx(0.5)


def test_one_vs_rest_is_normalised_and_absent_classes_get_nothing():
    table = combine([np.array([0.2, 0.0]), np.array([0.6, 0.0]), np.array([0.2, 0.0])], [0, 2, 3], 4)
    np.testing.assert_allclose(table, [[0.2, 0.0, 0.6, 0.2], [1 / 3, 0.0, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(combine([np.array([0.3])], [0, 2], 3), [[0.7, 0.0, 0.3]])


def test_a_sigmoid_does_not_overflow():
    assert Platt(1e9, 0.0)(np.array([-1e10, 1e10])).tolist() == pytest.approx([0.0, 1.0])
