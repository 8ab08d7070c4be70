"""A single classifier: the convex problem of Eq. 14 and its closed form, compared with scipy and least squares."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cstc.descent import Descent
from bench_cstc.kernels import group_squares, leaf_descent
from bench_cstc.leaf import Leaf, scale_of
from bench_cstc.objective import Objective, State
from bench_cstc.shape import Shape
from bench_cstc.tuning import exact_objective, fine_tuned, tuned_loss
from bench_models.penalty import Penalty
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bench_core import Costs

from .conftest import random_objective


def random_leaf(seed, rho=0.05, price=0.2, intercept=True):
    o, _ = random_objective(seed, "cstc", seed % 2 == 1, rows=40)
    rng = np.random.default_rng(seed)
    const = rng.uniform(0, 1, len(o.penalty.weights)) * (rng.random(len(o.penalty.weights)) < 0.5)
    omega = rng.uniform(0, 1, len(o.y))
    v = price * o.penalty.weights
    return Leaf(o.X, o.y, omega, rho, v, const, o.penalty, scale_of(o.X, o.y), intercept)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05, 0.5]), st.sampled_from([0.0, 0.2, 1.0]), st.booleans())
def test_the_leaf_is_the_minimiser(seed, rho, price, intercept):
    leaf = random_leaf(seed, rho, price, intercept)
    m = leaf.X.shape[1]
    beta, bias, converged = leaf.solve(np.zeros(m), 0.0)
    assert converged
    value = leaf.value(beta, bias)

    def at(z):
        return leaf.value(z[:m], z[m] if intercept else 0.0)

    best = value
    for start in (np.zeros(m + 1), np.append(beta, bias) + 1e-3, np.ones(m + 1)):
        options = {"maxiter": 4000, "maxfev": 4000, "xatol": 1e-9, "fatol": 1e-12, "adaptive": True}
        best = min(best, minimize(at, start, method="Nelder-Mead", options=options).fun)
    # Weights below 1e-4 of their scale become 0 (§3.4), which limits the accuracy of the minimum.
    assert value <= best + 1e-4 * abs(best)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_leaf_is_stationary_and_its_zeros_are_optimal(seed):
    leaf = random_leaf(seed)
    beta, bias, _ = leaf.solve(np.zeros(leaf.X.shape[1]), 0.0, tol=1e-9)
    miss = leaf.X @ beta + bias - leaf.y
    gradient = (leaf.omega * miss) @ leaf.X
    squares = group_squares(beta, leaf.penalty.ptr, leaf.penalty.rows, len(leaf.v))
    root = np.sqrt(squares + leaf.const)
    for t in range(len(beta)):
        groups = leaf.penalty.rows[leaf.penalty.ptr[t] : leaf.penalty.ptr[t + 1]]
        if beta[t]:
            push = leaf.rho * np.sign(beta[t]) + sum(leaf.v[r] * beta[t] / root[r] for r in groups)
            assert gradient[t] + push == pytest.approx(0.0, abs=2e-3)
        else:
            slack = leaf.rho + sum(leaf.v[r] for r in groups if root[r] == 0)
            assert abs(gradient[t]) <= slack + 2e-3


def test_without_penalties_the_root_is_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) + 1.0
    y = X @ [1.0, -2.0, 0.5, 3.0] + 4.0 + rng.normal(size=200)
    penalty = Penalty.build(Costs(np.ones(4)), [np.array([t]) for t in range(4)])
    for intercept in (True, False):
        o = Objective(X, y, penalty, 0.0, 0.0, np.ones(200), intercept=intercept)
        state = Descent(o).run(State(Shape((1,)), np.ones((1, 4)), np.zeros(1), np.zeros(1)), 3).state
        design = np.column_stack([X, np.ones(200)]) if intercept else X
        expected = np.linalg.lstsq(design, y, rcond=None)[0]
        found = [*state.beta[0], state.bias[0]] if intercept else state.beta[0]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_constant_columns_get_no_weight():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.full(30, 7.0), rng.normal(size=30), np.zeros(30)])
    y = X[:, 1] + 3.0
    penalty = Penalty.build(Costs(np.zeros(3)), [np.array([t]) for t in range(3)])
    leaf = Leaf(X, y, np.ones(30), 0.0, np.zeros(0), np.zeros(0), penalty, scale_of(X, y))
    beta, bias, _ = leaf.solve(np.zeros(3), 0.0)
    assert beta[[0, 2]].tolist() == [0.0, 0.0]
    assert (beta[1], bias) == (pytest.approx(1.0), pytest.approx(3.0))


def test_columns_that_are_not_allowed_get_no_weight():
    leaf = random_leaf(2, 0.0, 0.0)
    only = Leaf(leaf.X, leaf.y, np.ones(40), 0.0, leaf.v, leaf.const, leaf.penalty, leaf.scale, allowed=np.array([1]))
    beta, _, _ = only.solve(np.zeros(4), 0.0)
    assert np.flatnonzero(beta).tolist() == [1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.3, 0.99))
def test_columns_that_share_a_price_are_bought_if_they_are_worth_it_together(seed, part):
    """Orthonormal columns, so that the minimum is known: h (1 − v/‖h‖) for the group's h = (2/n) Xᵀy."""
    rng = np.random.default_rng(seed)
    X = np.linalg.qr(rng.normal(size=(60, 4)))[0] * np.sqrt(60)
    y = X @ rng.uniform(0.5, 2.0, 4)
    h = 2 * X.T @ y / 60
    penalty = Penalty.build(Costs(np.ones(1)), [np.zeros(1, dtype=np.int64)] * 4)
    v = part * np.linalg.norm(h)
    leaf = Leaf(X, y, np.ones(60), 0.0, np.array([v]), np.zeros(1), penalty, scale_of(X, y), intercept=False)
    beta, _, converged = leaf.solve(np.zeros(4), 0.0, tol=1e-9)
    assert converged
    np.testing.assert_allclose(beta, h / 2 * (1 - part), atol=2e-3)


