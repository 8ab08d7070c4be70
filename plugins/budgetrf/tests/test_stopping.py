"""Stopping at an impurity threshold, against growing with that threshold."""

from __future__ import annotations

import numpy as np
import pytest
from bench_budgetrf.method import BudgetRF, node_impurity, stopped
from bench_forest import from_sklearn
from bench_forest.grower import grow
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

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


def test_impurities_are_those_of_the_definitions():
    model = RandomForestClassifier(3, criterion="entropy", random_state=0).fit(X, Y)
    forest = from_sklearn(model)
    own = np.concatenate([tree.tree_.impurity for tree in model.estimators_])
    assert node_impurity(forest, "entropy") == pytest.approx(own / np.log2(3), abs=1e-12)
    alone = grow(X, Y, 3, np.arange(13), 1, "pairs", bootstrap=False)
    counts = np.bincount(Y)
    by_hand = sum(counts[a] * counts[b] for a in range(3) for b in range(3) if a != b)
    pairs = node_impurity(alone, "pairs") * by_hand
    for h in range(alone.nodes):
        c = alone.counts[h]
        assert pairs[h] == pytest.approx(sum(c[a] * c[b] for a in range(3) for b in range(3) if a != b))


@pytest.mark.parametrize("criterion", ["entropy", "pairs"])
def test_higher_thresholds_cost_less(criterion):
    case = make_case("multiclass")
    family = BudgetRF(trees=10, criterion=criterion, count=5).fit(case.problem)
    bills = [case.problem.costs.bill(p.decide(case.rows).acquired).mean() for p in family.policies]
    assert bills == sorted(bills, reverse=True)
    assert bills[0] > bills[-1]


def test_cost_weighted_splits_prefer_cheap_features():
    case = make_case("multiclass")
    bills = []
    for weighted in (False, True):
        policy = BudgetRF(trees=20, cost_weighted=weighted, thresholds=[0.3]).fit(case.problem).policies[0]
        bills.append(case.problem.costs.bill(policy.decide(case.rows).acquired).mean())
    assert bills[1] < bills[0]


@pytest.mark.parametrize("bad", [{"thresholds": [1.5]}, {"thresholds": [float("nan")]}, {"least": 0.0}])
def test_parameters_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=r"threshold|grid"):
        BudgetRF(**bad)
