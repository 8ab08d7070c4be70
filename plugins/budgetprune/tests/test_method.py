"""The method: ends of the path, invalid parameters, unusual problems."""

from __future__ import annotations

import numpy as np
import pytest
from bench_budgetprune.method import BudgetPrune

from bench_core import RequestError, Rows
from bench_core.testing import make_case, make_problem


def test_lambda_zero_is_scikit_learns_forest_and_a_huge_lambda_acquires_nothing():
    from sklearn.ensemble import RandomForestClassifier

    case = make_case("multiclass")
    policies = BudgetPrune(n_estimators=7, lambdas=[0.0, 1e9], grower="scikit-learn").fit(case.problem).policies
    seed = int(case.problem.rng("forest").integers(2**31 - 1))
    model = RandomForestClassifier(7, criterion="entropy", max_features=None, random_state=seed)
    model.fit(case.problem.train.X, case.problem.train.y)
    unpruned = policies[0].decide(case.rows)
    assert np.abs(unpruned.probabilities - model.predict_proba(case.rows.X)).max() < 1e-12
    assert not policies[1].decide(case.rows).acquired.any()


def test_rows_use_fewer_features_as_lambda_grows():
    case = make_case("binary")
    family = BudgetPrune(n_estimators=8, count=5).fit(case.problem)
    validation = Rows(case.problem.validation.X)
    bills = [case.problem.costs.bill(p.decide(validation).acquired).mean() for p in family.policies]
    assert bills == sorted(bills, reverse=True)
    assert bills[0] > bills[-1]
    shares = [[p.details[f"usage_{n}"] for n in ("none", "few", "many")] for p in family.policies]
    assert np.allclose(np.sum(shares, axis=1), 1.0)
    assert family.diagnostics["largest_gap"] <= 1e-4


def test_table_1_compares_the_forest_with_the_cheapest_pruning_that_is_as_good():
    case = make_case("multiclass")
    problem = case.problem
    family = BudgetPrune(n_estimators=8, count=6).fit(problem)
    rows, y = Rows(problem.validation.X), problem.validation.y
    answers = [policy.decide(rows) for policy in family.policies]
    errors = [float((a.probabilities.argmax(axis=1) != y).mean()) for a in answers]
    bills = [float(problem.costs.bill(a.acquired).mean()) for a in answers]
    said = family.diagnostics
    assert said["unpruned_error"] == errors[0]
    assert said["unpruned_cost"] == bills[0]
    good = [(bill, error) for bill, error in zip(bills, errors, strict=True) if error <= errors[0] + 0.001]
    assert (said["pruned_cost"], said["pruned_error"]) == min(good)
    assert sum(said[f"pruned_usage_{n}"] for n in ("none", "few", "many")) == pytest.approx(1.0)


def test_both_solvers_reach_the_same_objectives():
    problem = make_case("binary").problem
    one, two = (
        [p.details["objective"] for p in BudgetPrune(n_estimators=8, count=5, solver=kind).fit(problem).policies]
        for kind in ("flow", "subgradient")
    )
    assert one == pytest.approx(two, rel=1e-4)


def test_a_price_for_tests_makes_trees_shallower():
    problem = make_problem("binary", "zero-prices")
    leaves = [
        BudgetPrune(n_estimators=5, lambdas=[0.05], price_of_a_test=price).fit(problem).policies[0].details["leaves"]
        for price in (0.0, 1.0)
    ]
    assert leaves[1] < leaves[0]


def test_regression_is_refused():
    with pytest.raises(RequestError, match="regression"):
        BudgetPrune().fit(make_problem("regression"))


@pytest.mark.parametrize(
    "bad",
    [
        {"lambdas": [-0.1]},
        {"lambdas": [float("nan")]},
        {"gap": 0.0},
        {"max_iter": 0},
        {"count": 0},
        {"low": 2.0, "high": 1.0},
        {"price_of_a_test": -1.0},
        {"n_estimators": 0},
        {"max_features": 0.0},
        {"criterion": "pairs", "ensemble": "extra-trees"},
    ],
)
def test_parameters_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=r".+"):
        BudgetPrune(**bad)
