"""Greedy removal, compared with recomputing every candidate in plain Python."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from bench_budgetprune._greedy_kernels import removal
from bench_budgetprune.greedy_steps import greedy_steps
from bench_budgetprune.greedyprune import GreedyPrune
from bench_models.forest import from_sklearn, price_units
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from bench_core import Costs, RequestError, build
from bench_core.testing import make_case, make_problem

X, Y = load_wine(return_X_y=True)
GROUPS = np.array([0, 0, 0, 1, 1, -1, -1, -1, 2, 2, 2, 2, -1])
PRICED = Costs(np.arange(13.0), GROUPS, np.array([5.0, 0.0, 2.0]))


def bill(forest, opened, costs, rows):
    acquired = np.zeros((len(rows), 13), dtype=bool)
    for i, x in enumerate(rows):
        for root in forest.offsets[:-1]:
            h = root
            while opened[h]:
                acquired[i, forest.feature[h]] = True
                h = forest.left[h] if np.float32(x[forest.column[h]]) <= forest.threshold[h] else forest.right[h]
    return costs.bill(acquired).mean()


@pytest.mark.parametrize("costs", [Costs(np.ones(13)), PRICED], ids=["unit", "groups"])
@pytest.mark.parametrize("grouped", [False, True])
def test_each_step_is_the_best_of_all_removals(costs, grouped):
    forest = from_sklearn(RandomForestClassifier(5, max_depth=4, random_state=0).fit(X[::2], Y[::2]))
    rows = X[1::4]
    part = np.arange(13)
    if grouped:
        part = np.unique(np.where(GROUPS >= 0, 13 + GROUPS, part), return_inverse=True)[1]
    steps = greedy_steps(forest, forest.route(rows), price_units(costs), part)
    of_node = np.where(forest.inner, part[forest.feature], -1)
    for before, after in pairwise(steps):
        assert before.cost == pytest.approx(bill(forest, before.opened, costs, rows))
        ratios = {}
        for target in np.unique(of_node[before.opened]):
            opened = removal(forest.left, forest.parent, of_node, before.opened, target)
            loss = forest.error[forest.leaves(opened)].sum() - before.error
            saved = before.cost - bill(forest, opened, costs, rows)
            ratios[int(target)] = 0.0 if loss < 1e-12 else loss / saved if saved > 1e-12 else np.inf
        assert ratios[after.removed] == pytest.approx(min(ratios.values()))
        assert not (of_node[after.opened] == after.removed).any()
        assert forest.valid(after.opened)
    assert not steps[-1].opened.any()


def test_the_family_goes_from_the_forest_to_the_empty_policy():
    case = make_case("binary")
    policies = GreedyPrune(n_estimators=5, count=0).fit(case.problem).policies
    bills = [case.problem.costs.bill(p.decide(case.rows).acquired).mean() for p in policies]
    assert bills == sorted(bills, reverse=True)
    assert bills[0] > bills[-1] == 0
    assert len(policies) <= 7
    assert len(GreedyPrune(n_estimators=5, count=3).fit(case.problem).policies) <= 3


def test_the_unpruned_forest_is_scikit_learns_and_removals_raise_training_errors():
    case = make_case("multiclass")
    family = GreedyPrune(n_estimators=7, count=0, grower="scikit-learn").fit(case.problem)
    seed = int(case.problem.rng("forest").integers(2**31 - 1))
    model = RandomForestClassifier(7, criterion="entropy", max_features=None, random_state=seed)
    model.fit(case.problem.train.X, case.problem.train.y)
    decided = family.policies[0].decide(case.rows).probabilities
    assert np.abs(decided - model.predict_proba(case.rows.X)).max() < 1e-12
    errors = [policy.details["training_error"] for policy in family.policies]
    assert errors == pytest.approx(family.history["training_error"])
    assert (np.diff(errors) >= -1e-12).all()


def test_a_group_is_removed_at_once_unless_remove_is_feature():
    problem = make_problem("binary", "groups")
    groups = problem.costs.groups
    by_group, by_feature = (
        GreedyPrune(n_estimators=5, count=0, remove=what, grower="scikit-learn").fit(problem).diagnostics["steps"]
        for what in ("group", "feature")
    )
    assert by_group <= len(np.unique(groups[groups >= 0])) + (groups < 0).sum() < by_feature


def test_trees_of_a_single_node_have_nothing_to_remove():
    case = make_case("binary")
    y = np.ones_like(case.problem.train.y)
    one_class = replace(case.problem, train=replace(case.problem.train, y=y))
    policies = GreedyPrune(n_estimators=3).fit(one_class).policies
    assert len(policies) == 1
    decided = policies[0].decide(case.rows)
    assert not decided.acquired.any()
    assert (decided.probabilities[:, 1] == 1).all()


def test_regression_is_refused():
    with pytest.raises(RequestError, match="regression"):
        GreedyPrune(n_estimators=2).fit(make_problem("regression"))


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ValueError, match="count"):
        GreedyPrune(count=-1)
    with pytest.raises(RequestError, match="remove"):
        build(GreedyPrune, {"remove": "tree"}, "suite")
