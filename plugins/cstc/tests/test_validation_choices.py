"""Further choices on validation: ρ per λ, and the end of fine-tuning; and the depth at which trees buy."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cstc.descent import Descent
from bench_cstc.fitting import purchases
from bench_cstc.methods import CSCC, CSTC, Cronus, SingleCostSensitive
from bench_cstc.objective import State
from bench_cstc.shape import Shape
from bench_cstc.structure import predictions
from bench_cstc.tuning import fine_tuned, fine_tuned_until_worse

from bench_core import Part, Rows

RATIOS = (0.02, 0.3, 3.0)


def noisy(make, rows=40, columns=12, signal=2, seed=0):
    """Few rows and many columns, most of them noise, so that large weights overfit."""
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(rows, columns)), rng.normal(size=(300, columns))
    truth = np.zeros(columns)
    truth[:signal] = 1.0
    y, z = X @ truth + rng.normal(size=rows), Z @ truth + rng.normal(size=300)
    return make(X, y, validation=Part(Z, z))


def loss(problem, policy):
    return float(np.square(policy.decide(problem.validation.rows()).score - problem.validation.y).mean())


def of_ratio(policy):
    return policy.details.get("rho_ratio")


@pytest.mark.parametrize("method", [CSTC, CSCC, Cronus, SingleCostSensitive])
def test_the_ratio_of_rho_to_lambda_is_the_best_on_validation(make, method):
    problem = noisy(make)
    common = {"lambdas": (0.02,), "unit": "price"}
    (chosen,) = method(**common, rho_ratios=RATIOS).fit(problem).policies
    alone = {ratio: method(**common, rho_ratios=(ratio,)).fit(problem).policies[0] for ratio in RATIOS}
    losses = {ratio: loss(problem, policy) for ratio, policy in alone.items()}
    assert len(set(losses.values())) > 1
    assert of_ratio(chosen) == min(losses, key=losses.get)
    assert loss(problem, chosen) == min(losses.values())


def test_a_ratio_is_rho_over_lambda_in_the_objectives_units(make):
    problem = noisy(make)
    by_ratio = CSTC(lambdas=(0.03,), unit="price", rho_ratios=(0.5,)).fit(problem).policies[0]
    by_rho = CSTC(lambdas=(0.03,), unit="price", rho=0.015).fit(problem).policies[0]
    rows = Rows(problem.train.X)
    np.testing.assert_array_equal(by_ratio.decide(rows).score, by_rho.decide(rows).score)
    unit = CSTC(lambdas=(0.03,)).fit(problem).diagnostics["lambda_max"][0]
    relative = CSTC(lambdas=(0.03 / unit,), rho_ratios=(0.5,)).fit(problem).policies[0]
    np.testing.assert_allclose(relative.decide(rows).score, by_rho.decide(rows).score, atol=1e-9)


def test_at_lambda_zero_rho_is_the_parameter(make):
    problem = noisy(make)
    one, other = (CSTC(lambdas=(0.0,), rho=0.01, rho_ratios=ratios).fit(problem).policies[0] for ratios in ((), RATIOS))
    rows = Rows(problem.train.X)
    np.testing.assert_array_equal(one.decide(rows).score, other.decide(rows).score)
    assert of_ratio(other) is None


@pytest.mark.parametrize("ratios", [(0.0,), (-1.0,), (float("inf"),)])
def test_ratios_must_be_above_zero(ratios):
    with pytest.raises(ValueError, match="rho_ratios"):
        CSTC(rho_ratios=ratios)


def squared(problem):
    return lambda scores: float(np.square(scores - problem.validation.y).mean())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rows", ["soft", "hard"])
def test_stopped_fine_tuning_is_never_worse_on_validation_than_none_or_complete(make_objective, seed, rows):
    objective, state = make_objective(seed)
    descent = Descent(objective)
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)

    def criterion(scores):
        return float(np.square(scores - y).mean())

    def value(beta, bias):
        return criterion(predictions(type(state)(state.shape, beta, bias, state.theta), X, state))

    beta, bias, _ = fine_tuned_until_worse(descent, state, rows, X, criterion)
    assert value(beta, bias) <= min(value(state.beta, state.bias), value(*fine_tuned(descent, state, rows))) + 1e-12
    assert (beta[state.beta == 0] == 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_steps_of_fine_tuning_approach_its_end(make_objective, seed):
    """The last steps are nearer to the end than the start is, and close to it."""
    objective, _ = make_objective(seed, rows=200)
    rng = np.random.default_rng(seed)
    state = State(Shape((1,)), rng.normal(size=(1, 4)), rng.normal(size=1), np.zeros(1))
    descent = Descent(objective)
    end = fine_tuned(descent, state, "soft")
    X = rng.normal(size=(50, 4))
    goal = predictions(type(state)(state.shape, *end, state.theta), X, state)
    gaps = []

    def criterion(scores):
        gaps.append(float(np.abs(scores - goal).max()))
        return gaps[-1]

    fine_tuned_until_worse(descent, state, "soft", X, criterion)
    assert gaps[-1] == 0.0  # the end itself
    assert gaps[-2] <= 0.02 * gaps[0] + 1e-3


def test_fine_tuning_that_fits_noise_ends_early(make):
    problem = noisy(make, rows=30, columns=25)
    common = {"lambdas": (0.001,), "unit": "price", "rho": 1e-6, "levels": 1}
    complete = CSTC(**common).fit(problem).policies[0]
    stopped = CSTC(**common, stop_fine_tuning=True).fit(problem).policies[0]
    assert loss(problem, stopped) < loss(problem, complete)
    assert 0 <= stopped.details["trees"][0]["tuning_steps"] <= 256
    assert "tuning_steps" not in complete.details["trees"][0]


def node(name, *features):
    return {"name": name, "features": list(features)}


def test_purchases_are_counted_below_the_root_only():
    root, tree = [node(1, 0, 1)], [node(1, 0), node(2, 0), node(3, 1), node(6, 1, 2), node(7, 0, 1)]
    assert purchases([0.1, 0.5], [[tree], [root]]) == {
        "new below the root": 0.5,
        "new below the root, lambda=0.1": 0.5,
        "new below the root, lambda=0.5": None,
    }
    assert purchases([1.0], [[root]])["new below the root"] is None


def test_purchases_are_reported_on_request(make):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(rng.random(400) < 0.5, -1.0, 1.0), rng.normal(size=(400, 2))])
    problem = make(X, np.where(X[:, 0] > 0, 10 + X[:, 1], -10 + X[:, 2]), prices=[1.0, 10.0, 10.0])
    common = {"levels": 2, "lambdas": (0.15,), "unit": "price", "rho": 1e-4}
    assert CSTC(**common, report_purchases=True).fit(problem).diagnostics["new below the root"] == 1.0
    assert "new below the root" not in CSTC(**common).fit(problem).diagnostics
