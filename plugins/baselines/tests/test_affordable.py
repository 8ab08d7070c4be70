"""Sets by elimination fit and use their budgets; the method finds the informative features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_baselines.affordable.method import AffordableSubset
from bench_baselines.affordable.models import Models
from bench_baselines.affordable.search import fill
from bench_baselines.forward_selection.search import select
from bench_models.prices import MeanPrices
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part
from bench_core.testing import make_problem


@given(st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_a_filled_set_fits_its_budget_and_no_further_useful_feature_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prices = MeanPrices(
        rng.integers(0, 4, 7).astype(float), rng.integers(-1, 2, 7), rng.integers(0, 4, 2).astype(float)
    )
    gains = dict(enumerate(rng.integers(0, 5, 7).astype(float).tolist()))
    budget = rng.uniform(0, prices.full)
    start = tuple(np.flatnonzero(rng.random(7) < 0.3).tolist())
    if prices.of_set(start) > budget:
        start = ()
    found = fill(start, gains, prices, budget)
    assert set(start) <= set(found)
    assert prices.of_set(found) <= budget + 1e-9
    left_out = [f for f in range(7) if f not in found and gains[f] > 0]
    assert all(prices.of_set((*found, f)) > budget for f in left_out)


def test_of_features_with_equal_gains_the_cheaper_is_bought_and_a_groups_price_is_shared() -> None:
    prices = MeanPrices(np.array([3.0, 1.0, 1.0, 1.0]), np.array([-1, -1, 0, 0]), np.array([2.0]))
    assert fill((), {0: 1.0, 1: 1.0}, prices, 3.0) == (1,)
    assert fill((2,), {0: 3.0, 3: 1.5}, prices, 4.0) == (2, 3)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_set_fits_its_budget_and_nothing_else_is_read(task: str) -> None:
    rng = np.random.default_rng(1)

    def part(rows: int) -> Part:
        X = rng.normal(size=(rows, 6))
        linear, steps = X[:, 0] + X[:, 1], 1.5 * np.sign(X[:, 2] * X[:, 3])
        value = linear + steps + 0.3 * rng.normal(size=rows)
        return Part(X, value if task == "regression" else (value > 0).astype(np.int64))

    problem = replace(
        make_problem(task), train=part(400), validation=part(150), feature_of_column=np.arange(6), categorical=(),
        feature_names=tuple("abcdef"), costs=Costs(np.ones(6), np.array([0, 0, 1, 1, -1, -1]), np.array([1.0, 1.0])),
    )  # fmt: skip
    budgets = (3 / 8, 6 / 8)
    policies = AffordableSubset(budgets=budgets).fit(problem).policies
    for policy in policies:
        rows = problem.validation.rows()
        decided = policy.decide(rows)
        bought = np.flatnonzero(np.asarray(decided.acquired)[0])
        assert (np.asarray(decided.acquired) == np.isin(np.arange(6), bought)).all()
        assert problem.costs.bill(np.asarray(decided.acquired)).max() <= policy.details["budget"] * 8 + 1e-9
        # It reads only features that it buys.
        other = np.where(np.isin(np.arange(6), bought), rows.X, 99.0)
        again = policy.decide(rows.having(other))
        answer = "probabilities" if task == "binary" else "score"
        assert (getattr(again, answer) == getattr(decided, answer)).all()
    largest = max(policies, key=lambda policy: policy.details["price"])
    assert {"c", "d"} < set(largest.details["names"])
    assert largest.details["price"] == 6.0


def test_sets_are_compared_on_rows_that_they_were_not_searched_on() -> None:
    """Of many features without information, a search finds some that help on its own rows, and on no others."""
    rng = np.random.default_rng(3)
    parts = [Part(rng.normal(size=(rows, 30)), rng.integers(0, 2, rows)) for rows in (200, 60)]
    problem = replace(
        make_problem("binary"), train=parts[0], validation=parts[1], feature_of_column=np.arange(30), categorical=(),
        feature_names=tuple(map(str, range(30))), costs=Costs(np.ones(30)),
    )  # fmt: skip
    models = Models(AffordableSubset(), problem)
    assert 0.4 < models.searched.mean() < 0.6
    assert abs(models.y[models.searched].mean() - models.y[~models.searched].mean()) < 0.05
    prices = MeanPrices.of(problem)
    assert (models.searched != models.judging).all()
    found = select(lambda features: models.loss_of(features, "logistic"), prices, 6.0)
    elsewhere = models.losses(models.shown(found, "logistic"), models.judging).mean()
    assert models.loss_of(found, "logistic") < elsewhere
    (policy,) = AffordableSubset(model="logistic", budgets=(0.2,)).fit(problem).policies
    assert policy.details["loss"] > 0.48  # 0.5 for a fair coin


def test_losses_are_squared_errors_of_values_and_of_all_probabilities() -> None:
    models = Models(AffordableSubset(), make_problem("multiclass"))
    some = np.arange(len(models.y)) < 2
    table = np.zeros((len(models.y), 3))
    table[:2] = [[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]
    models.y = np.where(some, 2, models.y)
    assert models.losses(table, some) == pytest.approx([0.25 + 0.25 + 1, 0.04 + 0.09 + 0.25])
    models.y = np.where(some, 1.5, 0.0)
    assert models.losses(np.full(len(models.y), 1.0), some) == pytest.approx([0.25, 0.25])


@pytest.mark.parametrize("model", ["lightgbm", "logistic", "stack"])
def test_the_features_that_matter_are_bought_with_their_groups_price_paid_once(model: str) -> None:
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(2):
        X = rng.normal(size=(300, 5))
        parts.append(Part(X, (X[:, 3] + X[:, 4] > 0).astype(np.int64)))
    problem = make_problem("binary")
    problem = replace(
        problem, train=parts[0], validation=parts[1], feature_of_column=np.arange(5), categorical=(),
        feature_names=tuple("abcde"), costs=Costs(np.ones(5), np.array([-1, -1, -1, 0, 0]), np.array([2.0])),
    )  # fmt: skip
    method = AffordableSubset(model=model, budgets=(4 / 7,))  # type: ignore[arg-type]
    (policy,) = method.fit(problem).policies
    assert policy.details["names"] == ["d", "e"]
    assert policy.details["price"] == 4.0
    joined = replace(problem, train=Part(*(np.concatenate([getattr(p, n) for p in parts]) for n in ("X", "y"))))
    again = method.refitted(policy, joined)
    assert (again.decide(parts[1].rows()).acquired == policy.decide(parts[1].rows()).acquired).all()
    table = again.decide(parts[1].rows()).probabilities
    assert table is not None
    assert (table.argmax(axis=1) == parts[1].y).mean() > 0.9


@pytest.mark.parametrize("model", ["lightgbm", "stack"])
def test_trees_on_two_features_learn_their_interaction(model: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = ((X[:, 0] > 0) != (X[:, 1] > 0)).astype(np.int64)
    problem = replace(
        make_problem("binary"), train=Part(X[:1000], y[:1000]), validation=Part(X[1000:], y[1000:]),
        costs=Costs(np.ones(2)), feature_names=("a", "b"), feature_of_column=np.arange(2),
    )  # fmt: skip
    policy = AffordableSubset(model=model, budgets=(1.0,)).fit(problem).policies[0]
    answers = policy.decide(problem.validation.rows()).probabilities.argmax(axis=1)
    assert (answers == problem.validation.y).mean() > 0.95
