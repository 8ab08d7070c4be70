"""Calibration does not use the validation part, which selects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_greedymiser.plugin import GreedyMiser

from bench_core import Part
from bench_core.testing import make_case


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_validation_part_determines_only_which_policy_comes_first(task):
    case = make_case(task, rows=200)
    problem = case.problem
    part = problem.validation
    method = GreedyMiser(n_estimators=8, lambdas=(0.0, 0.1))
    other = replace(problem, validation=Part(part.X[::-1], np.roll(part.y, 1), part.sizes))
    answers = []
    for given in (problem, other):
        by_label = {policy.label: policy for policy in method.fit(given).policies}
        answers.append({label: by_label[label].decide(case.rows) for label in sorted(by_label)})
    assert answers[0].keys() == answers[1].keys()
    for label, mine in answers[0].items():
        np.testing.assert_array_equal(mine.probabilities, answers[1][label].probabilities)


def test_automatic_lambdas_reach_from_no_price_to_nothing_bought():
    case = make_case("binary", rows=200)
    family = GreedyMiser(n_estimators=8, lambdas="auto").fit(case.problem)
    rows = case.problem.validation.rows()
    costs = [case.problem.costs.bill(policy.decide(rows).acquired).mean() for policy in family.policies]
    assert family.diagnostics["lambdas"][0] == 0
    assert min(costs) == 0
    assert len(costs) <= 40
