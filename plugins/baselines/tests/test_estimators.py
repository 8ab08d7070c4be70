"""A scikit-learn estimator is a method in one line."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bench_core import ContractError, build, sklearn_method
from bench_core.testing import make_case, method_contract

test_classifier = method_contract(sklearn_method(make_pipeline(StandardScaler(), LogisticRegression()))())
test_regressor = method_contract(sklearn_method(Ridge())())


def test_it_answers_as_the_estimator_and_buys_everything():
    case = make_case("multiclass")
    problem = case.problem
    (policy,) = sklearn_method(LogisticRegression(C=0.3, max_iter=500))().fit(problem)
    decided = policy.decide(case.rows)
    expected = LogisticRegression(C=0.3, max_iter=500).fit(problem.train.X, problem.train.y).predict_proba(case.rows.X)
    np.testing.assert_allclose(decided.probabilities, expected)
    assert decided.acquired.all()


def test_the_estimators_plain_parameters_are_parameters_of_a_suite():
    cls = sklearn_method(RandomForestClassifier(max_depth=3))
    method = build(cls, {"n_estimators": 7, "max_depth": 2}, "here")
    (policy,) = method.fit(make_case("binary").problem)
    assert len(policy.model.estimators_) == 7
    assert policy.model.max_depth == 2
    with pytest.raises(Exception, match="n_estimators must be a whole number"):
        build(cls, {"n_estimators": "many"}, "here")


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(3), make_pipeline(StandardScaler(), RandomForestClassifier(3))]
)
def test_the_seed_of_a_trial_decides_what_the_estimator_draws(estimator):
    method = sklearn_method(estimator)()
    fits = [method.fit(make_case("binary", seed=seed).problem)[0] for seed in (1, 1, 2)]
    rows = make_case("binary").rows
    first, again, other = (policy.decide(rows).probabilities for policy in fits)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_an_instance_can_be_sent_to_another_process():
    method = sklearn_method(Ridge(alpha=2.0), version=3)(alpha=5.0)
    again = pickle.loads(pickle.dumps(method))
    assert type(again).version == 3
    assert again.alpha == 5.0


@pytest.mark.parametrize("estimator", [LinearSVC(), SVC(), StandardScaler()])
def test_estimators_without_probabilities_or_values_are_refused(estimator):
    with pytest.raises(ContractError, match=type(estimator).__name__):
        sklearn_method(estimator)