def test_a_leaf_that_no_row_reaches_does_not_change():
    leaf = random_leaf(3)
    nobody = Leaf(leaf.X, leaf.y, np.zeros(40), 0.1, leaf.v, leaf.const, leaf.penalty, leaf.scale)
    beta, bias, converged = nobody.solve(np.ones(4), 2.0)
    assert (beta.tolist(), bias, converged) == ([1.0] * 4, 2.0, True)


def test_the_leaf_kernels_equal_their_reference_implementations():
    for seed in range(5):
        leaf = random_leaf(seed)
        columns = np.arange(leaf.X.shape[1])
        centred = leaf.X - leaf.omega @ leaf.X / leaf.omega.sum()
        H, h = (centred.T * leaf.omega) @ centred, (centred.T * leaf.omega) @ leaf.y
        ptr, rows = leaf.penalty.of(columns)
        answers = []
        for kernel in (leaf_descent, leaf_descent.py_func):
            beta = np.ones(len(columns))
            tiny = 1e-4 * leaf.scale
            turns = kernel(H, h, leaf.rho, leaf.v, leaf.const, ptr, rows, beta, tiny, 50, 1e-6)
            answers.append([turns, *beta])
        np.testing.assert_allclose(answers[0], answers[1], rtol=1e-8)
        np.testing.assert_allclose(
            group_squares(beta, ptr, rows, len(leaf.v)), group_squares.py_func(beta, ptr, rows, len(leaf.v))
        )


@pytest.mark.weekly
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["cstc", "cscc", "cronus"]), st.sampled_from(["soft", "hard"]))
def test_fine_tuning_never_raises_the_training_loss_and_adds_no_column(seed, variant, rows):
    o, state = random_objective(seed, variant)
    descent = Descent(o)
    state = descent.run(state, 1).state
    beta, bias = fine_tuned(descent, state, rows)
    before = tuned_loss(descent, state, state.beta, state.bias, rows)
    assert tuned_loss(descent, state, beta, bias, rows) <= before + 1e-10 * abs(before)
    assert not beta[state.beta == 0].any()


def test_the_exact_objective_is_the_loss_plus_the_price_of_the_path():
    penalty = Penalty.build(Costs(np.array([3.0, 5.0])), [np.array([0]), np.array([1])])
    X = np.array([[2.0, 1.0], [-2.0, 1.0]])
    o = Objective(X, np.array([4.0, 0.0]), penalty, 0.0, 0.1, np.ones(2))
    # The root reads x0 and sends the first row up to a leaf that reads x1 and predicts 1; the second gets -2.
    state = State(Shape((1, 2)), np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2), np.zeros(2))
    value = exact_objective(Descent(o), state, state.beta, state.bias)
    assert value == pytest.approx((9 + 4) / 2 + 0.1 * (8 + 3) / 2)
