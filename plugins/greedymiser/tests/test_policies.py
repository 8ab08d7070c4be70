"""The family: its policies' decisions, bills, calibration and order, and unusual input."""

import numpy as np
import pytest
from bench_greedymiser.calibrate import Clipped, Odds, Soft, fit_sigmoids
from bench_greedymiser.plugin import GreedyMiser
from bench_models.trees import NAN_LEFT

from bench_core import Costs, Part, RequestError, Rows, build, validation_score
from bench_core.testing import make_case, policy_audit

SMALL = {"n_estimators": 10, "min_samples_leaf": 3}


def by_hand(policy, x):
    """Scores of one row and the features on its paths, by a walk in plain Python."""
    own, outputs = policy.ensemble.trees.flat, policy.ensemble.outputs
    scores, read = [float(s) for s in policy.ensemble.start], set()
    for tree in range(policy.rounds * outputs):
        at = int(own.root[tree])
        while own.column[at] >= 0:
            value = x[own.column[at]]
            read.add(int(own.unit_of_column[own.column[at]]))
            goes_left = own.missing[at] == NAN_LEFT if np.isnan(value) else value <= own.threshold[at]
            at = int(own.left[at]) + (not goes_left)
        scores[tree % outputs] += float(own.value[at, 0])
    return scores, read


@pytest.mark.parametrize("task", ["regression", "multiclass"])
@pytest.mark.parametrize("variant", ["plain", "missing-values", "one-hot", "groups"])
def test_scores_and_bills_equal_those_of_a_plain_walk(task, variant):
    case = make_case(task, variant)
    family = GreedyMiser(**SMALL, lambdas=(0.0, 0.1), calibrate="none").fit(case.problem)
    for policy in family.policies:
        decisions = policy.decide(case.rows)
        for i, x in enumerate(case.rows.X[:12]):
            scores, read = by_hand(policy, x)
            assert set(np.flatnonzero(decisions.acquired[i])) == read
            if task == "regression":
                assert decisions.score[i] == scores[0]
            else:
                weights = np.exp(scores)
                np.testing.assert_allclose(decisions.probabilities[i], weights / weights.sum(), atol=1e-12)
        assert (decisions.evaluations == policy.rounds * policy.ensemble.outputs).all()


def test_acquiring_by_ensemble_buys_every_feature_that_some_path_reads():
    case = make_case("binary", rows=400)
    paths = GreedyMiser(**SMALL).fit(case.problem)
    by_ensemble = GreedyMiser(**SMALL, acquire="ensemble").fit(case.problem)
    by_label = {policy.label: policy for policy in by_ensemble.policies}
    for policy in paths.policies:
        a, b = policy_audit(policy, case.rows, case.problem), by_label[policy.label].decide(case.rows)
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
        assert not (a.acquired & ~b.acquired).any()
        assert (b.acquired == b.acquired[0]).all()
        assert b.acquired[0].sum() == policy.details["features"]


def test_prefixes_of_one_ensemble_share_their_arrays():
    family = GreedyMiser(**SMALL, lambdas=(0.0,), prefixes="all").fit(make_case().problem)
    assert [p.rounds for p in sorted(family.policies, key=lambda p: p.rounds)] == list(range(1, 11))
    assert len({id(p.ensemble) for p in family.policies}) == 1


@pytest.mark.parametrize(
    ("prefixes", "kept"), [("geometric", [1, 2, 4, 8, 10]), ((0, 3, 99), [0, 3, 10]), ((5, 2, 5), [2, 5])]
)
def test_the_prefixes_asked_for_are_kept(prefixes, kept):
    family = GreedyMiser(**SMALL, lambdas=(0.0,), prefixes=prefixes).fit(make_case().problem)
    assert sorted(p.rounds for p in family.policies) == kept


