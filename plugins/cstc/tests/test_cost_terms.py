"""Costs that are left out of the objective (§6.6) do not influence the fit, but are billed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_cstc.methods import SingleCostSensitive

from bench_core import Costs, Part, Problem, Rows

SETTINGS = {
    "features": "boosted",
    "n_estimators": 8,
    "max_depth": 2,
    "lambdas": (0.02,),
    "unit": "price",
    "max_iter": 5,
}


def problem(prices: list[float]) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = X[:, 0] + 0.8 * X[:, 1] + 0.2 * rng.standard_normal(200)
    train, validation = Part(X[:150], y[:150]), Part(X[150:], y[150:])
    names = tuple("abcd")
    return Problem(train, validation, Costs(np.array(prices)), "regression", 0, names, np.arange(4), seed=0)


def decided(method: SingleCostSensitive, given: Problem):
    policy = method.fit(given).policies[0]
    return policy.decide(Rows(given.validation.X))


def test_only_charged_costs_influence_the_fit() -> None:
    cheap, expensive = problem([1.0, 1.0, 1.0, 1.0]), problem([1.0, 60.0, 1.0, 1.0])
    both = SingleCostSensitive(**SETTINGS, evaluation=0.1)
    assert decided(both, cheap).acquired[:, 1].all()
    assert not decided(both, expensive).acquired[:, 1].any()
    unfelt = replace(both, cost_terms="evaluation")
    assert (decided(unfelt, cheap).score == decided(unfelt, expensive).score).all()
    features = replace(both, cost_terms="features")
    costly = replace(features, evaluation=1000.0)
    assert (decided(features, cheap).score == decided(costly, cheap).score).all()


def test_evaluations_are_billed_even_if_the_objective_does_not_charge_them() -> None:
    method = SingleCostSensitive(**SETTINGS, evaluation=0.5, cost_terms="features")
    decisions = decided(method, problem([1.0, 1.0, 1.0, 1.0]))
    assert decisions.evaluations is not None
    assert decisions.evaluation_cost == pytest.approx(0.5 * decisions.evaluations)
    assert decisions.evaluations.min() > 0


def test_charging_only_evaluations_needs_boosted_trees() -> None:
    with pytest.raises(ValueError, match="nothing else is evaluated"):
        SingleCostSensitive(cost_terms="evaluation")
