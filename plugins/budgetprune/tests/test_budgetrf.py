"""Stopping at an impurity threshold, compared with growing a forest with that threshold."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from bench_budgetprune.budgetrf import BudgetRF, node_impurity, stopped
from bench_models.forest import from_sklearn
from bench_models.forest.grower import Growth, grow
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from bench_core import Costs, RequestError
from bench_core.testing import make_case

X, Y = load_wine(return_X_y=True)


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.6, 1.0])
def test_a_node_is_split_when_it_and_all_above_are_too_impure(threshold):
    forest = from_sklearn(RandomForestClassifier(5, criterion="entropy", random_state=0).fit(X, Y))
    impurity = node_impurity(forest, "entropy")
    opened = stopped(forest, impurity, threshold)
    for h in range(forest.nodes):
        above, h_or_above = forest.parent[h], [h]
        while above >= 0:
            h_or_above.append(above)
            above = forest.parent[above]
        assert opened[h] == (forest.inner[h] and (impurity[h_or_above] > threshold).all())


def test_impurities_follow_their_definitions():
    model = RandomForestClassifier(3, criterion="entropy", random_state=0).fit(X, Y)
    forest = from_sklearn(model)
    own = np.concatenate([tree.tree_.impurity for tree in model.estimators_])
    assert node_impurity(forest, "entropy") == pytest.approx(own / np.log2(3), abs=1e-12)
    alone = grow(X, Y, 3, np.arange(13), Growth(1, "pairs", bootstrap=False))
    counts = np.bincount(Y)
    by_hand = sum(counts[a] * counts[b] for a in range(3) for b in range(3) if a != b)
    pairs = node_impurity(alone, "pairs") * by_hand
    for h in range(alone.nodes):
        c = alone.counts[h]
        assert pairs[h] == pytest.approx(sum(c[a] * c[b] for a in range(3) for b in range(3) if a != b))


@pytest.mark.parametrize("criterion", ["entropy", "pairs"])
def test_higher_thresholds_cost_less(criterion):
    case = make_case("multiclass")
    family = BudgetRF(n_estimators=10, criterion=criterion, count=5).fit(case.problem)
    bills = [case.problem.costs.bill(p.decide(case.rows).acquired).mean() for p in family.policies]
    assert bills == sorted(bills, reverse=True)
    assert bills[0] > bills[-1]
    errors = [policy.details["training_error"] for policy in family.policies]
    assert errors == sorted(errors)


@pytest.mark.parametrize("measure", ["entropy", "gini", "pairs"])
def test_every_threshold_leaves_one_leaf_on_every_path(measure):
    forest = from_sklearn(RandomForestClassifier(8, random_state=3).fit(X, Y))
    impurity = node_impurity(forest, measure)
    assert ((impurity >= 0) & (impurity <= 1 + 1e-12)).all()
    for threshold in (0.0, 1e-3, 0.1, 0.5, 0.9, 1.0):
        assert forest.valid(stopped(forest, impurity, threshold))


def test_threshold_zero_gives_scikit_learns_forest():
    case = make_case("multiclass")
    policy = BudgetRF(n_estimators=7, thresholds=[0.0], grower="scikit-learn").fit(case.problem).policies[0]
    seed = int(case.problem.rng("forest").integers(2**31 - 1))
    model = RandomForestClassifier(7, criterion="entropy", max_features=None, random_state=seed)
    model.fit(case.problem.train.X, case.problem.train.y)
    decided = policy.decide(case.rows).probabilities
    assert np.abs(decided - model.predict_proba(case.rows.X)).max() < 1e-12


@pytest.mark.parametrize("criterion", ["entropy", "gini", "pairs"])
def test_trees_of_a_single_node_are_left_as_they_are(criterion):
    case = make_case("binary")
    y = np.ones_like(case.problem.train.y)
    one_class = replace(case.problem, train=replace(case.problem.train, y=y))
    for policy in BudgetRF(n_estimators=3, criterion=criterion, count=3).fit(one_class).policies:
        decided = policy.decide(case.rows)
        assert not decided.acquired.any()
        assert (decided.probabilities[:, 1] == 1).all()


def test_regression_is_refused():
    with pytest.raises(RequestError, match="regression"):
        BudgetRF(n_estimators=2).fit(make_case("regression").problem)


def test_cost_weighted_splits_prefer_cheap_features():
    case = make_case("multiclass")
    bills = []
    for weighted in (False, True):
        policy = BudgetRF(n_estimators=20, cost_weighted=weighted, thresholds=[0.3]).fit(case.problem).policies[0]
        bills.append(case.problem.costs.bill(policy.decide(case.rows).acquired).mean())
    assert bills[1] < bills[0]


def test_a_family_of_two_forests_has_the_cheap_policies_of_one_and_the_accurate_ones_of_the_other():
    case = make_case("multiclass")
    rows = case.problem.validation.rows()

    def costs(problem, **options):
        family = BudgetRF(n_estimators=10, spacing="cost", **options).fit(problem)
        return [float(problem.costs.bill(policy.decide(rows).acquired).mean()) for policy in family.policies]

    both = costs(case.problem, count=8, cost_weighted=True, also_unweighted=True)
    assert both == costs(case.problem, count=4, cost_weighted=True) + costs(case.problem, count=4)
    equal = replace(case.problem, costs=Costs(np.ones(case.problem.n_features)))
    assert costs(equal, count=8, cost_weighted=True, also_unweighted=True) == costs(equal, count=8)


def test_a_second_forest_needs_cost_weighted_splits():
    with pytest.raises(ValueError, match="also_unweighted adds a second forest"):
        BudgetRF(also_unweighted=True)


@pytest.mark.parametrize("bad", [{"thresholds": [1.5]}, {"thresholds": [float("nan")]}, {"least": 0.0}, {"count": 0}])
def test_parameters_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=rf"^BudgetRF: {next(iter(bad))}.* must be"):
        BudgetRF(**bad)


def test_policies_at_even_steps_of_cost_go_from_the_forest_to_the_empty_policy() -> None:
    problem = make_case("multiclass").problem

    def bills(spacing: str) -> list[float]:
        family = BudgetRF(n_estimators=10, count=6, spacing=spacing).fit(problem)
        rows = problem.validation.rows()
        return [float(problem.costs.bill(policy.decide(rows).acquired).mean()) for policy in family.policies]

    even, plain = bills("cost"), bills("threshold")
    assert even[0] == plain[0]
    assert even == sorted(even, reverse=True)
    assert even[-1] == 0
    assert max(a - b for a, b in pairwise(even)) <= max(a - b for a, b in pairwise([*plain, 0.0]))
    assert min(a - b for a, b in pairwise(even)) > 5 * min(a - b for a, b in pairwise(plain))
