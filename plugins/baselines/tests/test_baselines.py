"""The majority class is free, a stump is the best affordable test, LightGBM reads all features."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from bench_baselines.plugin import FullLightGBM, Majority, StumpMethod
from bench_baselines.stump import best_by_price
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Costs, Part, Rows, as_family, validation_score
from bench_core.testing import make_problem


def test_the_majority_class_is_answered_for_free():
    problem = make_problem("multiclass")
    decisions = Majority().fit(problem).policies[0].decide(problem.validation.rows())
    assert (decisions.probabilities.argmax(axis=1) == np.bincount(problem.train.y).argmax()).all()
    assert (problem.costs.bill(decisions.acquired) == 0).all()


def gini(y, left, classes):
    """Weighted Gini impurity after a cut, from its definition."""
    sides = [y[left], y[~left]]
    return sum(len(s) * (1 - ((np.bincount(s, minlength=classes) / max(len(s), 1)) ** 2).sum()) for s in sides)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_stump_makes_the_best_cut_of_its_feature(seed):
    problem = make_problem("multiclass", seed=seed)
    for stump in StumpMethod().fit(problem).policies:
        x, y = problem.train.X, problem.train.y
        columns = problem.columns_of(stump.feature)
        possible = [(x[:, c] <= cut) for c in columns for cut in np.unique(x[:, c])[:-1]]
        best = min(gini(y, left, 3) for left in possible)
        left = x[:, stump.column].astype(np.float32) <= stump.threshold
        assert gini(y, left, 3) == pytest.approx(best)
        np.testing.assert_allclose(stump.answers[0], np.bincount(y[left], minlength=3) / left.sum())


def test_no_other_stump_at_a_price_is_better_on_the_training_part():
    problem = make_problem("binary")
    problem = replace(problem, costs=Costs(np.array([4.0, 2.5, 1.0, 1.0, 3.0, 0.5])), threshold=None)
    family = as_family(StumpMethod().fit(problem), "stump")
    on_train = replace(problem, validation=problem.train)
    alone = []
    for feature in range(problem.n_features):
        prices = np.full(problem.n_features, 9.0)
        prices[feature] = 0.0
        [*some] = StumpMethod().fit(replace(problem, costs=Costs(prices))).policies
        [mine] = [p for p in some if p.feature == feature]
        score = validation_score(on_train, mine.decide(problem.train.rows()))[0]
        alone.append((float(problem.costs.prices[feature, 0]), score))
    for policy in family.policies:
        score = validation_score(on_train, policy.decide(problem.train.rows()))[0]
        assert score == max(s for price, s in alone if price <= policy.details["price"])
    assert len({policy.details["price"] for policy in family.policies}) == len(family.policies)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
def test_the_kept_stumps_are_the_best_at_every_price(candidates):
    candidates = sorted(candidates, key=lambda one: one[0])
    prices, scores = [c[0] for c in candidates], [c[1] for c in candidates]
    kept = best_by_price(prices, scores)
    for price in set(prices):
        affordable = [i for i in range(len(prices)) if prices[i] <= price]
        best = max(affordable, key=lambda i: (scores[i], -i))
        assert max((i for i in kept if prices[i] <= price), key=lambda i: scores[i]) == best
    assert [scores[i] for i in kept] == sorted({scores[i] for i in kept})
    assert len({prices[i] for i in kept}) == len(kept)


def test_a_stump_of_features_that_never_vary_is_a_constant():
    problem = make_problem("regression")
    flat = replace(problem, train=Part(np.zeros_like(problem.train.X), problem.train.y))
    [policy] = StumpMethod().fit(flat).policies
    assert not policy.decide(Rows(problem.validation.X)).acquired.any()


def test_a_missing_value_goes_where_training_rows_without_it_went():
    problem = make_problem("binary", "missing-values")
    for policy in StumpMethod().fit(problem).policies:
        rows = problem.validation.rows()
        decisions = policy.decide(rows)
        assert np.isfinite(decisions.probabilities).all()


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "ranking"])
def test_lightgbm_pays_for_all_features_and_beats_the_majority(task):
    problem = replace(make_problem(task), threshold=None)
    family = FullLightGBM(min_samples_leaf=5).fit(problem)
    rows = problem.validation.rows()
    decisions = pickle.loads(pickle.dumps(family.policies[0])).decide(rows)
    assert decisions.acquired.all()
    constant = Majority().fit(problem).policies[0].decide(rows)
    assert validation_score(problem, decisions)[0] > validation_score(problem, constant)[0]


@pytest.mark.parametrize("wrong", [{"n_estimators": 0}, {"learning_rate": 0.0}, {"max_leaf_nodes": 1}])
def test_invalid_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FullLightGBM(**wrong)
