"""Boosted trees as columns, prices as groups of columns."""

from __future__ import annotations

import numpy as np
import pytest
from bench_models.columns import Boosting, PlainColumns, boost, divisors
from bench_models.penalty import Penalty

from bench_core import Costs
from bench_core.testing import make_problem


def test_the_columns_of_boosted_trees_add_up_to_the_boosting():
    problem = make_problem("regression")
    boosted = boost(problem, problem.train.y, Boosting(12, 3, 0.2, 0.5))
    X = problem.validation.X
    phi = boosted.values(X)
    assert phi.shape == (len(X), 12)
    np.testing.assert_allclose(phi.sum(axis=1), boosted.booster.predict(X), rtol=1e-9)
    assert boosted.base == pytest.approx(problem.train.y.mean())
    assert boosted.evaluation.tolist() == [0.5] * 12
    assert boosted.values(X[:0]).shape == (0, 12)


def test_a_boosted_column_depends_only_on_the_features_it_lists():
    problem = make_problem("regression")
    boosted = boost(problem, problem.train.y, Boosting(12, 2, 0.2, 0.0))
    X = problem.validation.X
    rng = np.random.default_rng(0)
    for feature in range(problem.n_features):
        other = X.copy()
        columns = problem.columns_of(feature)
        other[:, columns] = rng.permutation(other[:, columns]) + 10.0
        moved = (boosted.values(X) != boosted.values(other)).any(axis=0)
        for t in np.flatnonzero(moved):
            assert feature in boosted.features_of[t]


def test_features_groups_and_evaluations_are_each_paid_once():
    costs = Costs(np.array([1.0, 0.0, 3.0]), np.array([0, 0, -1]), np.array([2.0]))
    penalty = Penalty.build(costs, [np.array([0, 1]), np.array([1, 2]), np.array([2])], evaluation=np.full(3, 0.5))
    per_column = [sorted(penalty.weights[penalty.rows[penalty.ptr[t] : penalty.ptr[t + 1]]].tolist()) for t in range(3)]
    assert per_column == [[0.5, 1.0, 2.0], [0.5, 2.0, 3.0], [0.5, 3.0]]
    assert sorted(penalty.weights.tolist()) == [0.5, 0.5, 0.5, 1.0, 2.0, 3.0]
    np.testing.assert_allclose(penalty.sum_over(penalty.weights), [3.5, 5.5, 3.5])
    ptr, rows = penalty.of(np.array([2, 0]))
    assert ptr.tolist() == [0, 2, 5]
    assert sorted(penalty.weights[rows[:2]].tolist()) == [0.5, 3.0]


def test_prices_that_grow_with_size_are_averaged():
    costs = Costs(np.array([[1.0, 2.0]]))
    assert Penalty.build(costs, [np.array([0])], np.array([1.0, 3.0])).weights.tolist() == [5.0]


def test_the_columns_of_a_one_hot_feature_share_its_price():
    problem = make_problem("regression", "one-hot")
    columns = PlainColumns.of(problem)
    penalty = Penalty.build(problem.costs, columns.features_of)
    assert len(penalty.weights) == problem.n_features < problem.train.X.shape[1]


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_a_constant_column_is_divided_by_one_in_any_unit(unit):
    """Rounding gives equal values a deviation above 0."""
    X = unit * np.column_stack([np.full(1000, 0.1), np.linspace(0.1, 0.1001, 1000), np.zeros(1000)])
    spread = X.std(axis=0)
    assert spread[0] > 0
    assert divisors(X.mean(axis=0), spread).tolist() == [1.0, spread[1], 1.0]
