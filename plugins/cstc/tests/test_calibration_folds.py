"""The baselines' probabilities do not depend on the validation part, which selects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_cstc.baselines.adaboost_rs import AdaBoostRS
from bench_cstc.baselines.and_or import AndOrCascade
from bench_cstc.baselines.early_exit import EarlyExit
from bench_cstc.baselines.rbf_svm import RbfSvm
from bench_cstc.baselines.stagewise import Stagewise

from bench_core import Method, Part
from bench_core.testing import make_case

TWO_CLASSES = [
    Stagewise(n_estimators=8),
    EarlyExit(n_estimators=8, s=(0.2, 0.5)),
    AdaBoostRS(n_estimators=8, max_depth=2, budgets=(0.3, 1.0)),
    AndOrCascade(stages=2, lambdas=(0.01, 0.1), max_iter=50),
    RbfSvm(C=(1.0,), gamma=(1.0,)),
]
SEVERAL_CLASSES = [Stagewise(n_estimators=8), RbfSvm(C=(1.0,), gamma=(1.0,))]
PAIRS = [("binary", method) for method in TWO_CLASSES] + [("multiclass", method) for method in SEVERAL_CLASSES]


@pytest.mark.parametrize(("task", "method"), PAIRS)
def test_the_validation_part_determines_only_which_policy_comes_first(task: str, method: Method) -> None:
    case = make_case(task, rows=200)
    problem, part = case.problem, case.problem.validation
    other = replace(problem, validation=Part(part.X[::-1], np.roll(part.y, 1), part.sizes))
    mine, theirs = (
        {policy.label: policy.decide(case.rows).probabilities for policy in method.fit(given).policies}
        for given in (problem, other)
    )
    assert mine.keys() == theirs.keys()
    for label, probabilities in mine.items():
        np.testing.assert_array_equal(probabilities, theirs[label])


@pytest.mark.parametrize("method", TWO_CLASSES)
def test_a_class_with_a_single_training_row_is_no_obstacle(method: Method) -> None:
    case = make_case("binary", rows=200)
    train = case.problem.train
    y = np.zeros_like(train.y)
    y[3] = 1
    family = method.fit(replace(case.problem, train=Part(train.X, y, train.sizes)))
    for policy in family.policies:
        probabilities = policy.decide(case.rows).probabilities
        assert probabilities is not None
        assert (probabilities[:, 0] > 0.5).all()
