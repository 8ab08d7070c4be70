"""LightGBM's penalties, the family, threads, and unusual input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bench_cegb.forest import Forest
from bench_cegb.penalties import column_prices, penalties
from bench_cegb.plugin import CEGB
from bench_models.boosting import train

from bench_core import Costs, Part, Problem, RequestError, Rows, build, validation_score
from bench_core.testing import make_case, make_problem, policy_audit

SMALL: dict[str, Any] = {"n_estimators": 10, "min_samples_leaf": 5, "prefixes": "all"}


def problem_of(X, y, *, costs=None, task="regression", query=None, **others):
    X = np.ascontiguousarray(X, dtype=np.float64)
    part = Part(X, np.asarray(y), query=query)
    problem = Problem(
        train=part,
        validation=part,
        costs=costs or Costs(np.ones(X.shape[1])),
        task=task,
        n_classes=0 if task in ("regression", "ranking") else max(2, int(np.max(y)) + 1),
        feature_names=tuple(f"x{i}" for i in range(X.shape[1])),
        feature_of_column=np.arange(X.shape[1]),
    )
    return replace(problem, **others)


def linear(rows=300, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X @ (0.6 ** np.arange(columns)) + 0.1 * rng.normal(size=rows)


def features_by_lambda(method, problem):
    found = {p.details["lambda"]: p.details["features"] for p in method.fit(problem).policies}
    return [found[value] for value in sorted(found)]


def test_column_prices_divide_prices_that_are_paid_once():
    costs = Costs(np.array([4.0, 1.0, 0.0, 2.0]), np.array([-1, 0, 0, 1]), np.array([6.0, 5.0]))
    problem = replace(make_problem(), costs=costs, feature_names=tuple("abcd"))
    problem = replace(problem, feature_of_column=np.array([0, 0, 1, 2, 2, 2, 3]))
    split = column_prices(problem, "split")
    np.testing.assert_allclose(split, [2, 2, 1 + 3, 1, 1, 1, 2 + 5])
    assert split.sum() == pytest.approx(costs.cost_of(range(4)))
    np.testing.assert_allclose(column_prices(problem, "each"), [4, 4, 7, 6, 6, 6, 7])


def test_prices_that_grow_with_size_are_averaged():
    X, y = linear(4, 2)
    part = Part(X, y, np.array([1.0, 2.0, 3.0, 6.0]))  # means: n 3, n² 12.5
    costs = Costs(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0, 0]), np.array([[0.0, 2.0, 0.0]]))
    problem = problem_of(X, y, costs=costs, train=part)
    np.testing.assert_allclose(column_prices(problem, "split"), [4 + 3, 12.5 + 3])
    relative = penalties(problem, "coupled", "split", 0.5, "relative", scale=10.0)
    np.testing.assert_allclose(relative.feature, np.array([7, 15.5]) / 22.5 * 10 * 4)
    assert relative.split == pytest.approx(0.5 / 22.5 * 10)
    lazy = penalties(problem, "lazy", "split", 0.0, "relative", scale=10.0)
    np.testing.assert_allclose(lazy.feature * 4, relative.feature)


@pytest.mark.parametrize("penalty", ["coupled", "lazy"])
def test_a_raw_penalty_is_weighed_against_lightgbms_gain(penalty):
    # One binary feature: its gain is the sum of squares it explains, 100 · 1². A lazy price is paid by each row.
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.repeat([-1.0, 1.0], 50)
    each = 1 if penalty == "coupled" else 100
    for price, acquired in ((99.0, 1), (101.0, 0)):
        problem = problem_of(X, y, costs=Costs(np.array([price / each])))
        method = CEGB(**SMALL, unit="raw", lambdas=(1.0,), penalty=penalty)
        assert features_by_lambda(method, problem) == [acquired]


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_at_a_relative_lambda_of_one_a_perfect_feature_just_pays(task):
    # The only feature determines the target, so its gain is that of a perfect first tree.
    x = np.repeat([0.0, 1.0], 200)
    y = 5 * x if task == "regression" else x.astype(int)
    problem = problem_of(x[:, None], y, task="binary" if task == "multiclass" else task)
    if task == "multiclass":
        problem = replace(problem, task="multiclass", n_classes=3)
    low, high = features_by_lambda(CEGB(**SMALL, lambdas=(0.4, 1.1)), problem)
    assert (low, high) == (1, 0)


def test_a_coupled_feature_is_free_after_its_first_use():
    # Later trees gain less than the price, and still use the feature that is paid for.
    x = np.linspace(-1, 1, 200)
    method = CEGB(n_estimators=40, max_leaf_nodes=2, lambdas=(45.0,), unit="raw", prefixes="all")
    problem = problem_of(x[:, None], x)
    policy = method.fit(problem).policies[0]
    assert policy.details == {"lambda": 45.0, "trees": 40, "features": 1}
    left = x - policy.decide(Rows(x[:, None])).score
    assert np.square(left).sum() < 5 < 45 < np.square(x).sum()


@pytest.mark.parametrize("penalty", ["coupled", "lazy"])
@pytest.mark.parametrize("task", ["regression", "binary"])
def test_fewer_features_as_lambda_grows(task, penalty):
    X, signal = linear()
    y = signal if task == "regression" else (signal > 0).astype(int)
    method = CEGB(n_estimators=20, lambdas=(0.0, 0.03, 0.3, 3.0), penalty=penalty, prefixes="all")
    features = features_by_lambda(method, problem_of(X, y, task=task))
    assert features == sorted(features, reverse=True)
    assert features[0] == 6
    assert features[-1] == 0


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_prefix_is_the_booster_of_so_many_rounds(task):
    case = make_case(task, rows=200)
    method = CEGB(n_estimators=9, min_samples_leaf=5, lambdas=(0.0,))
    found = {
        policy.details["trees"] // max(1, case.problem.n_classes if task == "multiclass" else 1): policy
        for policy in method.fit(case.problem).policies
    }
    assert sorted(found) == [1, 2, 4, 8, 9]
    for rounds in (1, 4, 9):
        alone = CEGB(n_estimators=rounds, min_samples_leaf=5, lambdas=(0.0,), prefixes="all").fit(case.problem)
        mine, theirs = (policy.decide(case.rows) for policy in (found[rounds], alone.policies[0]))
        np.testing.assert_array_equal(mine.probabilities, theirs.probabilities)
        np.testing.assert_array_equal(mine.acquired, theirs.acquired)


@pytest.mark.parametrize("factor", [1.0, 1000.0])
def test_automatic_lambdas_spread_over_the_cost_whatever_the_unit(factor):
    X, signal = linear(rows=600, columns=12)
    problem = problem_of(X, (signal > 0).astype(int), task="binary", costs=Costs(factor * np.arange(1.0, 13)))
    family = CEGB(n_estimators=20, min_samples_leaf=5, unit="raw").fit(problem)
    lambdas = family.diagnostics["lambdas"]
    assert lambdas[0] == 0
    assert len(lambdas) <= 16
    full = problem.costs.cost_of(range(12))
    shares = sorted(problem.costs.bill(p.decide(Rows(X)).acquired).mean() / full for p in family.policies)
    assert len(shares) <= 40
    assert shares[0] == 0
    for low, high in ((0.001, 0.1), (0.1, 0.2), (0.2, 0.4), (0.4, 1.0)):
        assert any(low < share <= high for share in shares), (low, high, shares)


def test_empty_policies_can_be_left_out():
    X, y = linear()
    for lambdas, kept in (((0.1, 50.0), [0.1]), ((50.0, 90.0), [50.0, 90.0])):
        family = CEGB(**SMALL, lambdas=lambdas, include_empty_policy=False).fit(problem_of(X, y))
        assert [policy.details["lambda"] for policy in family.policies] == kept


def test_dear_copies_are_never_bought():
    X, y = linear()
    costs = Costs(np.repeat([1.0, 9.0], 6))
    policy = CEGB(n_estimators=20, lambdas=(0.02,)).fit(problem_of(np.hstack([X, X]), y, costs=costs)).policies[0]
    acquired = policy.decide(Rows(np.hstack([X, X]))).acquired
    assert acquired[:, :6].any()
    assert not acquired[:, 6:].any()


def test_without_prices_lambda_changes_nothing():
    X, y = linear()
    family = CEGB(**SMALL, lambdas=(0.0, 5.0)).fit(problem_of(X, y, costs=Costs(np.zeros(6))))
    a, b = (policy.decide(Rows(X)) for policy in family.policies)
    np.testing.assert_array_equal(a.score, b.score)


def test_a_price_of_splits_makes_smaller_trees():
    X, y = linear()
    plain, expensive = (
        CEGB(**SMALL, lambdas=(0.1,), split_price=p).fit(problem_of(X, y)).policies[0].trees for p in (0.0, 0.5)
    )
    assert len(expensive.flat.column) < len(plain.flat.column)


@pytest.mark.parametrize("penalty", ["coupled", "lazy"])
def test_threads_do_not_change_the_trees(penalty):
    X, y = linear(1_500, 4)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    problem = problem_of(X, (y > 0).astype(int), task="binary")
    charged = penalties(problem, penalty, "split", 0.0, "relative", 1.0).parameters(penalty, 0.01)
    own = {"objective": "binary", "num_leaves": 8, **charged}
    one, two = (Forest.from_dump(train(problem, 2, {**own, "num_threads": t}).dump_model()) for t in (1, 2))
    for name in ("column", "threshold", "value", "left", "right"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "ranking"])
def test_the_first_policy_is_the_best_on_validation_and_all_pass_the_audit(task):
    case = make_case(task, rows=300)
    family = CEGB(**SMALL).fit(case.problem)
    rows = Rows(case.problem.validation.X)
    validation_scores = [validation_score(case.problem, policy.decide(rows)) for policy in family.policies]
    assert validation_scores[0] == max(validation_scores)
    for policy in family.policies:
        decisions = policy_audit(policy, case.rows, case.problem)
        assert (decisions.evaluations == policy.details["trees"]).all()


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_probabilities_are_the_boosters(task):
    case = make_case(task)
    own = {"binary": {"objective": "binary"}, "multiclass": {"objective": "multiclass", "num_class": 3}}[task]
    booster = train(case.problem, 10, {**own, "num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 5})
    policy = CEGB(**SMALL, lambdas=(0.0,)).fit(case.problem).policies[0]
    expected = booster.predict(case.rows.X)
    expected = np.column_stack([1 - expected, expected]) if task == "binary" else expected
    np.testing.assert_allclose(policy.decide(case.rows).probabilities, expected, rtol=0, atol=1e-12)


def test_queries_need_not_lie_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    grades = np.clip(np.round(X[:, 0] + 1), 0, 3)
    query = np.repeat(np.arange(20), 10)
    mixed = rng.permutation(200)
    scores = []
    for order in (np.arange(200), mixed):
        problem = problem_of(X[order], grades[order], task="ranking", query=query[order])
        policy = CEGB(**SMALL, lambdas=(0.0,)).fit(problem).policies[0]
        scores.append(policy.decide(Rows(X)).score)
    assert np.corrcoef(scores[0], scores[1])[0, 1] > 0.99
    assert np.corrcoef(scores[1], X[:, 0])[0, 1] > 0.8


@pytest.mark.parametrize("grade", [0.5, -1.0, 31.0])
def test_grades_that_lambdarank_cannot_use_are_refused_with_an_alternative(grade):
    X, _ = linear(40, 2)
    y = np.full(40, grade)
    problem = problem_of(X, y, task="ranking", query=np.repeat([0, 1], 20))
    with pytest.raises(ValueError, match="ranking = 'pointwise'"):
        CEGB(**SMALL).fit(problem)
    assert len(CEGB(**SMALL, lambdas=(0.0, 0.1), ranking="pointwise").fit(problem).policies) == 2


def test_one_class_in_training_is_a_constant_and_costs_nothing():
    X, _ = linear(60, 3)
    for policy in CEGB(**SMALL).fit(problem_of(X, np.ones(60, dtype=int), task="binary")).policies:
        decisions = policy.decide(Rows(X))
        assert not decisions.acquired.any()
        assert (decisions.probabilities[:, 1] > 0.9).all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"lambdas": [-0.1]}, "lambdas.* must be a number of at least 0, not -0.1"),
        ({"lambdas": [float("nan")]}, "lambdas"),
        ({"lambdas": []}, "lambdas must be .*a list of at least 1 item"),
        ({"lambdas": [1.0, 1.0]}, "lambdas must be .*, distinct, not"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_bins": 1}, "max_bins"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"split_price": float("nan")}, "split_price"),
        ({"penalty": "lasy"}, "penalty"),
        ({"max_leaf_node": 3}, "did you mean 'max_leaf_nodes'"),
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong, said):
    with pytest.raises(RequestError, match=said):
        build(CEGB, wrong, "suite")


@pytest.mark.parametrize("columns", [2, 7])
def test_rows_of_other_columns_are_refused(columns):
    X, y = linear()
    policy = CEGB(**SMALL).fit(problem_of(X, y)).policies[0]
    with pytest.raises(ValueError, match=rf"{columns} columns, the trees were grown on 6"):
        policy.decide(Rows(np.zeros((3, columns))))


def test_without_validation_rows_the_first_policy_stays_the_first():
    X, y = linear()
    problem = problem_of(X, y)
    empty = replace(problem, validation=Part(X[:0], y[:0]))
    family = CEGB(**SMALL, lambdas=(0.1, 0.0)).fit(empty)
    assert [policy.details["lambda"] for policy in family.policies] == [0.1, 0.0]
