"""Sets by elimination fit and use their budgets; the method finds the informative features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_baselines.affordable.method import AffordableSubset
from bench_baselines.affordable.search import affordable_in_order, eliminate
from bench_baselines.affordable.stacking import select_ensemble
from bench_baselines.forward_selection.prices import MeanPrices
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part
from bench_core.testing import make_problem


@given(st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_every_set_fits_its_budget_and_no_further_useful_feature_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.integers(-1, 2, 7)
    prices = MeanPrices(rng.integers(0, 4, 7).astype(float), group, rng.integers(0, 4, 2).astype(float))
    worth = rng.integers(0, 5, 7).astype(float)

    def gains(features: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        units = {(f,): float(worth[f]) for f in features}
        for g in (0, 1):
            members = tuple(f for f in features if group[f] == g)
            if len(members) > 1:
                units[members] = float(worth[list(members)].sum())
        return units

    budgets = sorted(rng.uniform(0, prices.full, 3).tolist())
    found = dict(eliminate(gains, prices, budgets))
    assert sorted(found) == budgets
    for budget, features in found.items():
        assert prices.of_set(features) <= budget + 1e-9
        left_out = [f for f in range(7) if f not in features and worth[f] > 0]
        assert all(prices.of_set((*features, f)) > budget for f in left_out)
        taken = affordable_in_order(rng.permutation(7).tolist(), prices, budget)
        assert prices.of_set(taken) <= budget + 1e-9


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_an_ensemble_is_no_worse_than_its_best_member_and_has_the_reported_weights(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=20)
    answers = [y + rng.normal(size=20) * rng.uniform(0, 2) for _ in range(count)]

    def loss(answer: np.ndarray) -> float:
        return float(((answer - y) ** 2).mean())

    found, weights = select_ensemble(answers, loss)
    assert found <= min(loss(answer) for answer in answers)
    assert sum(weights.values()) == pytest.approx(1)
    assert found == pytest.approx(loss(sum(weight * answers[i] for i, weight in weights.items())))


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_the_union_of_a_stacks_sets_fits_the_budget(task: str) -> None:
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
    assert {"a", "b", "c", "d"} <= set(largest.details["names"])
    read = {name for model in largest.details["models"] for name in model["features"]}
    assert read == set(largest.details["names"])


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
