"""Shapes, initialisation, pruning, greedy building, the walk down the tree, the family along λ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_cstc.descent import Descent
from bench_cstc.family import TreeSettings, fit_trees, lambda_max, rho_max
from bench_cstc.objective import Objective, State
from bench_cstc.shape import Shape
from bench_cstc.structure import build_greedily, initialise, predictions, prune, split_point, walk
from bench_cstc.walker import Walker
from bench_models.columns import PlainColumns
from bench_models.penalty import Penalty
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Costs

from .conftest import random_objective

seeds = st.integers(0, 10_000)
variants = st.sampled_from(["cstc", "cscc", "cronus"])


@pytest.mark.parametrize("names", [(), (2,), (1, 3, 2), (1, 4), (1, 1)])
def test_a_shape_without_root_or_parents_is_refused(names):
    with pytest.raises(ValueError, match=r"ascend|parent"):
        Shape(names)


def test_terminals_are_the_missing_children():
    ends = [(end.node, end.side) for end in Shape((1, 2, 5)).terminals]
    assert ends == [(0, -1), (1, 1), (2, 0)]
    assert [(end.node, end.side) for end in Shape.cascade(3).terminals] == [(0, -1), (1, -1), (2, 0)]
    assert len(Shape.full(4).terminals) == 8


@settings(max_examples=50, deadline=None)
@given(seeds, variants)
def test_hard_traversal_is_the_limit_of_steep_sigmoids(seed, variant):
    o, state = random_objective(seed, variant)
    steep = replace(o, steep=1e7)
    scores = steep.scores(state)
    up = steep.up(state, scores)
    shape = state.shape
    leaving = shape.leave(shape.reach(up), up)
    expected = sum(leaving[:, i] * scores[:, end.node] for i, end in enumerate(shape.terminals))
    np.testing.assert_allclose(predictions(state, o.X), expected, rtol=1e-6, atol=1e-6)
    exits = np.stack([end.node for end in shape.terminals])[leaving.argmax(axis=1)]
    assert walk(state, o.X).tolist() == exits.tolist()
    # The policy's own walk is a second implementation.
    plain = PlainColumns([np.array([t]) for t in range(o.X.shape[1])])
    score, at = Walker.of(plain, state, state.beta, state.bias, o.X.shape[1])(o.X)
    assert at.tolist() == exits.tolist()
    np.testing.assert_allclose(score, expected, rtol=1e-6, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(seeds, variants)
def test_a_row_at_the_threshold_goes_down_in_training_and_in_the_policy(seed, variant):
    # Integers, so that scores are exact and many equal the threshold.
    o, drawn = random_objective(seed, variant)
    X = np.random.default_rng(seed).integers(-1, 2, o.X.shape).astype(float)
    state = State(drawn.shape, np.round(drawn.beta), np.zeros(len(drawn.shape)), np.round(drawn.theta))
    plain = PlainColumns([np.array([t]) for t in range(X.shape[1])])
    _, at = Walker.of(plain, state, state.beta, state.bias, X.shape[1])(X)
    assert at.tolist() == walk(state, X).tolist()
    root = X @ state.beta[0]
    below = drawn.shape.lower(0)
    for exits in (at, walk(state, X)):
        for score, end in zip(root, exits, strict=True):
            path = drawn.shape.path(int(end))
            if score <= state.theta[0] and below >= 0:
                assert below in path
            if score > state.theta[0] and drawn.shape.upper(0) >= 0:
                assert drawn.shape.upper(0) in path


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.sampled_from([0.2, 0.5, 0.8]))
def test_no_other_threshold_is_nearer_to_the_share(levels, keep):
    scores = np.array(levels, dtype=float)
    theta = split_point(scores, np.ones(len(scores)), keep)
    off = abs((scores > theta).mean() - keep)
    for other in np.unique(scores)[:-1]:
        assert off <= abs((scores > other).mean() - keep) + 1e-12
    assert len(np.unique(scores)) == 1 or 0 < (scores > theta).sum() < len(scores)


def test_initialisation_sends_half_of_every_nodes_rows_up():
    o, _ = random_objective(1, rows=64, rho=0.0, lambda_=0.0)
    state = initialise(Descent(o), Shape.full(3))
    at = walk(state, o.X)
    assert np.bincount(at, minlength=7).tolist() == [0, 0, 0, 16, 16, 16, 16]


def test_initialisation_fits_each_node_as_a_leaf():
    o, _ = random_objective(2, rows=60)
    descent = Descent(o)
    state = initialise(descent, Shape.full(2))
    root = State(Shape((1,)), state.beta[:1], state.bias[:1], state.theta[:1])
    assert descent.update(root, 0).beta == pytest.approx(root.beta, abs=1e-3)
    for name in (2, 3):
        part = state.onto(Shape((1, name)))
        again, _, _ = descent.as_leaf(part, 1)
        np.testing.assert_allclose(again, part.beta[1], atol=1e-3)


def test_pruning_keeps_only_nodes_that_validation_needs():
    o, _ = random_objective(3, rows=80)
    state = initialise(Descent(o), Shape.full(3))

    def criterion(scores):
        return float(np.square(scores - o.y).mean())

    pruned = prune(state, o.X, criterion)
    assert criterion(predictions(pruned, o.X)) <= criterion(predictions(state, o.X))
    for k in range(1, len(pruned.shape)):
        if pruned.shape.is_leaf(k):
            smaller = pruned.onto(pruned.shape.without(k))
            assert criterion(predictions(smaller, o.X)) > criterion(predictions(pruned, o.X))
    assert prune(state, o.X, lambda scores: 0.0).shape.names == (1,)


def test_greedy_building_adds_nodes_as_long_as_one_helps():
    o, _ = random_objective(4, rows=80)
    assert build_greedily(Descent(o), 3, o.X, lambda scores: 0.0).shape.names == (1,)
    # y = |x|: one line helps little, and a line for each half is exact.
    x = np.linspace(-1, 1, 81)[:, None]
    penalty = Penalty.build(Costs(np.ones(1)), [np.array([0])])
    v = Objective(x, np.where(x[:, 0] > 0, 1.0, -0.5) * x[:, 0], penalty, 0.0, 0.0, np.ones(81), steep=50.0)

    def criterion(scores):
        return float(np.square(scores - v.y).mean())

    grown = build_greedily(Descent(v), 3, x, criterion)
    assert set(grown.shape.names) >= {1, 2, 3}
    assert criterion(predictions(grown, x)) < 1e-3
    chain = build_greedily(Descent(v), 3, x, criterion, chain=True)
    assert all(name & (name - 1) == 0 for name in chain.shape.names)


def fitted(seed=0, lambdas=(0.001, 0.01, 0.1), **settings):
    o, _ = random_objective(seed, rows=80)

    def criterion(scores):
        return float(np.square(scores - o.y).mean())

    given = TreeSettings(levels=3, rho=1e-4, **settings)
    return o, fit_trees(o.X, o.y, o.weights, o.penalty, lambdas, given, o.X, criterion)


def test_the_family_has_a_tree_per_lambda_and_its_history():
    o, trees = fitted()
    assert [tree.lambda_ for tree in trees] == [0.001, 0.01, 0.1]
    for tree in trees:
        assert tree.run.converged
        assert (np.diff(tree.run.values) <= 1e-12).all()
        assert tree.share[0] == 1.0
        assert tree.mean[0] == pytest.approx(o.y.mean())


def test_a_descent_that_reaches_max_iter_is_not_converged():
    _, trees = fitted(max_iter=1, tol=1e-12)
    assert not any(tree.run.converged for tree in trees)


def test_early_stopping_ends_at_the_best_tree_on_validation():
    o, _ = random_objective(6, rows=80)
    seen = []

    def rising(scores):
        seen.append(1.0)
        return float(len(seen))

    given = TreeSettings(levels=2, structure="full", early_stopping=True, tol=1e-12)
    tree = fit_trees(o.X, o.y, o.weights, o.penalty, [0.001], given, o.X, rising)[0]
    assert tree.run.stopped
    assert len(tree.run.values) == 3


def test_lambda_max_is_the_smallest_without_priced_weights_in_a_single_classifier():
    for seed in range(10):
        o, _ = random_objective(seed, rho=0.0, columns=3)
        if not len(o.penalty.weights):
            continue
        top = lambda_max(o.X, o.y, o.weights, 0.0, o.penalty)
        priced = o.penalty.sum_over(o.penalty.weights) > 0
        over, _, _ = Descent(replace(o, lambda_=top * 1.01)).as_leaf(State.zeros(Shape((1,)), 3), 0)
        under, _, _ = Descent(replace(o, lambda_=top * 0.97)).as_leaf(State.zeros(Shape((1,)), 3), 0)
        if not priced.all():
            continue  # a free column may replace it
        assert not over.any()
        assert under.any()


def test_rho_max_is_the_smallest_without_weights_in_a_single_classifier():
    for seed in range(10):
        o, _ = random_objective(seed, lambda_=0.0)
        top = rho_max(o.X, o.y, o.weights)
        for factor, some in ((1.01, False), (0.97, True)):
            beta, _, _ = Descent(replace(o, rho=top * factor)).as_leaf(State.zeros(Shape((1,)), 4), 0)
            assert beta.any() == some


def test_without_prices_lambda_max_is_zero():
    o, _ = random_objective(0)
    free = Penalty.build(Costs(np.zeros(4)), [np.array([t]) for t in range(4)])
    assert lambda_max(o.X, o.y, o.weights, 0.0, free) == 0.0
