"""Policies: independent rows, budgets, groups, stopping; compared with plain implementations, without training."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from bench_neural.families import budgets, confidences, penalties, penalties_in_cost
from bench_neural.importance import importance_order, permutation_importance, selected_order
from bench_neural.information import Imputer, InformationPolicy
from bench_neural.kernels import dense, points, samples
from bench_neural.kernels_ahead import information
from bench_neural.partial import PartialNetwork
from bench_neural.policy import ActionPolicy, Network, OrderPolicy, RewardPolicy, ScorePolicy, ValuePolicy
from bench_neural.view import Units, view_of
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part, Problem, Rows
from bench_core.testing import make_problem

VARIANTS = ["plain", "one-hot", "groups", "missing-values", "zero-prices"]


def random_network(rng, *sizes):
    return Network.of([(rng.normal(size=pair) / pair[0] ** 0.5, rng.normal(size=pair[1])) for pair in pairs(sizes)])


def pairs(sizes):
    return list(pairwise(sizes))


def some_policies(problem, rng):
    """A policy of every kind with random networks: what they buy is arbitrary, and must not depend on other rows."""
    view = view_of(problem)
    inputs, units, classes = len(view.unit_of_value) + view.units.count, view.units.count, problem.n_classes
    values = inputs - units
    imputer = Imputer(
        rng.normal(size=(values, 4)).astype(np.float32), rng.normal(size=(values, 4)).astype(np.float32),
        random_network(rng, 4, 5, 4), random_network(rng, 2, 5, values),
        rng.normal(size=(3, 2)).astype(np.float32), rng.normal(size=(3, values)).astype(np.float32),
    )  # fmt: skip
    common = {"view": view, "classes": classes, "predictor": random_network(rng, inputs, 6, 6, classes)}
    with_units = common | {"predictor": random_network(rng, inputs, 6, 6, classes + units)}
    half = view.units.full / 2
    return [
        OrderPolicy(**common, order=rng.permutation(units), limit=half),
        ScorePolicy(**common, scores=random_network(rng, inputs, 6, 6, units), limit=half),
        ValuePolicy(**with_units, limit=half),
        ValuePolicy(**with_units, lambda_=0.1),
        ValuePolicy(**with_units, confidence=0.7),
        ActionPolicy(**common, q=random_network(rng, inputs + 1, 6, 6, units + 1), code=0.3),
        RewardPolicy(**with_units, limit=half),
        RewardPolicy(**with_units, confidence=0.7),
        InformationPolicy(**common, imputer=imputer, limit=half),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rows_decision_has_the_same_bits_alone_and_among_others(variant):
    problem, rng = make_problem("multiclass", variant), np.random.default_rng(0)
    rows = Rows(np.concatenate([problem.train.X, problem.validation.X]))
    order = np.concatenate([rng.permutation(len(rows)), rng.integers(0, len(rows), 9)])
    for policy in some_policies(problem, rng):
        together, shuffled = policy.decide(rows).take(order), policy.decide(rows.take(order))
        np.testing.assert_array_equal(together.acquired, shuffled.acquired)
        np.testing.assert_array_equal(together.probabilities, shuffled.probabilities)
        alone = policy.decide(rows.take(order[:1]))
        np.testing.assert_array_equal(together.probabilities[:1], alone.probabilities)


def test_policies_of_several_budgets_share_gains_and_buy_what_each_would_alone():
    problem = make_problem("multiclass", "groups")
    rows, policy = problem.train.rows(), some_policies(problem, np.random.default_rng(3))[-1]
    policies = [replace(policy, limit=share * policy.view.units.full) for share in (0.9, 0.5, 0.2)]
    for each, alone in zip(policies, pickle.loads(pickle.dumps(policies)), strict=True):
        decided, fresh = each.decide(rows), replace(alone, imputer=replace(alone.imputer)).decide(rows)
        assert each.imputer is policy.imputer
        np.testing.assert_array_equal(decided.acquired, fresh.acquired)
        np.testing.assert_array_equal(decided.probabilities, fresh.probabilities)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_can_be_answered_from_any_set_of_known_features(variant):
    problem, rng = make_problem("multiclass", variant), np.random.default_rng(5)
    rows = problem.train.rows()
    for policy in some_policies(problem, rng):
        decided = policy.decide(rows)
        again = policy.decide_known(rows, decided.acquired)
        np.testing.assert_array_equal(again.probabilities, decided.probabilities)
        known = rng.random(decided.acquired.shape) < 0.5
        hidden = rows.having(np.where(known[:, problem.feature_of_column], rows.X, 99.0))
        seen, unseen = policy.decide_known(rows, known), policy.decide_known(hidden, known)
        np.testing.assert_array_equal(seen.probabilities, unseen.probabilities)
        np.testing.assert_array_equal(seen.acquired, known)


def test_penalties_spread_over_cost_begin_at_0_and_end_where_nothing_is_bought():
    problem, rng = make_problem("multiclass", "plain"), np.random.default_rng(7)
    view, rows = view_of(problem), problem.validation.rows()
    inputs, units = len(view.unit_of_value) + view.units.count, view.units.count
    network = random_network(rng, inputs, 6, 6, problem.n_classes + units)

    def make(point):
        return ValuePolicy(view=view, classes=problem.n_classes, predictor=network, **point)

    points = penalties_in_cost(problem, view.units, make, 8)
    bills = [float(problem.costs.bill(make(point).decide(rows).acquired).mean()) for point in points]
    assert len(points) <= 8
    assert (points[0]["lambda_"], bills[-1]) == (0.0, 0.0)
    assert all(point["lambda_"] == point["details"]["lambda"] * view.units.scale for point in points)
    assert bills == sorted(bills, reverse=True)
    assert np.diff(np.sqrt(bills[::-1])).max() < np.sqrt(bills[0]) / 2


def test_another_network_may_answer_for_the_features_that_a_policy_buys():
    problem, rng = make_problem("multiclass", "plain"), np.random.default_rng(6)
    rows = problem.validation.rows()
    first, *others = some_policies(problem, rng)
    for own in others:
        shared = replace(own, answers=first.predictor)
        decided = shared.decide(rows)
        np.testing.assert_array_equal(decided.acquired, own.decide(rows).acquired)
        expected = first.decide_known(rows, decided.acquired).probabilities
        np.testing.assert_array_equal(decided.probabilities, expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_row_pays_more_than_its_budget_and_the_largest_budget_buys_everything(variant):
    problem, rng = make_problem("binary", variant), np.random.default_rng(1)
    view = view_of(problem)
    units, inputs = view.units.count, len(view.unit_of_value) + view.units.count
    networks = {"predictor": random_network(rng, inputs, 4, 4, 2), "scores": random_network(rng, inputs, 4, 4, units)}
    grid = budgets(view.units, 7)
    for limit in grid:
        policy = ScorePolicy(view=view, classes=2, limit=limit, **networks)
        acquired = policy.decide(problem.validation.rows()).acquired
        assert problem.costs.bill(acquired).max() <= limit * (1 + 1e-9)
    assert acquired.all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("share", [None, 0.0, 0.5, 1.0, 2.0])
def test_rows_have_bought_what_they_choose_one_after_the_other(variant, share):
    problem, rng = make_problem("multiclass", variant), np.random.default_rng(2)
    for policy in some_policies(problem, rng):
        limited = replace(policy, limit=None if share is None else share * policy.view.units.full)
        values = policy.view.values(problem.validation.X[:12])
        known = np.zeros((12, policy.view.units.count), dtype=bool)
        for row in range(12):
            here = slice(row, row + 1)
            while (unit := limited.choose(values[here], known[here])[0]) >= 0:
                known[row, unit] = True
        np.testing.assert_array_equal(limited.bought(values), known)
        assert limited.bought(values[:0]).shape == (0, policy.view.units.count)


def test_a_group_whose_members_have_no_prices_is_bought_at_once():
    X = np.random.default_rng(0).normal(size=(30, 4))
    costs = Costs(np.array([0.0, 0.0, 1.0, 2.0]), np.array([0, 0, 1, 1]), np.array([3.0, 5.0]))
    problem = Problem(Part(X, np.arange(30) % 2), Part(X, np.arange(30) % 2), costs, "binary", 2, tuple("abcd"),
                      np.arange(4))  # fmt: skip
    units = view_of(problem).units
    assert units.of_feature.tolist() == [0, 0, 1, 2]
    nothing, third = np.zeros((1, 3), dtype=bool), np.array([[False, False, True]])
    assert units.prices(nothing).tolist() == [[3.0, 6.0, 7.0]]
    assert units.prices(third).tolist() == [[3.0, 1.0, 2.0]]
    assert units.full == costs.total(1)[0]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_dense_layers_compute_the_matrix_product(seed, rows, inputs, outputs, rectify):
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=(rows, inputs)), rng.normal(size=(inputs, outputs))
    x[rng.random(x.shape) < 0.5] = 0
    bias = rng.normal(size=outputs)
    expected = x @ weights + bias
    found = dense(x.astype(np.float32), weights.astype(np.float32), bias.astype(np.float32), rectify)
    np.testing.assert_allclose(found, np.maximum(expected, 0) if rectify else expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("samples", [4, 16, 21])
def test_the_information_of_a_unit_is_the_entropy_that_its_samples_remove(samples):
    rng = np.random.default_rng(2)
    problem = make_problem("multiclass", "groups")
    view = view_of(problem)
    values, known = view.values(problem.train.X[:5]), rng.random((5, view.units.count)) < 0.4
    predictor = random_network(rng, len(view.unit_of_value) + view.units.count, 6, 6, 3)
    imputed = rng.normal(size=(5, samples, len(view.unit_of_value))).astype(np.float32)
    (entry, bias), (middle, middle_bias), (last, last_bias) = predictor.layers
    first = dense(view.inputs(values, known), entry, bias, False)
    found = information(first, imputed, known, view.unit_of_value, entry, middle, middle_bias, last, last_bias)
    for row, unit in np.argwhere(~known):
        more = known[row].copy()
        more[unit] = True
        probabilities = []
        for sample in imputed[row]:
            shown = np.where(view.unit_of_value == unit, sample, values[row])
            logits = predictor(view.inputs(shown[None], more[None]))[0].astype(float)
            probabilities.append(np.exp(logits) / np.exp(logits).sum())
        mean = np.mean(probabilities, axis=0)
        expected = -(mean * np.log(mean)).sum() + np.mean([(p * np.log(p)).sum() for p in probabilities])
        assert found[row, unit] == pytest.approx(expected, abs=1e-5)


def test_the_losses_of_sets_are_those_of_rows_that_know_them():
    rng = np.random.default_rng(6)
    problem = make_problem("multiclass", "groups")
    view = view_of(problem)
    predictor = PartialNetwork(
        view, random_network(rng, len(view.unit_of_value) + view.units.count, 6, 6, problem.n_classes)
    )
    X, y, known = problem.train.X[:7], problem.train.y[:7], rng.random((7, problem.n_features)) < 0.3
    candidates = SimpleNamespace(member=rng.random((19, problem.n_features)) < 0.5)
    # Features of one unit are known together.
    known, candidates.member = (view.known_units(sets)[:, view.units.of_feature] for sets in (known, candidates.member))
    losses = predictor.set_losses(X, y, known, candidates)
    for place, extra in enumerate([np.zeros(problem.n_features, dtype=bool), *candidates.member]):
        table = predictor.probabilities(X, known | extra)
        np.testing.assert_allclose(losses[:, place], -np.log(table[np.arange(7), y]), atol=1e-5)
    of_unit = rng.integers(-1, 4, (7, view.units.count))
    part = np.where(known, -1, of_unit[:, view.units.of_feature])
    losses = predictor.removal_losses(X, y, known, part)
    assert losses.shape == (7, 2 + part.max())
    for place, without in enumerate(range(-1, part.max() + 1)):
        table = predictor.probabilities(X, known | ((part >= 0) & (part != without)))
        np.testing.assert_allclose(losses[:, place], -np.log(table[np.arange(7), y]), atol=1e-5)


def test_point_codes_sum_known_values_and_samples_have_the_latent_moments():
    rng = np.random.default_rng(3)
    values, known = rng.normal(size=(4, 3)).astype(np.float32), rng.random((4, 3)) < 0.5
    slope, shift = rng.normal(size=(2, 3, 5)).astype(np.float32)
    expected = (np.maximum(values[:, :, None] * slope + shift, 0) * known[:, :, None]).sum(axis=1)
    np.testing.assert_allclose(points(values, known, slope, shift), expected, atol=1e-5)
    latent, noise = rng.normal(size=(4, 4)).astype(np.float32), rng.normal(size=(6, 2)).astype(np.float32)
    expected = latent[:, None, :2] + np.exp(latent[:, None, 2:]) * noise
    np.testing.assert_allclose(samples(latent, noise).reshape(4, 6, 2), expected, atol=1e-5)


def test_permutation_importance_finds_the_only_feature_that_matters_and_prices_divide_it():
    problem = make_problem("regression")
    view, rng = view_of(problem), np.random.default_rng(4)
    values = view.values(problem.train.X)
    weights = np.zeros((values.shape[1] + view.units.count, 1))
    weights[0] = 1.0
    predictor = Network.of([(weights, np.zeros(1))])
    importance = permutation_importance(view, predictor, values, values[:, 0], 0, rng, 3)
    assert importance[0] == pytest.approx(2.0, rel=0.4)  # twice the variance of a standardised value
    assert (importance[1:] == 0).all()
    assert importance_order(view, importance)[0] == 0
    ratio = np.ones(view.units.count)
    assert importance_order(view, ratio)[0] == np.argmin(view.units.own)


def units_of(prices, group=()):
    """Units with prices of their own, some of them in one group whose price is 10."""
    each = np.arange(len(prices))
    return Units(each, np.array(prices, dtype=float), np.where(np.isin(each, group), 0, -1), np.array([10.0]), 1.0)


def test_useless_units_come_last_and_the_cheapest_of_them_first():
    view = SimpleNamespace(units=units_of([1.0, 100.0, 1.0, 3.0]))
    assert importance_order(view, np.array([-0.01, -0.01, 0.02, 0.0])).tolist() == [2, 3, 0, 1]


def test_a_static_order_skips_what_a_row_cannot_pay():
    view = SimpleNamespace(units=units_of([6.0, 1.0, 1.0]))
    policy = OrderPolicy(view=view, predictor=None, classes=0, order=np.array([0, 2, 1]), limit=5.0)
    known = np.array([[False, False, False], [False, False, True], [False, True, True]])
    assert policy.choose(np.zeros((3, 1), dtype=np.float32), known).tolist() == [2, 1, -1]


def test_a_group_is_paid_once_in_the_order_of_selectors():
    units = units_of([0.1, 0.1, 5.0, 5.0], group=(0, 1))
    dear = np.log(np.array([10.1, 10.1, 5.0, 5.0]))
    assert selected_order(np.stack([dear + np.array([2, 1, 0, 0])] * 2), units).tolist() == [0, 1, 2, 3]
    assert selected_order((dear + np.array([0, 0, 1, 0]))[None], units).tolist()[0] == 2


def test_operating_points_rise_and_stay_in_range():
    problem = make_problem("multiclass")
    units = view_of(problem).units
    for grid in (budgets(units, 6), penalties(problem, units, 6), penalties(problem, units, 6, "error")):
        assert grid == sorted(set(grid))
        assert grid[0] > 0
    assert all(1 / 3 < tau < 1 for tau in confidences(3, 6))
