"""The alternating minimisation against brute force, and the pair on a problem with easy and hard rows."""

from __future__ import annotations

import numpy as np
import pytest
from bench_adapt.alternate import alternate, objective, shares
from bench_adapt.boosted import BoostedFitter, least_constant
from bench_adapt.fitting import column_shares, feature_shares, out_of_fold_losses
from bench_adapt.linear import LinearFitter, gradients
from bench_adapt.plugin import AdaptGBRT, AdaptLin
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from bench_core import Costs, Part, Problem, Rows
from bench_core.testing import make_problem


def easy_and_hard(rows=1200, seed=0):
    """If a cheap feature is far from 0, its sign is the class; near 0, an expensive feature decides."""
    rng = np.random.default_rng(seed)
    cheap, dear, noise = rng.uniform(-1, 1, (3, rows))
    y = (np.where(np.abs(cheap) > 0.5, cheap, dear) > 0).astype(np.int64)
    X, cut = np.column_stack([cheap, dear, noise]), rows * 2 // 3
    return Problem(
        Part(X[:cut], y[:cut]), Part(X[cut:], y[cut:]), Costs(np.array([1.0, 10.0, 10.0])), "binary", 2,
        ("cheap", "dear", "noise"), np.arange(3),
    )  # fmt: skip


@given(seed=st.integers(0, 999), p_full=st.floats(0.05, 0.95))
def test_the_shares_are_the_minimum_of_the_objective_under_the_bound(seed, p_full):
    rng = np.random.default_rng(seed)
    A, B = rng.exponential(2.0, (2, 4))
    q = shares(A, B, p_full)
    assert q.mean() <= p_full + 1e-9

    def value(p):
        p = np.clip(p, 1e-9, 1 - 1e-9)
        return float(((1 - p) * A + p * B + p * np.log(p) + (1 - p) * np.log(1 - p)).mean())

    best = minimize(
        value, np.full(4, p_full / 2), bounds=[(1e-9, 1 - 1e-9)] * 4, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda p: p_full - p.mean()}, options={"ftol": 1e-12},
    )  # fmt: skip
    assert value(q) <= best.fun + 1e-5


@pytest.mark.parametrize("outputs", [1, 3])
def test_gradients_are_those_of_the_objective(outputs):
    rng = np.random.default_rng(0)
    table, q = rng.normal(size=(6, outputs + 1)), rng.uniform(size=6)
    y, accurate = rng.integers(0, max(outputs, 2), 6), rng.exponential(size=6)
    slope, step = gradients(table, y, q), 1e-6
    for row, column in np.ndindex(table.shape):
        up, down = table.copy(), table.copy()
        up[row, column] += step
        down[row, column] -= step
        numeric = (objective(up, y, accurate, q) - objective(down, y, accurate, q)) / (2 * step) * 6
        assert abs(numeric - slope[row, column]) < 1e-5


@pytest.mark.parametrize("kind", ["linear", "boosted"])
def test_alternating_lowers_the_objective_and_keeps_the_bound(kind):
    problem = easy_and_hard()
    accurate = out_of_fold_losses(problem, 30)
    y, start = problem.train.y, np.full(len(problem.train), np.log(2.0))
    values = []
    for rounds in (1, 4):
        fit = (
            LinearFitter(problem, feature_shares(problem), 0.0)
            if kind == "linear"
            else BoostedFitter(problem, column_shares(problem), 0.0, 30, 8, 0.1, 5)
        )
        outputs = alternate(fit, y, accurate, start, 0.4, rounds)
        A = np.logaddexp(0, np.where(y == 1, -1, 1) * outputs[:, 0]) + np.logaddexp(0, outputs[:, 1])
        q = shares(A, accurate + np.logaddexp(0, -outputs[:, 1]), 0.4)
        values.append(objective(outputs, y, accurate, q))
    assert values[1] < values[0]


@pytest.mark.parametrize("classes", [2, 3])
def test_trees_start_from_the_constant_of_least_loss(classes):
    rng = np.random.default_rng(classes)
    y, q = np.arange(60) % classes, rng.uniform(size=60)
    start = least_constant(y, q, classes)
    slope = gradients(np.tile(start, (60, 1)), y, q).sum(axis=0)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", [AdaptLin, AdaptGBRT])
def test_a_cheap_model_that_reads_nothing_answers_the_most_frequent_class(method, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=900), [-1.8, 2.0][: classes - 1])
    half = Part(X[:450], y[:450]), Part(X[450:], y[450:])
    task = "binary" if classes == 2 else "multiclass"
    problem = Problem(*half, Costs(np.ones(4)), task, classes, tuple("abcd"), np.arange(4))
    policy = method(gammas=(100.0,), p_full=(0.2,)).fit(problem).policies[0]
    decisions = policy.decide(problem.validation.rows())
    assert not decisions.acquired.any()
    assert (decisions.probabilities.argmax(axis=1) == np.bincount(problem.train.y).argmax()).all()


def test_trees_send_on_the_rows_that_the_cheap_feature_cannot_answer():
    problem = easy_and_hard()
    method = AdaptGBRT(gammas=(0.3,), p_full=(0.5,), accurate_estimators=60)
    policy = method.fit(problem).policies[0]
    rows = problem.validation.rows()
    decisions = policy.decide(rows)
    hard = np.abs(rows.X[:, 0]) < 0.5
    assert policy.acquired[0].tolist() == [True, False, False]
    assert (decisions.stage == 2)[hard].mean() > 0.9
    assert (decisions.stage == 2)[~hard].mean() < 0.1
    right = decisions.probabilities.argmax(axis=1) == problem.validation.y
    assert right.mean() > 0.95
    assert problem.costs.bill(decisions.acquired).mean() < 0.6 * 21


@pytest.mark.slow
def test_a_higher_gamma_reads_fewer_features_and_a_higher_share_sends_more_rows():
    problem = make_problem("multiclass")
    for method in (AdaptLin, AdaptGBRT):
        found = {p.label: p for p in method(gammas=(0.001, 0.05, 10.0), p_full=(0.1, 0.8)).fit(problem).policies}
        read = [found[f"gamma={g} p_full=0.1"].details["features"] for g in ("0.001", "0.05", "10")]
        assert read[0] > read[2] == 0
        assert read[0] >= read[1] >= read[2]
        sent = [
            (found[f"gamma=0.001 p_full={p}"].decide(problem.train.rows()).stage == 2).mean() for p in ("0.1", "0.8")
        ]
        assert sent[0] <= sent[1]


def test_a_row_that_is_cut_is_answered_by_the_best_model_whose_features_are_known():
    problem = easy_and_hard()
    policy = AdaptGBRT(gammas=(0.3,), p_full=(0.5,)).fit(problem).policies[0]
    rows = Rows(problem.validation.X[:50])
    complete, shape = policy.decide(rows), (50, 3)
    nothing = policy.decide_known(rows, np.zeros(shape, dtype=bool))
    cheap = policy.decide_known(rows, np.tile(policy.acquired[0], (50, 1)))
    everything = policy.decide_known(rows, np.ones(shape, dtype=bool))
    np.testing.assert_array_equal(nothing.probabilities, np.tile(policy.prior, (50, 1)))
    np.testing.assert_array_equal(everything.probabilities, complete.probabilities)
    stays = complete.stage == 1
    np.testing.assert_array_equal(cheap.probabilities[stays], complete.probabilities[stays])


@pytest.mark.parametrize("wrong", [{"gammas": (-1.0,)}, {"p_full": (0.0,)}, {"rounds": 0}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AdaptLin(**wrong)
