"""The methods: bills, classes, rankings, relations between the methods, invalid input."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cstc.methods import CSCC, CSTC, Cronus, SingleCostSensitive

from bench_core import Part, Rows, ndcg_at
from bench_core.testing import make_case, make_problem

ALL = (CSTC, CSCC, Cronus, SingleCostSensitive)
LAMBDAS = (0.01, 0.2)


def decisions(family, rows):
    return {policy.label: policy.decide(rows) for policy in family.policies}


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass", "ranking"])
@pytest.mark.parametrize("features", ["linear", "boosted"])
def test_one_node_of_anything_is_the_single_cost_sensitive_classifier(task, features):
    case = make_case(task)
    common = {"lambdas": LAMBDAS, "features": features, "n_estimators": 10, "max_depth": 2}
    expected = decisions(SingleCostSensitive(**common).fit(case.problem), case.rows)
    for method in (CSTC(levels=1, **common), CSCC(stages=1, **common), Cronus(stages=1, **common)):
        found = decisions(method.fit(case.problem), case.rows)
        assert found.keys() == expected.keys()
        for label, said in found.items():
            np.testing.assert_array_equal(said.acquired, expected[label].acquired)
            for name in ("score", "probabilities"):
                if getattr(said, name) is not None:
                    np.testing.assert_allclose(getattr(said, name), getattr(expected[label], name), atol=1e-9)


def test_without_penalties_the_single_classifier_is_least_squares():
    case = make_case("regression")
    family = SingleCostSensitive(lambdas=(0.0,), rho=0.0).fit(case.problem)
    X = case.problem.train.X
    design = np.column_stack([X, np.ones(len(X))])
    weights = np.linalg.lstsq(design, case.problem.train.y, rcond=None)[0]
    score = family.policies[0].decide(case.rows).score
    np.testing.assert_allclose(score, np.column_stack([case.rows.X, np.ones(len(case.rows))]) @ weights, atol=1e-6)


def quadrant_like(make):
    """Three columns; x0 determines which of x1 and x2 is the target."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(rng.random(400) < 0.5, -1.0, 1.0), rng.normal(size=(400, 2))])
    y = np.where(X[:, 0] > 0, 10 + X[:, 1], -10 + X[:, 2])
    return make(X, y, prices=[1.0, 10.0, 10.0])


@pytest.mark.slow
def test_a_row_pays_for_the_features_of_its_own_path(make):
    problem = quadrant_like(make)
    method = CSTC(levels=2, lambdas=(0.15,), unit="price", rho=1e-4)
    policy = method.fit(problem).policies[0]
    rows = Rows(problem.train.X)
    said = policy.decide(rows)
    up = rows.X[:, 0] > 0
    assert said.acquired[up].all(axis=0).tolist() == [True, True, False]
    assert said.acquired[~up].all(axis=0).tolist() == [True, False, True]
    assert problem.costs.bill(said.acquired).tolist() == [11.0] * 400
    assert said.stage.tolist() == [2] * 400
    np.testing.assert_allclose(said.score, problem.train.y, atol=1e-2)
    nodes = policy.details["trees"][0]["nodes"]
    assert [(node["name"], set(node["features"]) - {0}) for node in nodes] == [(1, set()), (2, {1}), (3, {2})]


@pytest.mark.slow
def test_boosted_trees_bill_features_and_evaluations_of_the_trees_on_the_path():
    case = make_case("regression")
    method = CSTC(levels=2, features="boosted", n_estimators=10, max_depth=2, evaluation=0.25, lambdas=(0.01, 0.5))
    for policy in method.fit(case.problem).policies:
        walker = policy.walkers[0]
        said = policy.decide(case.rows)
        _, at = walker(walker.columns.values(case.rows.X))
        for i in range(len(case.rows)):
            paid = set()
            for j in walker.state.shape.path(at[i]):
                if not walker.state.shape.is_leaf(j):
                    paid |= set(np.flatnonzero(walker.state.beta[j]))
            paid |= set(np.flatnonzero(walker.beta[at[i]]))
            features = {int(f) for t in paid for f in walker.columns.features_of[t]}
            assert set(np.flatnonzero(said.acquired[i])) == features
            assert said.evaluations[i] == len(paid)
            assert said.evaluation_cost[i] == pytest.approx(0.25 * len(paid))


