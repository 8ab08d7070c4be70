"""The solver against HiGHS on the LP relaxation, against a minimum cut, and against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from bench_budgetprune.instance import build
from bench_budgetprune.path import lambda_grid, solve_path
from bench_budgetprune.solve import Solver
from bench_forest import from_sklearn, price_units
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core.costs import Costs

SEEDS = st.integers(0, 2**32)
LAMBDAS = st.sampled_from([0.0, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0])


@settings(max_examples=60, deadline=None)
@given(SEEDS, LAMBDAS)
def test_pruning_is_the_optimum_of_the_relaxation_which_is_integral(made, relaxation, seed, lam):
    forest, instance = made(seed)
    optimum, z = relaxation(instance, lam)
    found = Solver(instance).solve(lam, gap=1e-8)
    assert found.objective == pytest.approx(optimum, rel=1e-6, abs=1e-9)
    assert instance.objective(found.opened, lam) == pytest.approx(found.objective, abs=1e-12)
    assert np.abs(z - np.round(z)).max() < 1e-7
    assert forest.valid(found.opened)


@settings(max_examples=60, deadline=None)
@given(SEEDS, LAMBDAS)
def test_pruning_is_a_minimum_cut(made, min_cut, seed, lam):
    _, instance = made(seed)
    found = Solver(instance).solve(lam, gap=1e-8)
    assert found.objective == pytest.approx(min_cut(instance, lam), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(SEEDS, LAMBDAS)
def test_bound_and_objective_enclose_the_optimum_at_every_iteration(made, relaxation, seed, lam):
    _, instance = made(seed)
    optimum, _ = relaxation(instance, lam)
    found = Solver(instance).solve(lam, gap=1e-3)
    assert max(found.bounds) <= optimum + 1e-9
    assert min(found.objectives) >= optimum - 1e-9
    assert all(a <= b for a, b in pairwise(found.bounds))
    assert all(a >= b for a, b in pairwise(found.objectives))
    assert found.gap <= 1e-3


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_cost_never_rises_and_training_error_never_falls_along_the_path(made, seed):
    forest, instance = made(seed)
    path = solve_path(instance, forest.inner, [0.0, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 1e6], 0.05, 20)
    costs = [instance.cost(one.opened) for one in path]
    errors = [instance.leaf_error(one.opened) for one in path]
    assert all(b <= a + 1e-12 for a, b in pairwise(costs))
    assert all(b >= a - 1e-12 for a, b in pairwise(errors))
    assert path[0].objective == pytest.approx(instance.leaf_error(forest.inner))
    assert costs[-1] == 0


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_pruning_has_one_leaf_on_each_way_from_root_to_leaf(made, seed):
    forest, instance = made(seed)
    z = forest.leaves(Solver(instance).solve(0.02).opened)
    for h in np.flatnonzero(~forest.inner):
        on_way = 0
        while h >= 0:
            on_way += z[h]
            h = forest.parent[h]
        assert on_way == 1


def test_threads_do_not_change_the_answer(made):
    _, instance = made(7)
    one, two = Solver(instance, 1).solve(0.02, 1e-8), Solver(instance, 2).solve(0.02, 1e-8)
    assert one.bounds == two.bounds
    assert (one.opened == two.opened).all()


@pytest.mark.parametrize("lam", [-1.0, float("nan"), float("inf")])
def test_a_lambda_that_is_no_price_is_refused(made, lam):
    with pytest.raises(ValueError, match="lambda"):
        Solver(made(0)[1]).solve(lam)


def real(costs: Costs, rows: int = 60, trees: int = 4):
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(trees, criterion="entropy", max_depth=5, random_state=0).fit(
        X[:300], y[:300]
    )
    forest = from_sklearn(model)
    return forest, X[300 : 300 + rows], build(forest, forest.route(X[300 : 300 + rows]), price_units(costs))


@pytest.mark.parametrize("costs", [Costs(np.ones(30)), Costs(np.arange(30.0))], ids=["unit", "rising"])
def test_a_real_forest_is_pruned_to_the_optimum(costs, relaxation, min_cut):
    forest, _, instance = real(costs)
    for lam in lambda_grid(instance, forest.inner, 4, 0.1, 1.5):
        found = Solver(instance).solve(lam, gap=1e-8)
        optimum, z = relaxation(instance, lam)
        assert found.objective == pytest.approx(optimum, rel=1e-6)
        assert found.objective == pytest.approx(min_cut(instance, lam), abs=1e-5)
        assert np.abs(z - np.round(z)).max() < 1e-7


def test_cost_is_the_mean_price_of_distinct_features_on_the_rows_ways():
    groups = np.arange(30) // 10 - 1
    costs = Costs(np.arange(30.0), groups, np.array([5.0, 7.0]))
    forest, X, instance = real(costs)
    opened = Solver(instance).solve(1e-4).opened
    bills = []
    for x in X:
        met = set()
        for root in forest.offsets[:-1]:
            h = root
            while opened[h]:
                met.add(int(forest.feature[h]))
                h = (
                    forest.left[h]
                    if np.float32(x[forest.column[h]]) <= forest.threshold[h]
                    else forest.right[h]
                )
        bills.append(costs.cost_of(sorted(met)))
    assert instance.cost(opened) == pytest.approx(np.mean(bills))
    assert 0 < instance.cost(opened) < instance.cost(forest.inner)
