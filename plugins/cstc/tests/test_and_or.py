"""AND-OR cascades: the loss, its descent, the features of a stage, and the exits of rows."""

import numpy as np
import pytest
from bench_cstc.baselines.and_or import AndOrCascade
from bench_cstc.baselines.and_or_fit import price_limits, training_context
from bench_cstc.baselines.and_or_loss import AndOr, smooth_min
from bench_cstc.baselines.merge import merge_equal
from bench_models.columns import Boosting
from bench_models.linear import ConstantPolicy
from bench_models.targets import targets_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from bench_core import Costs, Part, Problem, Rows
from bench_core.testing import make_case, make_problem


def random_problem(seed, rows=40, columns=4, stages=3, temperature=0.2, v=0.01):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=rows) > 0.3, 1.0, -1.0)
    allowed = np.sort(rng.random((stages, columns)), axis=0) > 0.3
    allowed[-1] = True
    omega = rng.uniform(0.5, 2.0, rows)
    return AndOr(X, y, omega, allowed, np.full(columns, v), temperature), rng


@settings(deadline=None)
@given(seed=st.integers(0, 1000), stages=st.integers(1, 6), temperature=st.floats(0.01, 3.0))
def test_the_smooth_minimum_is_between_the_minimum_and_tau_log_k_above(seed, stages, temperature):
    scores = np.random.default_rng(seed).normal(size=(20, stages)) * 3
    smooth, share = smooth_min(scores, temperature)
    least = scores.min(axis=1)
    assert (smooth >= least - 1e-12).all()
    assert (smooth <= least + temperature * np.log(stages) + 1e-12).all()
    assert share.sum(axis=1) == pytest.approx(np.ones(20))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_gradient_agrees_with_numerical_differentiation(seed):
    problem, rng = random_problem(seed)
    stages, columns = problem.allowed.shape
    weights = np.where(problem.allowed, rng.normal(size=(stages, columns)), 0.0)
    bias = rng.normal(size=stages)

    def value(flat):
        return problem.loss(np.where(problem.allowed, flat[:-stages].reshape(stages, -1), 0.0), flat[-stages:])[0]

    _, slope, slope_bias = problem.loss(weights, bias)
    numeric = approx_fprime(np.append(weights.ravel(), bias), value, 1e-7)
    assert np.append(slope.ravel(), slope_bias) == pytest.approx(numeric, abs=2e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000))
def test_positive_rows_pay_their_largest_hinge_and_negative_ones_their_smallest(seed):
    problem, rng = random_problem(seed)
    weights, bias = rng.normal(size=problem.allowed.shape), rng.normal(size=3)
    total = 0.0
    for x, y, omega in zip(problem.X.tolist(), problem.y, problem.omega, strict=True):
        hinges = []
        for w, b in zip(weights, bias, strict=True):
            score = sum(a * c for a, c in zip(w, x, strict=True)) + b
            hinges.append(max(0.0, 1 - y * score) ** 2)
        total += omega * (max(hinges) if y > 0 else min(hinges))
    expected = total / 40 + 0.01 * np.abs(weights).sum()
    cold = AndOr(problem.X, problem.y, problem.omega, problem.allowed, problem.v, 1e-6)
    assert cold.value(weights, bias) == pytest.approx(expected, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_objective_never_rises_and_only_allowed_columns_have_weight(seed):
    problem, rng = random_problem(seed)
    start = np.where(problem.allowed, rng.normal(size=problem.allowed.shape), 0.0)
    fit = problem.minimise(start, rng.normal(size=3), 80, 1e-9)
    assert (np.diff(fit.values) <= 0).all()
    assert fit.values[-1] == pytest.approx(problem.value(fit.weights, fit.bias))
    assert not fit.weights[~problem.allowed].any()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), v=st.sampled_from([0.001, 0.02, 0.1]))