def test_larger_lambdas_buy_less():
    case = make_case("regression")
    family = CSTC(lambdas=(0.001, 0.1, 3.0)).fit(case.problem)
    by_lambda = sorted(family.policies, key=lambda policy: policy.details["lambda"])
    bills = [case.problem.costs.bill(policy.decide(case.rows).acquired).mean() for policy in by_lambda]
    assert bills[0] > bills[1] > bills[2] == 0.0


def test_policies_that_read_nothing_can_be_excluded():
    problem = make_problem("binary")
    assert len(CSTC(lambdas=(0.1, 5.0)).fit(problem).policies) == 2
    assert len(CSTC(lambdas=(0.1, 5.0), include_empty_policy=False).fit(problem).policies) == 1
    assert len(CSTC(lambdas=(5.0,), include_empty_policy=False).fit(problem).policies) == 1


def test_the_first_policy_is_the_best_on_validation():
    problem = make_problem("regression")
    family = CSTC(lambdas=(0.001, 0.3, 5.0)).fit(problem)
    rows = Rows(problem.validation.X)
    errors = [np.square(policy.decide(rows).score - problem.validation.y).mean() for policy in family.policies]
    assert errors[0] == min(errors)


def test_prices_and_targets_may_have_any_scale():
    case = make_case("regression")
    problem = case.problem
    one = CSTC(lambdas=LAMBDAS, steepness=2.0).fit(problem)
    scaled = make_case("regression").problem
    object.__setattr__(scaled.train, "y", scaled.train.y * 10.0)
    object.__setattr__(scaled.validation, "y", scaled.validation.y * 10.0)
    other = CSTC(lambdas=LAMBDAS, steepness=0.2).fit(scaled)
    for label, said in decisions(one, case.rows).items():
        theirs = decisions(other, case.rows)[label]
        np.testing.assert_array_equal(said.acquired, theirs.acquired)
        np.testing.assert_allclose(said.score * 10.0, theirs.score, rtol=1e-4, atol=1e-4)


def test_positive_weight_weights_the_classes(make):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 1.8).astype(np.int64)
    problem = make(X, y, task="binary")
    means = []
    for weight in (1.0, 10.0, "balanced"):
        policy = SingleCostSensitive(lambdas=(0.0,), rho=0.0, positive_weight=weight).fit(problem).policies[0]
        means.append(policy.decide(Rows(X)).score.mean())
    assert means[0] < means[1]
    # Weighted least squares with an intercept: with balanced classes the weighted mean score is 0.
    score = policy.decide(Rows(X)).score
    assert score[y == 1].mean() + score[y == 0].mean() == pytest.approx(0.0, abs=1e-6)


def test_queries_determine_the_criterion_of_pruning(make):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=300) + 1), 0, 4)
    problem = make(X, y, task="ranking", query=np.repeat(np.arange(30), 10))
    policy = CSTC(lambdas=(0.01,)).fit(problem).policies[0]
    from bench_core import Outcome

    said, free = policy.decide(Rows(X)), np.zeros(300)
    outcome = Outcome("ranking", y, said, free, free, free, query=problem.train.query)
    assert ndcg_at(outcome, 5) > 0.75


def test_queries_with_one_document_or_no_relevant_one_are_accepted(make):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(41, 2))
    y = np.where(np.arange(41) < 10, 0.0, np.clip(np.round(X[:, 0] + 1), 0, 3))
    problem = make(X, y, task="ranking", query=np.concatenate([np.repeat(np.arange(4), 10), [4]]))
    for criterion in ("auto", "precision@5"):
        policy = CSTC(lambdas=(0.01,), criterion=criterion).fit(problem).policies[0]
        assert np.isfinite(policy.decide(Rows(X)).score).all()


@pytest.mark.parametrize("method", ALL)
def test_one_class_in_training_is_answered_with_that_class(method, make):
    policy = method().fit(
        make(np.random.default_rng(0).normal(size=(20, 2)), np.ones(20, dtype=np.int64), task="binary")
    )
    said = policy.policies[0].decide(Rows(np.zeros((3, 2))))
    assert said.probabilities.tolist() == [[0.0, 1.0]] * 3
    assert not said.acquired.any()


@pytest.mark.parametrize("features", ["linear", "boosted"])
@pytest.mark.parametrize("method", ALL)
def test_constant_features_or_targets_give_a_free_policy(method, features, make):
    problem = make(np.ones((40, 2)), np.full(40, 3.5))
    said = method(features=features, n_estimators=5).fit(problem).policies[0].decide(Rows(np.ones((2, 2))))
    np.testing.assert_allclose(said.score, 3.5)
    assert not said.acquired.any()