def test_empty_policies_can_be_left_out():
    problem = make_case().problem
    for lambdas, kept in (((0.1, 50.0), {0.1}), ((50.0, 90.0), {50.0, 90.0})):
        family = GreedyMiser(**SMALL, lambdas=lambdas, include_empty_policy=False, prefixes=(0, 5, 10)).fit(problem)
        assert {policy.details["lambda"] for policy in family.policies} == kept
        assert all(policy.rounds for policy in family.policies) == (kept == {0.1})


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "ranking"])
def test_the_first_policy_is_the_best_on_validation(task):
    problem = make_case(task).problem
    family = GreedyMiser(**SMALL).fit(problem)
    rows = Rows(problem.validation.X, problem.validation.sizes)
    validation_scores = [validation_score(problem, policy.decide(rows)) for policy in family.policies]
    assert validation_scores[0] == max(validation_scores)


def test_lambda_in_relative_units_ignores_the_scale_of_prices_and_targets(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 0.5, 0.1]
    kept = [
        GreedyMiser(**SMALL, lambdas=(0.3,), prefixes=(10,)).fit(make(X, s * y, prices=[p, p, 2 * p]))
        for s, p in ((1.0, 1.0), (1024.0, 1.0), (1.0, 4096.0))
    ]
    columns = [family.policies[0].ensemble.trees.flat.column.tolist() for family in kept]
    assert columns[0] == columns[1] == columns[2]
    assert sum(c >= 0 for c in columns[0]) > 0


def test_lambda_in_price_units_is_squared_error_per_price(make):
    # One binary feature explains a variance of 1: it is acquired below λ · price = 1, not above.
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    problem = make(X, y, prices=[4.0])
    method = GreedyMiser(lambdas=(0.24, 0.26), unit="price", n_estimators=1, prefixes=(1,))
    acquired = {p.details["lambda"]: p.details["features"] for p in method.fit(problem).policies}
    assert acquired == {0.24: 1, 0.26: 0}


def test_prices_that_grow_with_size_are_averaged(make):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    part = Part(X, y, np.array([1.0, 2.0, 3.0, 6.0]))  # mean of n² is 12.5
    costs = Costs(np.array([[0.0, 0.0, 1.0]]))
    for value, acquired in ((0.079, 1), (0.081, 0)):
        method = GreedyMiser(lambdas=(value,), unit="price", n_estimators=1)
        family = method.fit(make(X, y, costs=costs, train=part, validation=(X, y, part.sizes)))
        assert family.policies[0].details["features"] == acquired


@pytest.mark.parametrize(
    ("score", "y"),
    [
        (np.full((5, 1), 2.0), [0, 1, 1, 0, 1]),
        (np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]),
        (np.arange(4.0)[:, None], [1, 1, 1, 1]),
        (np.zeros((1, 1)), [0]),
        (np.random.default_rng(0).normal(size=(9, 3)), [0, 0, 0, 0, 1, 1, 1, 1, 1]),
    ],
    ids=["constant", "separable", "one class", "one row", "a class is missing"],
)
def test_sigmoids_stay_finite(score, y):
    table = fit_sigmoids(score, np.array(y)).probabilities(score)
    assert np.isfinite(table).all()
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert (table.argmax(axis=1) == y).mean() >= 0.5


def test_links_give_probabilities_for_extreme_scores():
    far = np.array([[-1e4], [0.0], [1e4]])
    np.testing.assert_allclose(Odds().probabilities(far)[:, 1], [0, 0.5, 1])
    np.testing.assert_allclose(Clipped().probabilities(far + 0.25)[:, 1], [0, 0.25, 1])
    wide = np.array([[-5.0, -1.0, -2.0], [0.2, 0.6, 2.0], [1e4, -1e4, 0.0]])
    np.testing.assert_allclose(Clipped().probabilities(wide)[0], 1 / 3)
    np.testing.assert_allclose(Clipped().probabilities(wide)[1], np.array([0.2, 0.6, 1.0]) / 1.8)
    np.testing.assert_allclose(Soft().probabilities(wide)[2], [1, 0, 0])