def test_a_single_stage_is_the_convex_problem_that_scipy_solves(seed, v):
    problem, _ = random_problem(seed, stages=1, v=v)
    fit = problem.minimise(np.zeros((1, 4)), np.zeros(1), 5000, 1e-13)

    def split(flat):
        w = flat[:4] - flat[4:8]
        value, slope, slope_bias = problem.loss(w[None], flat[8:])
        return value + v * flat[:8].sum(), np.concatenate([slope[0] + v, v - slope[0], slope_bias])

    bounds = [(0, None)] * 8 + [(None, None)]
    best = minimize(split, np.zeros(9), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
    # scipy may stop early at these bounds; the optimality conditions show that our solution is optimal.
    assert fit.values[-1] <= best.fun + 1e-6
    assert fit.values[-1] == pytest.approx(best.fun, abs=1e-3)
    _, slope, slope_bias = problem.loss(fit.weights, fit.bias)
    still = fit.weights == 0
    assert np.abs(slope_bias).max() < 1e-4
    assert (np.abs(slope[still]) <= v + 1e-4).all()
    assert slope[~still] == pytest.approx(-v * np.sign(fit.weights[~still]), abs=1e-4)


def corner(rows=600, seed=0):
    """Positive in the corner where both features are; the second feature is ten times as expensive."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (rows, 2))
    X = X[np.abs(X).min(axis=1) > 0.1]
    y = ((X > 0).all(axis=1)).astype(np.int64)
    part = Part(X, y)
    return Problem(part, part, Costs(np.array([1.0, 10.0])), "binary", 2, ("cheap", "expensive"), np.arange(2))


def test_two_stages_separate_a_corner_and_other_rows_leave_early():
    problem = corner()
    family = AndOrCascade(lambdas=(0.001,), limits=(1.0, 10.0), max_iter=2000, tol=1e-8).fit(problem)
    decisions = family.policies[0].decide(Rows(problem.train.X))
    bill = problem.costs.bill(decisions.acquired, None)
    X, y = problem.train.X, problem.train.y
    assert ((decisions.score > 0) == (y == 1)).mean() > 0.98
    outside = X[:, 0] < 0
    assert (decisions.stage[outside] == 1).mean() > 0.9
    assert (bill[decisions.stage == 1] == 1.0).all()
    assert (bill[decisions.stage == 2] == 11.0).all()


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 100))
def test_a_row_is_positive_if_every_stage_is(seed):
    case = make_case("binary", seed=seed)
    family = AndOrCascade(lambdas=(0.01, 0.1), max_iter=40).fit(case.problem)
    for policy in family.policies:
        cascade = policy.cascade
        decisions = policy.decide(case.rows)
        for i, x in enumerate(case.rows.X):
            said = [float(w @ x) + b for w, b in zip(cascade.weights, cascade.bias, strict=True)]
            no = [k for k, score in enumerate(said) if score <= 0]
            last = no[0] if no else len(said) - 1
            assert decisions.stage[i] == last + 1
            assert decisions.score[i] == pytest.approx(min(said[: last + 1]), abs=1e-9)
            assert (decisions.score[i] > 0) == (not no)
            seen = {int(t) for w in cascade.weights[: last + 1] for t in np.flatnonzero(w)}
            features = {int(case.problem.feature_of_column[t]) for t in seen}
            assert set(np.flatnonzero(decisions.acquired[i]).tolist()) == features
            assert decisions.evaluations[i] == last + 1


def test_stages_use_no_feature_above_their_limit():
    problem = make_problem("binary")
    family = AndOrCascade(lambdas=(0.0,), limits=(0.5, 1.0, 3.0), max_iter=100).fit(problem)
    cascade = family.policies[0].cascade
    prices = np.array([4.0, 2.5, 1.0, 1.0, 3.0, 0.5])
    for weights, limit in zip(cascade.weights, (0.5, 1.0, 3.0), strict=True):
        assert weights.any()
        assert prices[problem.feature_of_column[np.flatnonzero(weights)]].max() <= limit


def test_trees_of_a_stage_read_only_the_features_it_may_use():
    problem = make_problem("binary", rows=400)
    base = training_context(problem, targets_of(problem, 1.0)[0], (1.0, 3.0, 4.0), 3, Boosting(7, 4, 0.1, 0.5))
    prices = problem.costs.prices[:, 0]
    for t, features in enumerate(base.columns.features_of):
        fits = [max(prices[f] for f in features) <= limit for limit in (1.0, 3.0, 4.0)]
        assert base.allowed[:, t].tolist() == fits
        assert base.price[t] == pytest.approx(prices[features].sum() + 0.5)
    assert base.allowed[0, :7].all()
    assert base.allowed[1, :14].all()
    assert len(base.columns.features_of) == 21


def test_a_limit_without_further_features_adds_no_trees():
    problem = make_problem("binary", rows=200)
    limits, boosting = (0.1, 1.0, 2.0, 9.0), Boosting(3, 4, 0.1, 0.0)
    base = training_context(problem, targets_of(problem, 1.0)[0], limits, 4, boosting)
    assert not base.allowed[0].any()
    assert len(base.columns.features_of) == 6


@settings(deadline=None)
@given(seed=st.integers(0, 1000), columns=st.integers(1, 40))
def test_stages_with_equal_weights_have_equal_gradients_to_the_last_bit(seed, columns):
    """A new stage starts as a copy of the last one. Rounding errors must not part them: they depend on the machine."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, columns)), rng.choice([-1.0, 1.0], 50)
    problem = AndOr(X, y, np.ones(50), np.ones((5, columns), dtype=bool), np.zeros(columns), 0.3)
    _, slope, slope_bias = problem.loss(np.tile(rng.normal(size=columns), (5, 1)), np.full(5, 0.1))
    assert (slope == slope[0]).all()
    assert (slope_bias == slope_bias[0]).all()


@settings(deadline=None)
@given(seed=st.integers(0, 1000))
def test_merging_equal_rows_changes_no_loss(seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.integers(-1, 2, (30, 2)).astype(float), rng.choice([-1.0, 1.0], 30)
    omega, allowed = rng.uniform(0.5, 2, 30), np.ones((2, 2), dtype=bool)
    few = merge_equal(Z, y, omega)
    assert len(few[1]) == len({(*row, label) for row, label in zip(Z.tolist(), y.tolist(), strict=True)})
    weights, bias = rng.normal(size=(2, 2)), rng.normal(size=2)
    before, after = (AndOr(*data, allowed, np.zeros(2), 0.3).loss(weights, bias) for data in ((Z, y, omega), few))
    assert after[0] == pytest.approx(before[0])
    assert after[1] == pytest.approx(before[1])


def test_limits_split_the_distinct_prices():
    prices = np.array([1, 5, 20, 50, 100, 150, 200, 1, 5.0])
    assert price_limits(prices, (), 5).tolist() == [5, 50, 100, 150, 200]
    assert price_limits(prices, (), 50).tolist() == [1, 5, 20, 50, 100, 150, 200]
    assert price_limits(prices, (5, 20, 50, 150, 200), 3).tolist() == [5, 20, 50, 150, 200]


def test_the_unit_of_lambda_is_where_a_single_classifier_reads_nothing():
    problem = make_problem("binary", rows=300)
    family = AndOrCascade(lambdas=(1.0, 0.95), rho=0.0, stages=1, max_iter=3000, tol=1e-12).fit(problem)
    features = {policy.details["lambda"]: policy.details["features"] for policy in family.policies}
    assert features[1.0] == 0
    assert features[0.95] >= 1


def test_a_larger_trade_off_reads_less():
    problem = make_problem("binary", rows=400)
    family = AndOrCascade(lambdas=(0.001, 0.05, 0.5), max_iter=500).fit(problem)
    rows = Rows(problem.validation.X)
    bill = {
        policy.details["lambda"]: problem.costs.bill(policy.decide(rows).acquired, None).mean()
        for policy in family.policies
    }
    assert bill[0.001] > bill[0.05] > bill[0.5]


def test_a_fit_that_has_not_converged_is_reported():
    problem = make_problem("binary")
    hasty = AndOrCascade(lambdas=(0.01,), max_iter=1).fit(problem)
    assert hasty.diagnostics["converged"] is False
    assert hasty.policies[0].details["converged"] is False
    patient = AndOrCascade(lambdas=(0.1,), max_iter=3000).fit(problem)
    assert patient.diagnostics["converged"] is True


def test_grades_of_at_least_relevant_from_are_positive():
    case = make_case("ranking", rows=400)
    method = AndOrCascade(lambdas=(0.01,), relevant_from=2.0, max_iter=100)
    decisions = method.fit(case.problem).policies[0].decide(case.rows)
    relevant = case.y >= 2
    assert decisions.probabilities is None
    assert decisions.score[relevant].mean() > decisions.score[~relevant].mean() + 0.5
    nothing = AndOrCascade(relevant_from=99.0).fit(case.problem)
    assert isinstance(nothing.policies[0], ConstantPolicy)


def test_one_class_gives_its_frequency():
    problem = make_problem("binary", "missing-class")
    (policy,) = AndOrCascade().fit(problem).policies
    assert policy.decide(Rows(problem.train.X[:1])).probabilities.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_other_tasks_are_refused(task):
    with pytest.raises(ValueError, match=f"needs two classes; the task is {task}"):
        AndOrCascade().fit(make_problem(task))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"lambdas": ()}, "lambdas must be a list of at least 1 item"),
        ({"lambdas": (-1.0,)}, "lambdas.* must be a number of at least 0, not -1.0"),
        ({"lambdas": (0.1, 0.1)}, "lambdas must be .*, distinct, not"),
        ({"rho": -0.1}, "rho must be a number of at least 0, not -0.1"),
        ({"limits": (2.0, 1.0)}, "limits must ascend"),
        ({"limits": (-1.0,)}, "limits.* must be a number of at least 0, not -1.0"),
        ({"stages": 0}, "stages must be a whole number from 1 to 50"),
        ({"temperature": 0.0}, "temperature must be a number above 0, not 0.0"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1 to"),
        ({"relevant_from": float("nan")}, "relevant_from: must be a finite number, not nan"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        AndOrCascade(**wrong)