def test_targets_that_are_not_numbers_are_refused(make):
    with pytest.raises(ValueError, match="targets of a regression must be numbers"):
        CSTC().fit(make(np.ones((2, 1)), np.array(["low", "high"])))
    with pytest.raises(ValueError, match="must be finite: 1 are not"):
        CSTC().fit(make(np.ones((2, 1)), np.array([1.0, np.nan])))


def test_class_weights_of_a_regression_are_refused():
    with pytest.raises(ValueError, match="positive_weight is for classes"):
        CSCC(positive_weight=2.0).fit(make_problem("regression"))


def test_a_criterion_of_rankings_is_refused_for_other_tasks():
    with pytest.raises(ValueError, match=r"'ndcg@5' is for rankings"):
        CSTC(criterion="ndcg@5").fit(make_problem("multiclass"))


def test_missing_values_are_refused_by_name_with_linear_features():
    with pytest.raises(ValueError, match="large"):
        CSTC().fit(make_problem("binary", "missing-values"))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"lambdas": (-0.1,)}, "lambdas.* must be a number of at least 0, not -"),
        ({"lambdas": (float("inf"),)}, "lambdas.*: must be a finite number, not inf"),
        ({"lambdas": ()}, "lambdas must be a list of at least 1 item"),
        ({"lambdas": (0.1, 0.1)}, "lambdas must be .*, distinct, not"),
        ({"rho": -1.0}, "rho.* must be a number of at least 0, not -"),
        ({"evaluation": -1.0}, "evaluation must be a number of at least 0 or 'scheme', not -1.0"),
        ({"positive_weight": 0.0}, "positive_weight must be a number above 0 or 'balanced', not 0.0"),
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1 to"),
        ({"max_depth": 0}, "max_depth must be a whole number from 1 to"),
        ({"max_iter": -1}, "max_iter must be a whole number from 0 to"),
        ({"split_quantile": 1.0}, "split_quantile must be a number above 0 and below 1, not 1.0"),
        ({"steepness": 0.0}, "steepness must be a number above 0, not 0.0"),
        ({"tol": 0.0}, "tol must be a number above 0, not 0.0"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0"),
    ],
)
@pytest.mark.parametrize("method", ALL)
def test_parameters_out_of_range_are_refused(method, parameters, words):
    with pytest.raises(ValueError, match=words):
        method(**parameters)


def test_a_tree_without_levels_is_refused():
    with pytest.raises(ValueError, match="levels must be a whole number from 1 to 10, not 0"):
        CSTC(levels=0)
    for method in (CSCC, Cronus):
        with pytest.raises(ValueError, match="stages must be a whole number from 1 to 50, not 0"):
            method(stages=0)


def test_a_descent_that_did_not_converge_is_reported():
    problem = make_problem("regression")
    family = CSTC(lambdas=LAMBDAS, max_iter=1, tol=1e-12).fit(problem)
    assert family.diagnostics["not_converged"] == list(LAMBDAS)
    assert [policy.details["converged"] for policy in family.policies] == [False, False]
    assert CSTC(lambdas=LAMBDAS, tol=0.01).fit(problem).diagnostics["not_converged"] == []


@pytest.mark.parametrize("method", [CSCC(lambdas=LAMBDAS), Cronus(lambdas=LAMBDAS), CSTC(lambdas=LAMBDAS)])
def test_the_objective_on_record_never_rises(method):
    for task in ("regression", "multiclass"):
        family = method.fit(make_problem(task))
        objectives = [values for name, values in family.history.items() if name.startswith("objective")]
        assert len(objectives) == len(LAMBDAS) * (3 if task == "multiclass" else 1)
        for values in objectives:
            assert (np.diff(values) <= 1e-12 * abs(values[0])).all()


def test_validation_may_be_empty(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    nothing = Part(np.zeros((0, 2)), np.zeros(0, dtype=np.int64))
    problem = make(X, (X[:, 0] > 0).astype(np.int64), task="binary", validation=nothing)
    said = CSTC(lambdas=(0.1,)).fit(problem).policies[0].decide(Rows(X))
    assert ((said.probabilities[:, 1] > 0.5) == (X[:, 0] > 0)).mean() > 0.9
