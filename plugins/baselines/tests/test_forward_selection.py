"""The search, compared with brute force on random losses; the method on problems with known answers."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from bench_baselines.forward_selection.method import ForwardSelection
from bench_baselines.forward_selection.search import select
from bench_models.prices import MeanPrices
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part, Problem
from bench_core.testing import make_problem


def instance(seed):
    """Random losses of all sets of five features, prices with zeros and groups, and a budget."""
    rng = np.random.default_rng(seed)
    sets = [s for k in range(6) for s in combinations(range(5), k)]
    losses = {s: float(rng.integers(0, 12)) for s in sets}
    group = rng.integers(-1, 2, 5)
    prices = MeanPrices(rng.integers(0, 4, 5).astype(float), group, rng.integers(0, 3, 2).astype(float))
    return losses, prices, float(rng.uniform(0, prices.full + 1))


def plain_price(prices, chosen):
    groups = {int(prices.group[f]) for f in chosen} - {-1}
    return sum(prices.own[f] for f in chosen) + sum(prices.group_price[g] for g in groups)


def plain_select(losses, prices, budget):
    """Cost-benefit greedy from its definition, every gain computed at every step."""
    now, candidates = (), [()]
    while True:
        fits = [f for f in range(5) if f not in now and plain_price(prices, (*now, f)) <= budget + 1e-9]
        if not fits:
            break
        options = []
        for f in fits:
            gain = losses[now] - losses[tuple(sorted((*now, f)))]
            price = plain_price(prices, (*now, f)) - plain_price(prices, now)
            if gain > 0:
                options.append((1, gain / price if price > 0 else np.inf, gain, -f))
            else:
                options.append((0, gain, -price, -f))
        now = tuple(sorted((*now, -max(options)[-1])))
        candidates.append(now)
    candidates += [(f,) for f in range(5) if plain_price(prices, (f,)) <= budget + 1e-9]
    if prices.full <= budget + 1e-9:
        candidates.append(tuple(range(5)))
    return min(losses[c] for c in candidates), candidates


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_the_chosen_set_is_the_best_of_the_greedy_search_and_fits(seed):
    losses, prices, budget = instance(seed)
    chosen = select(losses.__getitem__, prices, budget, lazy_above=9)
    least, candidates = plain_select(losses, prices, budget)
    assert plain_price(prices, chosen) <= budget + 1e-9
    assert losses[chosen] == least
    cheapest = min(plain_price(prices, c) for c in candidates if losses[c] == least)
    assert plain_price(prices, chosen) == pytest.approx(cheapest)


def test_among_features_that_help_only_together_the_least_harmful_comes_first_not_the_dearest():
    """No feature lowers the loss alone; features 1 and 2 do together. The budget buys one of 0 and 1, and 2."""
    losses = {(): 1.0, (0,): 9.0, (1,): 2.0, (2,): 3.0, (0, 1): 9.0, (0, 2): 9.0, (1, 2): 0.0, (0, 1, 2): 9.0}
    prices = MeanPrices(np.array([8.0, 1.0, 1.0]), np.full(3, -1), np.zeros(0))
    assert select(losses.__getitem__, prices, 9.0) == (1, 2)


def test_among_features_without_effect_the_cheapest_comes_first():
    losses = {(): 1.0, (0,): 1.0, (1,): 1.0, (2,): 1.0, (0, 1): 1.0, (0, 2): 1.0, (1, 2): 0.0, (0, 1, 2): 1.0}
    prices = MeanPrices(np.array([3.0, 2.0, 1.0]), np.full(3, -1), np.zeros(0))
    assert select(losses.__getitem__, prices, 3.0) == (1, 2)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_lazy_gains_change_nothing_if_gains_only_shrink(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((6, 12)) < 0.3
    weights = rng.uniform(0.5, 2, 12)
    prices = MeanPrices(rng.uniform(0.5, 3, 6), np.full(6, -1), np.zeros(0))
    asked = []

    def loss(chosen):
        asked.append(chosen)
        return float(weights.sum() - weights[covers[list(chosen)].any(axis=0)].sum())

    budget = float(rng.uniform(0.5, prices.full))
    complete = select(loss, prices, budget, lazy_above=6)
    many = len(set(asked))
    asked.clear()
    assert loss(select(loss, prices, budget, lazy_above=0)) == loss(complete)
    assert len(set(asked)) <= many


@pytest.mark.parametrize("model", ["logistic", "lightgbm"])
def test_every_policy_keeps_its_budget_and_pays_a_group_once(model):
    problem = make_problem("binary")
    costs = Costs(np.array([1.0, 1, 1, 1, 1, 1]), np.array([0, 0, 1, 1, -1, -1]), np.array([4.0, 2.0]))
    problem = replace(problem, costs=costs)
    family = ForwardSelection(model=model, budgets=(0.1, 0.2, 0.4, 0.7, 1.0), n_estimators=5).fit(problem)
    for policy in family.policies:
        decisions = pickle.loads(pickle.dumps(policy)).decide(problem.validation.rows())
        bill = costs.bill(decisions.acquired)
        assert (bill == bill[0]).all()
        assert bill[0] == pytest.approx(policy.details["price"])
        assert bill[0] <= policy.details["budget"] * 12.0 + 1e-9


def test_a_cheap_copy_is_taken_in_place_of_an_expensive_feature():
    problem = make_problem("regression")
    X = np.array(problem.train.X)
    X[:, 1] = X[:, 0]
    V = np.array(problem.validation.X)
    V[:, 1] = V[:, 0]
    prices = np.full(problem.n_features, 5.0)
    prices[1] = 1.0
    train, validation = replace(problem.train, X=X), replace(problem.validation, X=V)
    problem = replace(problem, train=train, validation=validation, costs=Costs(prices))
    family = ForwardSelection(budgets=(0.1, 0.25)).fit(problem)
    assert all(1 in policy.features and 0 not in policy.features for policy in family.policies)


@pytest.mark.parametrize("wrong", [{"budgets": ()}, {"budgets": (0.0,)}, {"C": -1.0}, {"patience": -1}])
def test_invalid_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ForwardSelection(**wrong)


def overfitting_problem(seed=0):
    """The first feature has 60 columns of noise, which overfit 80 rows; the second determines three of four rows."""
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], 40)
    honest = np.where(np.arange(80) % 8 < 6, y, 1 - y).astype(float)
    part = Part(np.column_stack([rng.normal(size=(80, 60)), honest]), y)
    return Problem(
        train=part,
        validation=part,
        costs=Costs(np.ones(2)),
        task="binary",
        n_classes=2,
        feature_names=("overfits", "honest"),
        feature_of_column=np.array([0] * 60 + [1]),
    )


def test_an_overfitting_feature_is_not_chosen():
    (policy,) = ForwardSelection(model="logistic", budgets=(0.5,)).fit(overfitting_problem()).policies
    assert list(policy.features) == [1]


def test_the_validation_part_determines_only_which_policy_comes_first():
    problem = overfitting_problem()
    other = replace(problem, validation=Part(problem.validation.X[::-1], problem.validation.y))
    sets = [
        {policy.label: policy.features for policy in ForwardSelection().fit(given).policies}
        for given in (problem, other)
    ]
    assert sets[0] == sets[1]
