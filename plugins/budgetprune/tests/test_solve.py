"""The solver, compared with HiGHS on the LP relaxation, a minimum cut, and plain Python."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise, product
from math import prod

import numpy as np
import pytest
from bench_budgetprune import ascent, flow, search
from bench_budgetprune.instance import Instance, build
from bench_budgetprune.path import lambda_grid, solve_path
from bench_budgetprune.pruning import Between
from bench_budgetprune.solve import Solver
from bench_budgetprune.spread import spread_path
from bench_models.forest import from_sklearn, price_units
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from bench_core import Costs

SEEDS = st.integers(0, 2**32)
LAMBDAS = st.sampled_from([0.0, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0])
KINDS = st.sampled_from(["flow", "subgradient"])


@settings(max_examples=25, deadline=None)
@given(SEEDS, LAMBDAS, KINDS)
def test_pruning_is_the_optimum_of_the_relaxation_which_is_integral(made, relaxation, seed, lambda_, kind):
    forest, instance = made(seed)
    optimum, z = relaxation(instance, lambda_)
    found = Solver(instance, kind=kind).solve(lambda_, gap=1e-8)
    assert found.objective == pytest.approx(optimum, rel=1e-6, abs=1e-9)
    assert instance.objective(found.opened, lambda_) == pytest.approx(found.objective, abs=1e-12)
    assert np.abs(z - np.round(z)).max() < 1e-7
    assert forest.valid(found.opened)


@settings(max_examples=25, deadline=None)
@given(SEEDS, LAMBDAS, KINDS)
def test_pruning_is_a_minimum_cut(made, min_cut, seed, lambda_, kind):
    _, instance = made(seed)
    found = Solver(instance, kind=kind).solve(lambda_, gap=1e-8)
    assert found.objective == pytest.approx(min_cut(instance, lambda_), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(SEEDS, LAMBDAS, KINDS, st.sampled_from([1e-1, 1e-3, 1e-9]))
def test_bound_and_objective_enclose_the_optimum_at_every_iteration(made, relaxation, seed, lambda_, kind, asked):
    _, instance = made(seed)
    optimum, _ = relaxation(instance, lambda_)
    found = Solver(instance, kind=kind).solve(lambda_, gap=asked, max_iter=3000)
    assert max(found.bounds) <= optimum + 1e-9
    assert min(found.objectives) >= optimum - 1e-9
    assert all(a <= b for a, b in pairwise(found.bounds))
    assert all(a >= b for a, b in pairwise(found.objectives))
    assert found.gap <= asked


@settings(max_examples=25, deadline=None)
@given(SEEDS, LAMBDAS)
def test_the_preflow_without_ascent_finds_the_optimum(made, relaxation, seed, lambda_):
    _, instance = made(seed)
    optimum, _ = relaxation(instance, lambda_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ascent, "STEPS", 0)
        patch.setattr(flow, "WORK", 0)
        found = Solver(instance).solve(lambda_, gap=1e-9)
    assert max(found.bounds) <= optimum + 1e-9
    assert found.gap <= 1e-9
    assert found.objective == pytest.approx(optimum, rel=1e-6, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(SEEDS, LAMBDAS, st.integers(1, 8))
def test_a_cut_is_the_best_pruning_above_a_threshold_of_the_levels(made, seed, lambda_, levels):
    _, instance = made(seed)
    level = np.random.default_rng(seed).integers(0, levels + 1, instance.nodes).astype(np.int32)
    values = []
    for theta in range(1, levels + 1):
        opened = (level >= theta) & (instance.left >= 0)
        for h in range(instance.nodes):  # parents come first
            opened[h] &= instance.parent[h] < 0 or opened[instance.parent[h]]
        values.append(instance.objective(opened, lambda_))
    cut = flow.best_cut(instance, lambda_ * instance.price, flow.supplies(instance, lambda_), level, levels)
    assert instance.objective(cut, lambda_) == pytest.approx(min(values), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(SEEDS, KINDS, st.lists(LAMBDAS, min_size=1, max_size=7, unique=True), st.sampled_from([1e-2, 1e-6]))
@example(299933934, "subgradient", [0.0, 0.001, 0.01, 0.03, 0.1, 0.3], 1e-2)  # a λ starts from some previous duals
def test_bounds_hold_along_the_path_and_gaps_are_as_requested(made, relaxation, seed, kind, lambdas, asked):
    forest, instance = made(seed)
    for one in solve_path(instance, forest.inner, lambdas, asked, 3000, kind=kind):
        optimum, _ = relaxation(instance, one.lambda_)
        assert one.bound <= optimum + 1e-9
        assert optimum - 1e-9 <= one.objective == pytest.approx(instance.objective(one.opened, one.lambda_))
        assert one.gap <= asked


@settings(max_examples=20, deadline=None)
@given(SEEDS, LAMBDAS, LAMBDAS, st.floats(0.0, 0.3))
def test_between_two_prunings_the_loss_is_at_most_their_own(made, relaxation, seed, one, two, asked):
    _, instance = made(seed)
    low, high = sorted((one, two))
    solved = [Solver(instance).solve(lambda_, gap=asked, max_iter=1) for lambda_ in (low, high)]
    loss = sum(max(found.objective - found.bound, 0.0) for found in solved)
    core, within = solved[1].opened, solved[0].opened | solved[1].opened
    middle = (low + high) / 2
    found = Solver(instance).solve(middle, gap=1e-9, between=Between(core, within, loss))
    optimum, _ = relaxation(instance, middle)
    assert max(found.bounds) <= optimum + 1e-9
    assert optimum - 1e-9 <= found.objective <= optimum + loss + 1e-9
    assert (found.opened <= within).all()
    assert (core <= found.opened).all()


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(SEEDS, KINDS, st.sampled_from([1e-7, 1e-2]))
@example(905, "flow", 1e-7)  # a pruning as good as the forest at λ = 0, found at the λ of another tie
@example(905, "subgradient", 1e-7)
@example(49, "flow", 1e-7)  # better than HiGHS at λ = 1e-8, within its tolerance
def test_a_complete_spread_family_has_an_optimum_for_every_lambda(made, relaxation, seed, kind, gap):
    forest, instance = made(seed)
    path = spread_path(instance, forest.inner, 200, gap, 3000, kind=kind)
    costs = np.array([instance.cost(one.opened) for one in path])
    errors = np.array([instance.leaf_error(one.opened) for one in path])
    assert path[0].lambda_ == 0
    assert all(a < b for a, b in pairwise(one.lambda_ for one in path))
    assert len(path) < 200
    assert costs[-1] == 0
    for lambda_ in (1e-8, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0):
        optimum, _ = relaxation(instance, lambda_)
        best = (errors + lambda_ * costs).min()
        # HiGHS stops if no step gains more than its tolerance of 1e-7: our result may be better.
        assert optimum * (1 - 1e-6) - 1e-7 <= best <= optimum * (1 + 1e-6) / (1 - gap) ** 2 + 1e-9
    for one in path:
        optimum, _ = relaxation(instance, one.lambda_)
        assert one.bound <= optimum + 1e-9
        assert one.objective == pytest.approx(instance.objective(one.opened, one.lambda_))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 9))
def test_a_spread_family_has_at_most_count_distinct_prunings(made, seed, count):
    forest, instance = made(seed)
    path = spread_path(instance, forest.inner, count, 1e-6, 3000)
    costs = [instance.cost(one.opened) for one in path]
    errors = [instance.leaf_error(one.opened) for one in path]
    assert 1 <= len(path) <= count + 2
    assert costs[-1] == 0
    if costs[0] > 0 and errors[0] < instance.leaf_error(np.zeros(instance.nodes, dtype=bool)):
        assert all(b < a for a, b in pairwise(costs))
        assert all(b >= a - 1e-12 for a, b in pairwise(errors))


@settings(max_examples=20, deadline=None)
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


def prunings(instance: Instance, h: int, most: int = 3000) -> list[list[int]]:
    """The open nodes of every pruning of the tree below a node; `most` of them."""
    if instance.left[h] < 0:
        return [[]]
    below = product(*(prunings(instance, int(child), most) for child in (instance.left[h], instance.right[h])))
    return [[], *([h, *left, *right] for left, right in islice(below, most))]


@settings(max_examples=25, deadline=None)
@given(SEEDS, LAMBDAS, st.sampled_from([1e-1, 1e-4]))
@example(3, 0.03, 1e-4)  # half of the slack would wrongly close a node,
@example(19, 0.03, 0.1)  # and open one
def test_a_decided_node_has_its_state_in_every_pruning_better_by_half_the_gap(made, seed, lambda_, gap):
    _, instance = made(seed)
    every = [prunings(instance, int(root)) for root in instance.roots]
    assume(prod(len(tree) for tree in every) <= 2000)
    lengths = np.diff(instance.pair_start)
    shares = np.repeat(instance.price / lengths, lengths)
    toll = lambda_ * (np.bincount(instance.entry_node, shares, instance.nodes) + instance.toll)
    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "WORTHWHILE", 1.0)
        one = search.Search(search.Duals(instance), lambda_, gap, pool, None)
        one.begin([])
        fixed = one.settle(one.prune(toll), toll)
    for chosen in product(*every):
        opened = np.zeros(instance.nodes, dtype=bool)
        opened[[h for tree in chosen for h in tree]] = True
        if instance.objective(opened, lambda_) < one.objective * (1 - gap / 2) - 1e-12:
            assert opened[fixed > 0].all()
            assert not opened[fixed < 0].any()


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_pruning_has_one_leaf_on_each_path_from_root_to_leaf(made, seed):
    forest, instance = made(seed)
    z = forest.leaves(Solver(instance).solve(0.02).opened)
    for h in np.flatnonzero(~forest.inner):
        on_way = 0
        while h >= 0:
            on_way += z[h]
            h = forest.parent[h]
        assert on_way == 1


@pytest.mark.parametrize("kind", ["flow", "subgradient"])
def test_threads_do_not_change_the_answer(made, kind):
    _, instance = made(7)
    one, two = (Solver(instance, threads, kind).solve(0.02, 1e-8) for threads in (1, 2))
    assert one.bounds == two.bounds
    assert (one.opened == two.opened).all()


@pytest.mark.parametrize("lambda_", [-1.0, float("nan"), float("inf")])
def test_an_invalid_lambda_is_refused(made, lambda_):
    with pytest.raises(ValueError, match="lambda"):
        Solver(made(0)[1]).solve(lambda_)


def test_an_unknown_solver_is_refused(made):
    with pytest.raises(ValueError, match="flow, subgradient"):
        Solver(made(0)[1], kind="simplex")


def real(costs: Costs, rows: int = 60, trees: int = 4):
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(trees, criterion="entropy", max_depth=5, random_state=0).fit(X[:300], y[:300])
    forest = from_sklearn(model)
    return forest, X[300 : 300 + rows], build(forest, forest.route(X[300 : 300 + rows]), price_units(costs))


@pytest.mark.parametrize("costs", [Costs(np.ones(30)), Costs(np.arange(30.0))], ids=["unit", "rising"])
def test_a_real_forest_is_pruned_to_the_optimum(costs, relaxation, min_cut):
    forest, _, instance = real(costs)
    for lambda_ in lambda_grid(instance, forest.inner, 4, 0.1, 1.5):
        found = Solver(instance).solve(lambda_, gap=1e-8)
        optimum, z = relaxation(instance, lambda_)
        assert found.objective == pytest.approx(optimum, rel=1e-6)
        assert found.objective == pytest.approx(min_cut(instance, lambda_), abs=1e-5)
        assert np.abs(z - np.round(z)).max() < 1e-7


@pytest.mark.parametrize("costs", [Costs(np.ones(30)), Costs(np.arange(30.0))], ids=["unit", "rising"])
def test_a_spread_family_has_no_wider_step_in_cost_than_a_geometric_one(costs):
    forest, _, instance = real(costs, trees=20)
    grid = [0.0, *lambda_grid(instance, forest.inner, 12, 0.1, 1.5)]
    widest = []
    for path in (
        spread_path(instance, forest.inner, 12, 1e-6, 3000),
        solve_path(instance, forest.inner, grid, 1e-6, 3000),
    ):
        costs_down = [*(instance.cost(one.opened) for one in path), 0.0]
        widest.append(max(a - b for a, b in pairwise(costs_down)))
    assert widest[0] <= widest[1]


def test_cost_is_the_mean_price_of_distinct_features_on_the_rows_paths():
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
                h = forest.left[h] if np.float32(x[forest.column[h]]) <= forest.threshold[h] else forest.right[h]
        bills.append(costs.cost_of(sorted(met)))
    assert instance.cost(opened) == pytest.approx(np.mean(bills))
    assert 0 < instance.cost(opened) < instance.cost(forest.inner)
