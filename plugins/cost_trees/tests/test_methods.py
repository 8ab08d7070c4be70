"""The methods: the influence of prices and error costs, the bill, the family, and refused parameters."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cost_trees.bias_search import Bias, BiasSearch
from bench_cost_trees.criteria import Criterion
from bench_cost_trees.fitness import mean_cost, mean_cost_plain
from bench_cost_trees.icet import ICET
from bench_cost_trees.induction import Limits, grow_compiled
from bench_cost_trees.trees import C45, CSID3, EG2, IDX
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, RequestError, Rows, build, outcome_of
from bench_core.testing import make_case, make_problem


def noisy(seed=0, rows=600):
    """Two noisy copies of the class, the second one better, and a feature of pure noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    flips = rng.random((rows, 2)) < [0.2, 0.05]
    return np.column_stack([y ^ flips[:, 0], y ^ flips[:, 1], rng.integers(0, 2, rows)]).astype(float), y


def acquired_on_average(policy, X):
    return policy.decide(Rows(X)).acquired.mean(axis=0)


@pytest.mark.parametrize("method", [EG2(omegas=(1.0,)), IDX(), CSID3()])
def test_a_dear_test_loses_to_a_cheap_less_informative_one(method, make):
    X, y = noisy()
    dear = method.fit(make(X, y, prices=[1, 100, 1])).policies[0]
    even = method.fit(make(X, y, prices=[1, 1, 1])).policies[0]
    assert dear.tree.column[0] == 0
    assert even.tree.column[0] == 1


def test_with_equal_prices_idx_grows_the_tree_of_greatest_gain(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 5))
    y = (X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=700) > 0).astype(np.int64)
    problem = make(X, y, prices=[1, 1, 1, 1, 1])
    gain, idx = (method.fit(problem).policies[0] for method in (C45(criterion="gain"), IDX()))
    assert np.array_equal(idx.tree.column, gain.tree.column)
    assert np.array_equal(idx.tree.threshold, gain.tree.threshold, equal_nan=True)
    assert acquired_on_average(idx, X)[:3].min() > 0.9


def test_a_task_without_classes_is_refused():
    with pytest.raises(ValueError, match="'regression' has no classes"):
        EG2().fit(make_problem("regression"))


def test_without_omega_and_for_c45_prices_do_not_matter(make):
    X, y = noisy()
    for method in (EG2(omegas=(0.0,)), C45(), C45(criterion="gain")):
        trees = [method.fit(make(X, y, prices=prices)).policies[0].tree for prices in ([1, 100, 1], [9, 1, 0])]
        assert np.array_equal(trees[0].column, trees[1].column)
        assert trees[0].column[0] == 1


def test_the_family_has_every_setting_and_the_best_on_validation_first(make):
    X, y = noisy()
    bad = (X[:50], 1 - y[:50])
    family = EG2(omegas=(0.0, 1.0), confidence_factors=(0.25, 0.01)).fit(make(X, y, validation=bad)).policies
    settings = [(policy.details["omega"], policy.details["confidence_factor"]) for policy in family]
    assert sorted(settings) == [(0.0, 0.01), (0.0, 0.25), (1.0, 0.01), (1.0, 0.25)]
    right = [(policy.decide(Rows(bad[0])).probabilities.argmax(axis=1) == bad[1]).mean() for policy in family]
    assert right[0] == max(right)


def test_fit_on_both_learns_from_training_and_validation_rows(make):
    X, y = noisy()
    half = make(X[:300], y[:300], validation=(X[300:], y[300:]))
    trained_on_all = make(X, y)
    for method in (EG2, IDX, CSID3, C45):
        both = method(fit_on="both").fit(half).policies
        alone = method().fit(trained_on_all).policies
        assert {p.label: p.tree.counts.tolist() for p in both} == {p.label: p.tree.counts.tolist() for p in alone}
        assert both[0].details["confidence_factor"] == 0.25
        assert method().fit(half).policies[0].tree.counts.sum(axis=1)[0] == 300


def test_a_feature_of_several_columns_is_paid_once():
    case = make_case("binary", "one-hot")
    policy = EG2(omegas=(1.0,), confidence_factors=(1.0,), min_samples_leaf=1).fit(case.problem).policies[0]
    tested = policy.tree.column[policy.tree.column >= 0]
    features = case.problem.feature_of_column[tested]
    acquired = policy.decide(case.rows).acquired
    assert acquired.any(axis=0)[features].all()
    assert acquired.shape[1] == case.problem.n_features


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), by_path=st.booleans())
def test_the_fitness_equals_its_reference_implementation(table, seed, by_path):
    grower, prices = table(seed)
    rows = np.arange(len(grower.y))
    tree = grow_compiled(grower, rows, Criterion("eg2"), prices, Limits(None, 2, 1), by_path=by_path)
    held = np.random.default_rng(seed).integers(0, len(rows), 20)
    assert mean_cost(tree, grower, held, prices, 7.0) == pytest.approx(mean_cost_plain(tree, grower, held, prices, 7.0))


@pytest.mark.parametrize("variant", ["groups", "plain", "missing-values", "one-hot"])
def test_the_fitness_of_a_tree_is_its_bill_plus_the_cost_of_its_errors(variant):
    problem = make_case("multiclass", variant).problem
    search = BiasSearch(*_parts(problem))
    bias = Bias(np.arange(1.0, problem.n_features + 1), 0.5, 0.5)
    tree = search.final_tree(bias)
    from bench_cost_trees.family import policy_of

    outcome = outcome_of(
        policy_of(problem, tree, "", {}).decide(problem.train.rows()), problem.train, problem.costs, problem.task
    )
    expected = outcome.bill.mean() + 30.0 * (~outcome.correct).mean()
    rows = np.arange(len(problem.train))
    assert mean_cost(tree, search.grower, rows, search.prices, 30.0) == pytest.approx(expected)


