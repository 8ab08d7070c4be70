"""The look-ahead, compared with the definition in plain Python and on problems with a known optimum."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from bench_aaco.candidates import distinct_sets, draw_candidates, units_of
from bench_aaco.fitting import fit_oracle
from bench_aaco.kernels import best_sets
from bench_aaco.lambdas import in_log
from bench_aaco.plugin import AACO, GreedyCMI, bench_policy_types
from bench_aaco.policy import OraclePolicy
from bench_models.partial import fit_installed, set_losses
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs, Part, Problem, RequestError, Rows
from bench_core.testing import make_problem


class Counting:
    """A predictor that can be computed by hand: class frequencies shifted by the signs of what is known."""

    def __init__(self, problem):
        self.columns, self.classes = problem.feature_of_column, problem.n_classes

    def probabilities(self, X, known):
        shown = np.where(known[:, self.columns] & ~np.isnan(X), X, 0.0)
        logs = np.stack([np.sin((c + 1) * shown + c * known[:, self.columns]).sum(axis=1) for c in range(self.classes)])
        weights = np.exp(logs - logs.max(axis=0)).T
        return weights / weights.sum(axis=1, keepdims=True)


def bill_of(problem, features):
    acquired = np.zeros((1, problem.n_features), dtype=bool)
    acquired[0, list(features)] = True
    return float(problem.costs.bill(acquired)[0])


def plain(oracle, problem, lambda_, x):
    """The features that a row acquires, straight from the definition."""
    full = bill_of(problem, range(problem.n_features))
    unit, known = oracle.prices.unit, set()
    z, Z = (x - oracle.mean) / oracle.spread, (oracle.X - oracle.mean) / oracle.spread

    def gap(a, b):
        return float(np.isnan(a) != np.isnan(b)) if np.isnan(a) or np.isnan(b) else (a - b) ** 2

    def distance(row):
        total = 0.0
        for f in known:
            columns = problem.columns_of(f)
            total += sum(gap(z[c], Z[row, c]) for c in columns) / len(columns)
        return total

    def loss(rows, features):
        mask = np.zeros((len(rows), problem.n_features), dtype=bool)
        mask[:, list(features)] = True
        table = oracle.predictor.probabilities(oracle.X[rows], mask)
        return float(-np.log(table[np.arange(len(rows)), oracle.y[rows]]).mean())

    while True:
        rows = list(range(len(oracle.y)))
        if known:
            rows = sorted(rows, key=lambda row: (distance(row), row))[: oracle.neighbours]
        best, least = None, loss(rows, known)
        for member in oracle.candidates.member:
            union = known | set(np.flatnonzero(member).tolist())
            value = loss(rows, union) + lambda_ * (bill_of(problem, union) - bill_of(problem, known)) / full
            if len(union) > len(known) and value < least - 1e-12:
                best, least = union, value
        if best is None:
            return known
        units = sorted({int(unit[f]) for f in best - known})
        members = {u: {f for f in best - known if unit[f] == u} for u in units}
        price = {u: bill_of(problem, known | members[u]) - bill_of(problem, known) for u in units}
        free = [u for u in units if price[u] <= 1e-12]
        gain = {u: (loss(rows, best - members[u]) - loss(rows, best)) / max(price[u] / full, 1e-12) for u in units}
        taken = free or [max(units, key=lambda u: (round(gain[u], 9), -u))]
        for u in taken:
            known |= members[u]


@pytest.mark.parametrize("variant", ["plain", "one-hot", "missing-values", "groups"])
def test_rows_acquire_what_the_definition_says(variant):
    problem = make_problem("multiclass", variant)
    oracle = fit_oracle(problem, predictor=Counting(problem), neighbours=3, subsets=6, reference_rows=30)
    X = problem.validation.X[:4]
    for lambda_ in in_log(oracle, 3):
        acquired = OraclePolicy(oracle, lambda_, oracle.first(lambda_)).decide(Rows(X)).acquired
        for i, x in enumerate(X):
            assert set(np.flatnonzero(acquired[i])) == plain(oracle, problem, lambda_, x)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), features=st.integers(1, 20))
def test_every_set_is_found_once_among_the_distinct_sets(seed, features):
    rng = np.random.default_rng(seed)
    sets = rng.random((6, features))[rng.integers(0, 6, 30)] < 0.3
    distinct, place = distinct_sets(sets)
    assert (distinct[place] == sets).all()
    assert len(distinct) == len({tuple(row) for row in sets.tolist()})


def test_expected_losses_of_a_row_do_not_depend_on_the_other_rows():
    """Losses that several rows need are computed once."""
    problem = make_problem("multiclass")
    oracle = fit_oracle(problem, predictor=Counting(problem), neighbours=3, subsets=6, reference_rows=30)
    rng = np.random.default_rng(0)
    near, known = rng.integers(0, 8, (40, 3)), rng.random((3, problem.n_features))[rng.integers(0, 3, 40)] < 0.5
    together = oracle.mean_losses(near, known)
    alone = [oracle.mean_losses(near[i : i + 1], known[i : i + 1])[0] for i in range(40)]
    assert together.tolist() == np.array(alone).tolist()


def pointer(rows=1500, last=False):
    """Feature "kind" has no value on its own; it determines which of four others is the class."""
    rng = np.random.default_rng(0)
    y, kind = rng.integers(0, 2, rows), rng.integers(0, 4, rows)
    values = rng.integers(0, 2, (rows, 4))
    values[np.arange(rows), kind] = y
    X = np.column_stack([values, kind] if last else [kind, values]).astype(float)
    names = ("0", "1", "2", "3")
    names = (*names, "kind") if last else ("kind", *names)
    cut = rows * 2 // 3
    return Problem(
        Part(X[:cut], y[:cut]), Part(X[cut:], y[cut:]), Costs(np.ones(5)), "binary", 2, names, np.arange(5)
    )  # fmt: skip


@pytest.mark.parametrize("last", [False, True])
def test_a_feature_that_tells_which_other_matters_is_bought_first(last):
    problem = pointer(last=last)
    policy = AACO(lambdas=(0.3,), masked_copies=8, n_estimators=60, passes=0, neighbours=20).fit(problem).policies[0]
    rows = problem.validation.rows()
    decisions = policy.decide(rows)
    place = {name: i for i, name in enumerate(problem.feature_names)}
    assert policy.first.tolist() == [name == "kind" for name in problem.feature_names]
    kind = rows.X[:, place["kind"]].astype(int)
    chosen = np.array([place[str(k)] for k in kind])
    assert decisions.acquired[np.arange(len(rows)), chosen].mean() > 0.95
    assert decisions.acquired.sum(axis=1).mean() < 2.6
    assert (decisions.probabilities.argmax(axis=1) == problem.validation.y).mean() > 0.95


def test_greedy_cmi_looks_at_single_features_only():
    problem = pointer()
    oracle = fit_oracle(problem, predictor=Counting(problem), neighbours=3, subsets=0, reference_rows=30)
    assert oracle.candidates.member.sum(axis=1).tolist() == [1] * 5
    with pytest.raises(ValueError, match="subsets"):
        GreedyCMI(subsets=1)


@pytest.mark.parametrize(("lambda_", "expected"), [(0.6, 0), (0.7, -1)])
def test_a_set_pays_the_price_of_a_group_once(lambda_, expected):
    losses, member = np.array([[1.0, 0.2]]), np.ones((1, 2), dtype=bool)
    own, group, group_price = np.array([0.1, 0.1]), np.zeros(2, dtype=np.int64), np.array([1.0])
    best = np.empty(1, dtype=np.int64)
    best_sets(losses, np.zeros((1, 2), dtype=bool), member, own, group, group_price, lambda_, best)
    assert best.tolist() == [expected]  # the set saves 0.8 and costs 1.2


def test_features_of_a_group_without_own_prices_are_one_unit():
    problem = make_problem("binary", "groups")
    costs = Costs(np.zeros(problem.n_features), np.zeros(problem.n_features, dtype=np.int64), np.ones(1))
    free = Problem(**{**vars(problem), "costs": costs})
    assert len(np.unique(units_of(free))) == 1
    assert draw_candidates(free.rng("x"), units_of(free), 5).member.all()


def test_a_higher_lambda_lowers_the_bill():
    problem = make_problem("binary")
    family = AACO(n_estimators=10, masked_copies=4, passes=0, subsets=20).fit(problem)
    by_lambda = sorted(family.policies, key=lambda policy: policy.lambda_)
    bills = [problem.costs.bill(p.decide(problem.validation.rows()).acquired).mean() for p in by_lambda]
    assert bills[0] > bills[-1]
    assert bills[-1] == 0


def test_decisions_survive_pickling_and_do_not_depend_on_row_order():
    problem = make_problem("multiclass", "groups")
    policy = AACO(n_estimators=5, subsets=20, masked_copies=4, passes=1).fit(problem).policies[0]
    rows = problem.validation.rows()
    original, copy = policy.decide(rows), pickle.loads(pickle.dumps(policy)).decide(rows)
    np.testing.assert_array_equal(original.probabilities, copy.probabilities)
    np.testing.assert_array_equal(original.acquired, copy.acquired)
    back = policy.decide(rows.take(np.arange(len(rows))[::-1]))
    np.testing.assert_array_equal(back.probabilities[::-1], original.probabilities)
    np.testing.assert_array_equal(back.acquired[::-1], original.acquired)


def test_a_row_is_not_its_own_neighbour_when_it_is_followed():
    problem = make_problem("binary")
    oracle = fit_oracle(problem, predictor=Counting(problem), neighbours=4, subsets=3, reference_rows=50)
    known = np.ones((len(oracle.y), problem.n_features), dtype=bool)
    itself = np.arange(len(oracle.y))
    near = oracle.nearest(oracle.X, known, itself)
    assert near.shape == (len(itself), 4)
    assert (near != itself[:, None]).all()
    assert (oracle.nearest(oracle.X, known)[:, :1] == itself[:, None]).all()


def test_a_predictor_that_is_not_installed_is_named():
    problem = make_problem("binary")
    with pytest.raises(RequestError, match="budgetbench-absent"):
        fit_installed("absent", problem, units_of(problem))


@pytest.mark.weekly
@pytest.mark.parametrize("variant", ["plain", "missing-values", "groups"])
def test_the_network_scores_sets_as_rows_that_know_them(variant):
    problem = make_problem("multiclass", variant)
    policy = AACO(predictor="neural", count=2, subsets=10).fit(problem).policies[0]
    predictor, rng = policy.oracle.predictor, np.random.default_rng(0)
    candidates = draw_candidates(rng, units_of(problem), 10)
    X, y, known = problem.train.X[:9], problem.train.y[:9], rng.random((9, problem.n_features)) < 0.3
    known[:, 1:] |= known[:, :1] & (units_of(problem)[1:] == units_of(problem)[0])

    class Plain:
        probabilities = staticmethod(predictor.probabilities)

    fast, slow = (set_losses(each, X, y, known, candidates) for each in (predictor, Plain()))
    np.testing.assert_allclose(fast, slow, atol=1e-4)
    assert type(predictor) in bench_policy_types()


@pytest.mark.parametrize("wrong", [{"neighbours": 0}, {"passes": -1}, {"count": 1}, {"reference_rows": 0}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AACO(**wrong)
