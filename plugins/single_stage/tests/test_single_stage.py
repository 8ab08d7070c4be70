"""``single-stage``, compared with scikit-learn's logistic and ridge regression on all features."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench_single_stage.plugin import SingleStage
from sklearn.linear_model import LogisticRegression, Ridge

from bench_core import Costs, Part, Problem, Rows, build

MakeProblem = Callable[..., Problem]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_it_predicts_what_scikit_learn_predicts(make_problem: MakeProblem, n_classes: int, C: float) -> None:
    problem = make_problem(n_classes)
    [policy] = SingleStage(C=C).fit(problem)
    reference = LogisticRegression(C=C, tol=1e-12, max_iter=10_000).fit(problem.train.X, problem.train.y)
    decisions = policy.decide(Rows(problem.validation.X))
    assert decisions.probabilities is not None
    np.testing.assert_allclose(decisions.probabilities, reference.predict_proba(problem.validation.X), atol=1e-6)


def test_regression_is_ridge(make_problem: MakeProblem) -> None:
    problem = make_problem(0)
    [policy] = SingleStage(C=0.5).fit(problem)
    reference = Ridge(alpha=2.0).fit(problem.train.X, problem.train.y)
    score = policy.decide(Rows(problem.validation.X)).score
    assert score is not None
    np.testing.assert_allclose(score, reference.predict(problem.validation.X), atol=1e-9)


def test_every_row_pays_for_every_feature_at_stage_one(make_problem: MakeProblem) -> None:
    problem = make_problem(3, feature_names=("a", "b"), feature_of_column=np.array([0, 0, 0, 1, 1]))
    problem = replace(problem, costs=Costs(np.array([3.0, 4.0])))
    [policy] = SingleStage().fit(problem)
    decisions = policy.decide(Rows(problem.validation.X)).checked(len(problem.validation), 2, 3)
    assert decisions.acquired.all()
    assert decisions.stage is not None
    assert (decisions.stage == 1).all()
    assert (problem.costs.bill(decisions.acquired) == 7.0).all()


def test_missing_values_name_the_feature(make_problem: MakeProblem) -> None:
    problem = make_problem(2)
    X = np.array(problem.train.X)
    X[0, 3] = np.nan
    with pytest.raises(ValueError, match=r"'f3' hold NaN; choose an encoding that imputes"):
        SingleStage().fit(replace(problem, train=Part(X, problem.train.y)))


@pytest.mark.parametrize("C", [0.0, -1.0, float("inf"), float("nan")])
def test_a_penalty_out_of_range_is_refused(C: float) -> None:
    with pytest.raises(ValueError, match=r"SingleStage: C:? must be a (number above 0|finite number), not"):
        SingleStage(C=C)


def test_toml_integers_are_accepted_as_floats() -> None:
    assert build(SingleStage, {"C": 2}, "here") == SingleStage(2.0)


def test_importing_stays_light() -> None:
    code = "import bench_single_stage.plugin, sys; sys.exit(any(m in sys.modules for m in ('sklearn', 'pandas')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
