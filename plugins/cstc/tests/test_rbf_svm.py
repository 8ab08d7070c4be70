"""The SVM reference: its choice of parameters, answers and costs."""

import numpy as np
import pytest
from bench_cstc.baselines.rbf_svm import RbfSvm
from bench_models.search import expected_improvement, search
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from bench_core import Rows
from bench_core.testing import make_case, make_problem


@pytest.mark.parametrize("standardise", [True, False])
def test_the_svm_of_least_validation_error_is_chosen(standardise):
    case = make_case("binary", rows=300)
    problem = case.problem
    C, gamma = (0.1, 3.0, 50.0), (0.02, 0.2, 2.0)
    method = RbfSvm(C=C, gamma=gamma, gamma_unit="absolute", standardise=standardise)
    family = method.fit(problem)
    shift, scale = (problem.train.X.mean(axis=0), problem.train.X.std(axis=0)) if standardise else (0.0, 1.0)
    train, validation, test = ((X - shift) / scale for X in (problem.train.X, problem.validation.X, case.rows.X))
    best = (2.0, None)
    for c in C:
        for g in gamma:
            machine = SVC(C=c, gamma=g).fit(train, problem.train.y)
            error = float((machine.predict(validation) != problem.validation.y).mean())
            if error < best[0]:
                best = (error, machine)
    (policy,) = family.policies
    assert (policy.details["C"], policy.details["gamma"]) == (best[1].C, best[1].gamma)
    assert min(family.history["validation error"]) == pytest.approx(best[0])
    decisions = policy.decide(case.rows)
    assert decisions.score == pytest.approx(best[1].decision_function(test))
    assert decisions.acquired.all()


def test_the_scale_unit_is_scikit_learns():
    problem = make_problem("binary", rows=200)
    (policy,) = RbfSvm(C=(1.0,), gamma=(1.0,), standardise=False).fit(problem).policies
    X = problem.train.X
    assert policy.details["gamma"] == pytest.approx(1.0 / (X.shape[1] * X.var()))


def test_more_than_two_classes_have_an_svm_each():
    case = make_case("multiclass", rows=400)
    (policy,) = RbfSvm(C=(10.0,), gamma=(1.0,)).fit(case.problem).policies
    decisions = policy.decide(case.rows)
    assert len(policy.machines) == 3
    assert decisions.evaluations.tolist() == [3.0] * len(case.rows)
    assert (decisions.probabilities.argmax(axis=1) == case.y).mean() > 0.75


@settings(max_examples=50, deadline=None)
@given(mean=st.floats(-1, 1), deviation=st.floats(0.01, 2), best=st.floats(-1, 1))
def test_expected_improvement_is_the_integral(mean, deviation, best):
    z = np.linspace(-8, 8, 20_001)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    gain = np.maximum(0.0, best - (mean + deviation * z))
    expected = np.trapezoid(gain * density, z) if hasattr(np, "trapezoid") else np.trapz(gain * density, z)  # noqa: NPY201
    found = expected_improvement(np.array([mean]), np.array([deviation]), best)[0]
    assert found == pytest.approx(expected, abs=1e-5)


def test_bayesian_optimisation_finds_what_the_grid_misses():
    def error(C, gamma):
        return (np.log10(C) - 1.5) ** 2 + (np.log10(gamma) + 0.7) ** 2

    tried = search(error, (1.0, 1000.0), (0.01, 1.0), 15, np.random.default_rng(0))
    assert len(tried) == 19
    assert min(e for _, _, e in tried[:4]) > 0.4
    assert min(e for _, _, e in tried) < 0.02
    assert all(1.0 <= c <= 1000.0 and 0.01 <= g <= 1.0 for c, g, _ in tried)


def test_a_parameter_with_one_value_is_fixed():
    tried = search(lambda C, gamma: C, (1.0, 2.0), (0.5,), 3, np.random.default_rng(0))
    assert {g for _, g, _ in tried} == {0.5}
    assert search(lambda C, gamma: C, (1.0,), (0.5,), 3, np.random.default_rng(0)) == [(1.0, 0.5, 1.0)]


def test_rounds_are_kept_in_the_history():
    family = RbfSvm(C=(1.0, 10.0), gamma=(1.0,), rounds=3, search_rows=30).fit(make_problem("binary", rows=200))
    assert [len(values) for values in family.history.values()] == [5, 5, 5]


def test_the_final_svm_is_trained_on_all_rows():
    problem = make_problem("binary", rows=300)
    few = RbfSvm(C=(5.0,), gamma=(1.0,), search_rows=20).fit(problem).policies[0]
    all_rows = RbfSvm(C=(5.0,), gamma=(1.0,)).fit(problem).policies[0]
    rows = Rows(problem.validation.X)
    assert (few.decide(rows).score == all_rows.decide(rows).score).all()


def test_missing_values_are_refused_by_name():
    with pytest.raises(ValueError, match="large"):
        RbfSvm().fit(make_problem("binary", "missing-values"))


def test_one_class_gives_its_frequency():
    problem = make_problem("binary", "missing-class")
    (policy,) = RbfSvm().fit(problem).policies
    assert policy.decide(Rows(problem.train.X[:1])).probabilities.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"C": ()}, "C must be a list of at least 1 item"),
        ({"C": (0.0,)}, "C.* must be a number above 0, not 0.0"),
        ({"gamma": (-1.0,)}, "gamma.* must be a number above 0, not -1.0"),
        ({"gamma": (1.0, 1.0)}, "gamma must be .*, distinct, not"),
        ({"rounds": -1}, "rounds must be a whole number of at least 0, not -1"),
        ({"search_rows": -1}, "search_rows must be a whole number of at least 0, not -1"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        RbfSvm(**wrong)
