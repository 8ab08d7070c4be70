"""The look-ahead, compared with its reference implementation and on problems with a known optimum."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from bench_aaco.oracle import Bins, fit_oracle, lambda_grid
from bench_aaco.plugin import AACO
from bench_aaco.policy import OraclePolicy
from bench_aaco.reference import acquire_plain

from bench_core import Costs, Part, Problem, Rows
from bench_core.testing import make_problem


@pytest.mark.parametrize("variant", ["plain", "one-hot", "missing-values", "groups"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_rows_acquire_the_features_of_the_reference_implementation(task, variant):
    problem = make_problem(task, variant)
    oracle = fit_oracle(problem, 12, 40, 4)
    X = problem.validation.X[:8]
    for lambda_ in lambda_grid(oracle, 4):
        acquired = OraclePolicy(oracle, None, lambda_, 3).decide(Rows(X)).acquired
        for i, z in enumerate(oracle.bins.standardised(X)):
            assert set(np.flatnonzero(acquired[i])) == set(acquire_plain(oracle, lambda_, 3, z))


def two_kinds(rows=1500, seed=0):
    """A problem in which a cheap feature shows which of two dearer features determines a row's class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    kind = np.where(rng.random(rows) < 0.7, y, 1 - y)
    noise = rng.integers(0, 2, (rows, 2))
    X = np.column_stack([kind, np.where(kind == 0, y, noise[:, 0]), np.where(kind == 1, y, noise[:, 1])]).astype(float)
    cut = rows * 2 // 3
    return Problem(
        Part(X[:cut], y[:cut]), Part(X[cut:], y[cut:]), Costs(np.array([0.1, 1.0, 1.0])), "binary", 2,
        ("kind", "if 0", "if 1"), np.arange(3),
    )  # fmt: skip


def test_the_next_feature_depends_on_acquired_values():
    problem = two_kinds()
    policy = AACO(lambdas=(0.3,), neighbours=60).fit(problem).policies[0]
    rows = problem.validation.rows()
    decisions = policy.decide(rows)
    kind = rows.X[:, 0] == 1
    assert decisions.acquired[:, 0].all()
    assert (decisions.acquired[kind, 2] >= decisions.acquired[kind, 1]).all()
    assert (decisions.acquired[~kind, 1] >= decisions.acquired[~kind, 2]).all()
    assert decisions.acquired[:, 1:].any()
    assert problem.costs.bill(decisions.acquired).mean() < 1.3


def test_a_higher_lambda_lowers_the_bill():
    problem = make_problem("binary")
    family = AACO(answer="naive-bayes").fit(problem)
    by_lambda = sorted(family.policies, key=lambda policy: policy.lambda_)
    bills = [problem.costs.bill(p.decide(problem.validation.rows()).acquired).mean() for p in by_lambda]
    assert bills[0] > bills[-1]
    assert bills[-1] == 0


def test_decisions_survive_pickling_and_do_not_depend_on_row_order():
    problem = make_problem("multiclass", "groups")
    policy = AACO(n_estimators=5, subsets=20).fit(problem).policies[0]
    rows = problem.validation.rows()
    original, copy = policy.decide(rows), pickle.loads(pickle.dumps(policy)).decide(rows)
    np.testing.assert_array_equal(original.probabilities, copy.probabilities)
    np.testing.assert_array_equal(original.acquired, copy.acquired)
    back = policy.decide(rows.take(np.arange(len(rows))[::-1]))
    np.testing.assert_array_equal(back.probabilities[::-1], original.probabilities)
    np.testing.assert_array_equal(back.acquired[::-1], original.acquired)


def test_values_fall_into_bins_of_about_equal_numbers():
    X = np.column_stack([np.arange(80.0), np.repeat([0.0, 1.0], 40), np.full(80, 3.0), np.full(80, np.nan)])
    X[5, 0] = np.nan
    bins = Bins.of(X, 8)
    codes = bins.codes(X) - bins.offset
    counts = np.bincount(codes[:, 0])
    assert len(counts) == 9
    assert counts[-1] == 1
    assert counts[:8].max() - counts[:8].min() <= 2
    assert [len(cuts) for cuts in bins.edges[1:]] == [1, 0, 0]
    assert len(np.unique(codes[:, 3])) == 1


def test_the_same_seed_draws_the_same_candidates_and_another_seed_others():
    problem = make_problem("binary")
    same, other = fit_oracle(problem, 20, 50, 8), fit_oracle(replace(problem, seed=problem.seed + 1), 20, 50, 8)
    np.testing.assert_array_equal(same.look.members, fit_oracle(problem, 20, 50, 8).look.members)
    assert not np.array_equal(same.look.members, other.look.members)


@pytest.mark.parametrize("wrong", [{"neighbours": 0}, {"max_bins": 1}, {"count": 1}, {"reference_rows": 0}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AACO(**wrong)