@pytest.mark.parametrize("loss", ["auto", "squared"])
@pytest.mark.parametrize("calibrate", ["platt", "none"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_it_is_accurate_on_learnable_data(task, loss, calibrate):
    case = make_case(task, rows=600)
    method = GreedyMiser(n_estimators=60, lambdas=(0.0,), loss=loss, calibrate=calibrate, prefixes=(60,))
    table = method.fit(case.problem).policies[0].decide(case.rows).probabilities
    assert (table.argmax(axis=1) == case.y).mean() > (0.8 if task == "binary" else 0.7)


def test_costs_fall_as_lambda_grows_where_features_differ_in_validation_score(make):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 6))
    y = X @ (0.5 ** np.arange(6)) + 0.01 * rng.normal(size=600)
    family = GreedyMiser(n_estimators=30, lambdas=(0.0, 0.01, 0.1, 1.0, 10.0), prefixes=(30,)).fit(make(X, y))
    features = [p.details["features"] for p in sorted(family.policies, key=lambda p: p.details["lambda"])]
    assert features == sorted(features, reverse=True)
    assert features[0] == 6
    assert features[-1] == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"lambdas": [-1.0]}, "lambdas.* must be a number of at least 0, not -1.0"),
        ({"lambdas": [float("nan")]}, "lambdas"),
        ({"lambdas": [float("inf")]}, "finite"),
        ({"lambdas": []}, "lambdas must be .*a list of at least 1 item"),
        ({"lambdas": [0.1, 0.1]}, "lambdas must be .*, distinct, not"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_depth": 11}, "max_depth"),
        ({"max_bins": 256}, "max_bins"),
        ({"max_bins": 1}, "max_bins"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"prefixes": []}, "prefixes"),
        ({"prefixes": [-1]}, "prefixes"),
        ({"prefixes": "some"}, "prefixes"),
        ({"n_estimator": 5}, "did you mean 'n_estimators'"),
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong, said):
    with pytest.raises(RequestError, match=said):
        build(GreedyMiser, wrong, "suite")


def test_one_class_in_training_is_a_constant_and_costs_nothing(make):
    X = np.random.default_rng(0).normal(size=(20, 3))
    family = GreedyMiser(n_estimators=5).fit(make(X, np.ones(20, dtype=np.int64), task="binary"))
    for policy in family.policies:
        decisions = policy.decide(Rows(X))
        assert not decisions.acquired.any()
        assert (decisions.probabilities[:, 1] > 0.9).all()


def test_a_row_whose_missing_value_was_never_seen_follows_the_larger_child(make):
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    y = np.array([0.0, 0.0, 0.0, 9.0, 9.0])
    family = GreedyMiser(n_estimators=1, max_depth=1, learning_rate=1.0, lambdas=(0.0,)).fit(make(X, y))
    decisions = family.policies[0].decide(Rows(np.array([[np.nan]])))
    assert decisions.score[0] == pytest.approx(0.0, abs=1e-12)
    assert decisions.acquired.tolist() == [[True]]


def test_one_row_and_no_validation_row_still_make_a_family(make):
    X, y = np.array([[1.0, 2.0]]), np.array([1])
    family = GreedyMiser().fit(make(X, y, task="binary", validation=(X[:0], y[:0])))
    assert family.policies[0].decide(Rows(X)).probabilities[0, 1] == pytest.approx(0.5)


@pytest.mark.parametrize("columns", [5, 8])
def test_rows_of_other_columns_are_refused(columns):
    policy = GreedyMiser(**SMALL).fit(make_case("regression").problem).policies[0]
    with pytest.raises(ValueError, match=rf"{columns} columns, the trees were grown on 6"):
        policy.decide(Rows(np.zeros((3, columns))))


def test_without_validation_rows_the_first_policy_stays_the_first(make):
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    family = GreedyMiser(**SMALL, lambdas=(0.3, 0.0)).fit(make(X, y, task="binary", validation=(X[:0], y[:0])))
    assert family.policies[0].details == {"lambda": 0.3, "trees": 1, "features": 1}


@pytest.mark.parametrize("calibrate", ["platt", "none"])
def test_features_that_cost_nothing_are_bought_whatever_lambda_says(make, calibrate):
    X = np.random.default_rng(0).normal(size=(60, 3))
    problem = make(X, (X[:, 0] > 0).astype(np.int64), prices=[0, 0, 0], task="binary")
    free, expensive = (
        GreedyMiser(**SMALL, lambdas=(value,), prefixes=(10,), calibrate=calibrate).fit(problem).policies[0]
        for value in (0.0, 100.0)
    )
    np.testing.assert_array_equal(free.ensemble.trees.flat.column, expensive.ensemble.trees.flat.column)
    assert free.details["features"] > 0
