"""The objective compared with the paper's formulas, its gradient, and the descent, which must not raise it."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cstc.descent import Descent
from bench_cstc.kernels_descent import along, node_descent, polynomials
from bench_cstc.kernels_node import majorise, majoriser_gradient, masses, node_value
from bench_cstc.objective import State
from bench_cstc.shape import Shape
from bench_cstc.view import view
from hypothesis import given, settings
from hypothesis import strategies as st

from .conftest import random_objective

VARIANTS = ("cstc", "cscc", "cronus")
seeds = st.integers(0, 10_000)
variants = st.sampled_from(VARIANTS)


def written_out(o, state):
    """Eq. 12, 19, §4.1 and 22, row by row and node by node, without the plugin's code."""
    shape, n = state.shape, len(o.y)
    reach = np.zeros((n, len(shape)))
    exits: dict[tuple[int, int], np.ndarray] = {}
    loss = 0.0
    for i in range(n):
        for k, name in enumerate(shape.names):
            p = 1.0
            while name > 1:
                parent = shape.names.index(name // 2)
                u = o.X[i] @ state.beta[parent] + state.bias[parent] - state.theta[parent]
                up = 1 / (1 + np.exp(-o.steep * u))
                p *= up if name % 2 == 0 else 1 - up
                name //= 2
            reach[i, k] = p
    for i in range(n):
        for k, name in enumerate(shape.names):
            score = o.X[i] @ state.beta[k] + state.bias[k]
            up = 1 / (1 + np.exp(-o.steep * (score - state.theta[k])))
            children = [2 * name in shape.names, 2 * name + 1 in shape.names]
            shares = [1.0] if not any(children) else [up * (not children[0]), (1 - up) * (not children[1])]
            for side, share in enumerate(shares):
                exits.setdefault((k, side), np.zeros(n))[i] = reach[i, k] * share
            weight = reach[i, k] if o.variant == "cstc" else reach[i, k] * sum(shares)
            loss += o.weights[i] * weight * (score - o.y[i]) ** 2 / n
    cost = 0.0
    for r, price in enumerate(o.penalty.weights):
        columns = [t for t in range(o.X.shape[1]) if r in o.penalty.rows[o.penalty.ptr[t] : o.penalty.ptr[t + 1]]]
        if o.variant == "cronus":
            cost += price * np.sqrt(
                sum(
                    (reach[:, k].mean() * state.beta[k, columns]) @ (reach[:, k].mean() * state.beta[k, columns])
                    for k in range(len(shape))
                )
            )
            continue
        for (k, _), share in exits.items():
            squares = sum(np.sum(state.beta[j, columns] ** 2) for j in shape.path(k))
            cost += share.mean() * price * np.sqrt(squares)
    return loss + o.rho * np.abs(state.beta).sum() + o.lambda_ * cost


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("boosted", [False, True])
def test_the_objective_is_the_papers(variant, boosted):
    for seed in range(5):
        o, state = random_objective(seed, variant, boosted, rows=8)
        assert o.value(state) == pytest.approx(written_out(o, state), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(seeds, variants, st.booleans(), st.booleans())
def test_no_update_of_a_node_raises_the_objective(seed, variant, boosted, intercept):
    o, state = random_objective(seed, variant, boosted, intercept=intercept)
    descent = Descent(o)
    before = o.value(state)
    for _ in range(2):
        for node in range(len(state.shape)):
            state = descent.update(state, node)
            after = o.value(state)
            assert after <= before + 1e-12 * abs(before)
            before = after


@settings(max_examples=30, deadline=None)
@given(seeds, variants)
def test_the_values_of_a_run_fall_and_end_at_its_state(seed, variant):
    o, state = random_objective(seed, variant)
    run = Descent(o).run(state, 5)
    assert run.values[0] == pytest.approx(o.value(state))
    assert run.values[-1] == pytest.approx(o.value(run.state))
    assert (np.diff(run.values) <= 1e-12 * np.abs(run.values[0])).all()


def inner_node(seed, variant, boosted):
    """A branching node of a random tree, with its view of the tree; None if the tree has none."""
    o, state = random_objective(seed, variant, boosted)
    k = next((k for k in range(len(state.shape)) if not state.shape.is_leaf(k)), None)
    if k is None:
        return None
    columns = np.flatnonzero(state.beta[k])
    return o, state, k, columns, view(o, state, k, columns)


def at(o, state, k, columns, beta, bias, theta):
    full = np.zeros(o.X.shape[1])
    full[columns] = beta
    return state.with_node(k, full, bias, theta)


@settings(max_examples=60, deadline=None)
@given(seeds, variants, st.booleans())
def test_a_nodes_view_changes_like_the_objective(seed, variant, boosted):
    found = inner_node(seed, variant, boosted)
    if found is None:
        return
    o, state, k, columns, node = found
    rng = np.random.default_rng(seed)
    beta, bias, theta = rng.normal(size=len(columns)), rng.normal(), rng.normal()
    moved = at(o, state, k, columns, beta, bias, theta)
    there = node_value(node, o.score(moved, k), theta, beta)
    here = node_value(node, o.score(state, k), state.theta[k], state.beta[k, columns])
    assert there - here == pytest.approx(o.value(moved) - o.value(state), rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(seeds, variants, st.booleans())
def test_the_gradient_agrees_with_numerical_differentiation(seed, variant, boosted):
    found = inner_node(seed, variant, boosted)
    if found is None:
        return
    o, state, k, columns, node = found
    X = np.ascontiguousarray(o.X[:, columns])
    beta, bias, theta = state.beta[k, columns], float(state.bias[k]), float(state.theta[k])
    s = o.score(state, k)
    major = majorise(node, masses(node, s, theta), beta)
    gradient, by_bias, by_theta = majoriser_gradient(node, major, X, s, theta, beta)
    h = 1e-6

    def difference(step):
        ends = [
            o.value(at(o, state, k, columns, beta + sign * step[:-2], bias + sign * step[-2], theta + sign * step[-1]))
            for sign in (1, -1)
        ]
        return (ends[0] - ends[1]) / (2 * h)

    steps = h * np.eye(len(columns) + 2)
    expected = [difference(step) for step in steps]
    np.testing.assert_allclose([*gradient, by_bias, by_theta], expected, rtol=1e-4, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(seeds, variants, st.booleans())
def test_lemma_1_bounds_the_objective_from_above_and_touches_it(seed, variant, boosted):
    found = inner_node(seed, variant, boosted)
    if found is None:
        return
    o, state, k, columns, node = found
    X = np.ascontiguousarray(o.X[:, columns])
    beta, theta = state.beta[k, columns], float(state.theta[k])
    s = o.score(state, k)
    major = majorise(node, masses(node, s, theta), beta)
    rng = np.random.default_rng(seed)
    direction, d_bias, d_theta = rng.normal(size=len(columns)), rng.normal(), rng.normal()
    C, g = polynomials(major, beta, direction)
    sd = X @ direction + d_bias
    for alpha in (0.0, -0.5, 0.01, 1.0):
        bound, slope = along(node, s, theta, sd, d_theta, C, major.quad, g, alpha)
        exact = node_value(node, s + alpha * sd, theta + alpha * d_theta, beta + alpha * direction)
        assert bound >= exact - 1e-9 * abs(exact)
        if alpha == 0.0:
            assert bound == pytest.approx(exact, rel=1e-9)
        h = 1e-6
        ends = [along(node, s, theta, sd, d_theta, C, major.quad, g, alpha + sign * h)[0] for sign in (1, -1)]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_kernels_equal_their_reference_implementations(variant):
    for seed in range(20):
        found = inner_node(seed, variant, True)
        if found is None:
            continue
        o, state, k, columns, node = found
        X = np.ascontiguousarray(o.X[:, columns])
        beta, bias, theta = state.beta[k, columns], float(state.bias[k]), float(state.theta[k])
        s = o.score(state, k)
        assert node_value.py_func(node, s, theta, beta) == pytest.approx(node_value(node, s, theta, beta))
        mass = masses(node, s, theta)
        np.testing.assert_allclose(masses.py_func(node, s, theta), mass, rtol=1e-12)
        major = majorise(node, mass, beta)
        for plain, compiled in zip(majorise.py_func(node, mass, beta), major, strict=True):
            np.testing.assert_allclose(plain, compiled, rtol=1e-12)
        for plain, compiled in zip(
            majoriser_gradient.py_func(node, major, X, s, theta, beta),
            majoriser_gradient(node, major, X, s, theta, beta),
            strict=True,
        ):
            np.testing.assert_allclose(plain, compiled, rtol=1e-10, atol=1e-14)
        tiny = np.full(len(columns), 1e-4)
        rest = (X, beta, bias, theta, True, tiny, 3, 4, 1e-6)
        for plain, compiled in zip(node_descent.py_func(node, *rest), node_descent(node, *rest), strict=True):
            np.testing.assert_allclose(plain, compiled, rtol=1e-8, atol=1e-10)


@settings(max_examples=50, deadline=None)
@given(seeds, variants)
def test_p_sums_to_one_over_each_depth_and_over_the_exits(seed, variant):
    o, state = random_objective(seed, variant)
    full = Shape.full(3)
    up = np.random.default_rng(seed).random((6, len(full)))
    p = full.reach(up)
    for depth in (1, 2, 3):
        level = [k for k in range(len(full)) if full.depth(k) == depth]
        np.testing.assert_allclose(p[:, level].sum(axis=1), 1.0)
    up = o.up(state, o.scores(state))
    np.testing.assert_allclose(state.shape.leave(state.shape.reach(up), up).sum(axis=1), 1.0)


def test_a_descent_without_sweeps_leaves_the_state():
    o, state = random_objective(0)
    run = Descent(o).run(state, 0)
    assert run.converged
    assert run.state is state


def test_an_interrupted_descent_is_reported():
    o, state = random_objective(3, rows=60)
    assert not Descent(o, tol=1e-12).run(state, 1).converged


def test_zero_weights_stay_zero():
    o, state = random_objective(5)
    after = Descent(o).run(state, 3).state
    assert not after.beta[state.beta == 0].any()


def test_a_state_keeps_its_nodes_on_another_shape():
    state = State(Shape((1, 2)), np.array([[1.0], [2.0]]), np.array([3.0, 4.0]), np.array([5.0, 6.0]))
    grown = state.onto(Shape((1, 2, 3)))
    assert grown.beta[:, 0].tolist() == [1.0, 2.0, 0.0]
    assert grown.onto(Shape((1,))).theta.tolist() == [5.0]