def _parts(problem):
    from bench_cost_trees.family import grower_of
    from bench_cost_trees.prices import mean_prices

    return grower_of(problem, "training"), mean_prices(problem), Limits()


def test_a_string_is_evaluated_on_rows_its_tree_was_not_grown_on(make):
    rng = np.random.default_rng(0)
    problem = make(rng.normal(size=(200, 3)), rng.integers(0, 2, 200), prices=[0, 0, 0])
    search = BiasSearch(*_parts(problem)[:2], Limits(None, 2, 1))
    bias = Bias(np.ones(3), 1.0, 1.0)
    costs = [search.cost(bias, 1.0, np.random.default_rng(seed)) for seed in range(10)]
    # Labels are noise: a tree classifies its training rows correctly, and half of the other rows.
    assert 0.4 < np.mean(costs) < 0.6
    assert len(set(costs)) > 3


def test_icet_pays_for_tests_only_where_errors_cost_more(make):
    X, y = noisy()
    method = ICET(error_costs=(1.0, 10.0, 10_000.0), unit="price", search="subsets", population=10, trials=100)
    family = method.fit(make(X, y, prices=[2, 40, 1])).policies
    spent = {policy.details["error_cost"]: acquired_on_average(policy, X) for policy in family}
    assert spent[1.0].tolist() == [0, 0, 0]
    # A first reading saves three in ten errors, which is worth its 2 dollars; the better one is not worth its 40.
    assert spent[10.0].tolist() == [1, 0, 0]
    assert spent[10_000.0][1] == 1


def test_icet_finds_the_cheaper_of_two_identical_tests(make):
    _, y = noisy()
    X = np.column_stack([y, y]).astype(float)
    for prices, cheaper in (([40, 2], 1), ([2, 40], 0)):
        method = ICET(error_costs=(100.0,), unit="price", population=10, trials=60)
        policy = method.fit(make(X, y, prices=prices)).policies[0]
        assert acquired_on_average(policy, X)[cheaper] == 1
        assert acquired_on_average(policy, X).sum() == 1


def test_a_seeded_search_starts_with_eg2(make):
    X, y = noisy()
    problem = make(X, y, costs=Costs(np.array([1.0, 40.0, 7.0]), np.array([0, -1, 0]), np.array([2.0])))
    search = BiasSearch(*_parts(problem), "seeded")
    (string,) = search.known()
    bias = search.bias(string)
    # Pseudo-prices have steps of 2.44.
    assert np.abs(bias.costs - [3, 40, 9]).max() < 1.23
    assert (bias.omega, round(bias.confidence, 4)) == (1.0, pytest.approx(0.25, abs=2e-4))
    assert BiasSearch(*_parts(problem)).known() == []
    eg2 = EG2(omegas=(1.0,), confidence_factors=(0.25,), prices="first").fit(problem).policies[0].tree
    assert search.final_tree(bias).column.tolist() == eg2.column.tolist()


@pytest.mark.parametrize("kind", ["costs", "subsets"])
def test_icet_never_tests_what_its_string_forbids(kind, make):
    X, y = noisy()
    problem = make(X, y)
    search = BiasSearch(*_parts(problem), kind)
    assert search.bits == (3 * 12 if kind == "costs" else 3) + 24
    string = np.ones(search.bits, dtype=bool)
    string[1] = False
    bias = search.bias(string)
    if kind == "subsets":
        assert bias.costs.tolist() == [1, np.inf, 1]
        assert 1 not in search.grown(bias, np.arange(600)).column
    else:
        assert ((bias.costs >= 1) & (bias.costs <= 10_000)).all()
        assert search.bias(np.zeros(search.bits, dtype=bool)).costs.tolist() == [1, 1, 1]
    assert 0 <= bias.omega <= 1
    assert 0.01 <= bias.confidence <= 1


def test_icets_relative_unit_is_the_price_of_all_features(make):
    X, y = noisy(rows=200)
    problem = make(X, y, costs=Costs(np.array([1.0, 2.0, 0.5]), np.array([0, 0, -1]), np.array([4.0])))
    relative = ICET(error_costs=(2.0,), population=4, trials=8).fit(problem)
    priced = ICET(error_costs=(15.0,), unit="price", population=4, trials=8).fit(problem)
    assert relative.policies[0].details["error_cost"] == priced.policies[0].details["error_cost"] == 15.0


def test_icet_keeps_its_run_in_the_history(make):
    X, y = noisy(rows=100)
    history = ICET(error_costs=(2.0,), population=4, trials=20).fit(make(X, y)).history
    assert {len(series) for series in history.values()} == {5}
    assert len(history) == 2


@pytest.mark.parametrize(
    ("method", "parameters", "said"),
    [
        (EG2, {"omegas": [1.5]}, "omegas"),
        (EG2, {"omegas": []}, "omegas"),
        (IDX, {"confidence_factors": [0.0]}, "confidence_factors"),
        (CSID3, {"max_depth": 0}, "max_depth"),
        (C45, {"min_samples_split": 1}, "min_samples_split"),
        (C45, {"min_samples_leaf": 0}, "min_samples_leaf"),
        (ICET, {"error_costs": [0.0]}, "error_costs"),
        (ICET, {"population": 1}, "population"),
        (ICET, {"mutation_rate": 2.0}, "mutation_rate"),
        (ICET, {"max_depth": 0}, "max_depth"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(method, parameters, said):
    with pytest.raises(RequestError, match=said):
        build(method, parameters, "suite.toml")
