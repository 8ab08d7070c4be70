"""CO-T, compared row by row with a plain loop over scikit-learn's models."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench_cost_ordered.plugin import CostOrdered, CostOrderedPolicy
from bench_models.linear import constant_model
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from bench_core import Costs, Part, Problem, RequestError, Rows, build

MakeProblem = Callable[..., Problem]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9, 1.0])
def test_it_decides_and_pays_as_a_plain_loop_does(make_problem: MakeProblem, n_classes: int, threshold: float) -> None:
    prices = [1.0, 10.0, 100.0]
    classes = {1: [1, 4], 2: [0], 3: [2, 3]}
    number = np.array([2, 1, 3, 3, 1])
    costs = Costs(np.array([prices[c - 1] for c in number]), classes=number)
    problem = make_problem(n_classes, rows=240, costs=costs, threshold=threshold)
    [policy] = CostOrdered(C=2.0).fit(problem)
    X = problem.validation.X
    decisions = policy.decide(Rows(X)).checked(len(X), 5, n_classes)
    bill = costs.bill(decisions.acquired)
    assert decisions.probabilities is not None
    assert decisions.stage is not None
    assert decisions.evaluations is not None

    so_far: list[int] = []
    learners = []
    for stage in (1, 2, 3):
        so_far = sorted(so_far + classes[stage])
        learner = LogisticRegression(C=2.0, tol=1e-12, max_iter=10_000)
        learners.append((so_far, learner.fit(problem.train.X[:, so_far], problem.train.y)))
    for i, row in enumerate(X):
        owed, have = 0.0, set()
        for stage, (features, learner) in enumerate(learners, start=1):
            for feature in features:
                if feature not in have:
                    owed += prices[number[feature] - 1]
                    have.add(feature)
            answer = learner.predict_proba(row[features][None, :])[0]
            assert abs(answer.max() - threshold) > 1e-5, "the example must not sit on the threshold"
            if answer.max() >= threshold or stage == 3:
                break
        np.testing.assert_allclose(decisions.probabilities[i], answer, atol=1e-6)
        assert decisions.stage[i] == stage
        assert decisions.evaluations[i] == stage
        assert set(np.flatnonzero(decisions.acquired[i]).tolist()) == have
        assert bill[i] == owed
    if threshold == 0.7:
        assert len(set(decisions.stage.tolist())) == 3, "the example must use every stage"


def policy_of_constants(threshold: float, shares: list[list[int]]) -> CostOrderedPolicy:
    models = tuple(constant_model(np.repeat([0, 1], counts), 2) for counts in shares)
    return CostOrderedPolicy(threshold, models, np.tri(len(shares), dtype=bool))


def test_a_confidence_of_exactly_the_threshold_is_conclusive() -> None:
    decisions = policy_of_constants(0.75, [[3, 1], [1, 0]]).decide(Rows(np.zeros((4, 2))))
    assert decisions.stage is not None
    assert (decisions.stage == 1).all()
    assert decisions.acquired.tolist() == [[True, False]] * 4


def test_a_row_never_conclusive_leaves_at_the_last_stage_and_pays_for_all() -> None:
    decisions = policy_of_constants(0.9, [[3, 1], [1, 1], [2, 1]]).decide(Rows(np.zeros((2, 3))))
    assert decisions.stage is not None
    assert decisions.probabilities is not None
    assert (decisions.stage == 3).all()
    assert decisions.acquired.all()
    np.testing.assert_allclose(decisions.probabilities, [[2 / 3, 1 / 3]] * 2)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 40))
def test_a_rows_decision_is_the_same_bits_in_any_batch(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    problem = Problem(
        Part(X, y), Part(X, y), Costs(np.arange(4.0)), "multiclass", 3, tuple("abcd"), np.arange(4), threshold=0.45
    )  # fmt: skip
    [policy] = CostOrdered(C=100.0).fit(problem)
    tests = rng.normal(size=(rows, 4))
    together = policy.decide(Rows(tests)).checked(rows, 4, 3)
    kept = np.array(tests)
    for i in rng.permutation(rows):
        alone = policy.decide(Rows(tests[i : i + 1]))
        for name in ("acquired", "probabilities", "stage", "evaluations"):
            assert (getattr(alone, name)[0] == getattr(together, name)[i]).all()
    assert (tests == kept).all()


def test_all_columns_of_an_acquired_feature_are_read(make_problem: MakeProblem) -> None:
    problem = make_problem(2, feature_names=("a", "b"), feature_of_column=np.array([0, 0, 1, 1, 1]))
    problem = replace(problem, costs=Costs(np.array([9.0, 1.0])))
    [policy] = CostOrdered().fit(problem)
    assert isinstance(policy, CostOrderedPolicy)
    assert policy.models[0].columns.tolist() == [2, 3, 4]
    assert policy.models[1].columns.tolist() == [0, 1, 2, 3, 4]
    assert policy.acquired.tolist() == [[False, True], [True, True]]
    assert policy.details["stages"] == [[1], [0]]


def test_missing_values_name_the_feature(make_problem: MakeProblem) -> None:
    problem = make_problem(2)
    X = np.array(problem.train.X)
    X[0, 1] = np.nan
    with pytest.raises(ValueError, match="'f1' hold NaN"):
        CostOrdered().fit(replace(problem, train=Part(X, problem.train.y)))


@pytest.mark.parametrize(("n_classes", "first", "last"), [(2, 0.55, 0.95), (3, 0.4, 14 / 15)])
def test_without_a_threshold_the_family_is_a_sweep_of_it_and_each_policy_what_that_threshold_gives(
    make_problem: MakeProblem, n_classes: int, first: float, last: float
) -> None:
    problem = make_problem(n_classes, threshold=None)
    policies = {
        policy.threshold: policy for policy in CostOrdered().fit(problem) if isinstance(policy, CostOrderedPolicy)
    }
    thresholds = sorted(policies)
    assert len(thresholds) == 9
    assert (thresholds[0], thresholds[-1]) == pytest.approx((first, last))
    rows = problem.validation.rows()
    costs = [problem.costs.bill(policies[p].decide(rows).acquired).mean() for p in thresholds]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]
    for p in (thresholds[0], thresholds[-1]):
        [alone] = CostOrdered().fit(replace(problem, threshold=p))
        assert (alone.decide(rows).probabilities == policies[p].decide(rows).probabilities).all()


def test_parameters_out_of_range_are_refused_and_toml_values_accepted() -> None:
    with pytest.raises(ValueError, match="max_stages must be a whole number of at least 1 or none, not 0"):
        CostOrdered(max_stages=0)
    with pytest.raises(ValueError, match="C must be a number above 0, not 0"):
        CostOrdered(C=0)
    assert build(CostOrdered, {"max_stages": 4}, "here") == CostOrdered(max_stages=4)
    with pytest.raises(RequestError, match="max_stages"):
        build(CostOrdered, {"max_stages": "four"}, "here")


def test_importing_stays_light() -> None:
    code = "import bench_cost_ordered.plugin, sys; sys.exit(any(m in sys.modules for m in ('sklearn', 'pandas')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
