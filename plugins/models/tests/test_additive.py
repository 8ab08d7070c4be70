"""Striking out leaves, walking and the plain walk give the same scores and read the same features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_models.trees import ZERO_LEFT, ZERO_RIGHT, AdditiveTrees, FlatTrees, next_units, sibling_order, walk_plain
from hypothesis import given, settings
from hypothesis import strategies as st


def flat_trees(root, unit_of_column, zero, column, threshold, missing, left, right, value):
    """`FlatTrees` from nodes in any order."""
    order, place = sibling_order(root, column, left, right)
    left = np.where(column >= 0, place[left], -1)[order].astype(np.int32)
    return FlatTrees(
        place[root], column[order], threshold[order], left, missing[order], value[order, None], unit_of_column, zero
    )


def grown(rng, trees, most_leaves, columns=5, outputs=1, features=None, zero=0.0):
    """Random trees: at every step a random leaf is split, at a threshold that values often equal."""
    feature_of_column = np.arange(columns) if features is None else np.asarray(features)
    parts = {name: [] for name in ("column", "threshold", "missing", "left", "right", "value")}
    roots = []

    def leaf():
        for name, value in zip(parts, (-1, np.nan, 0, -1, -1, rng.normal()), strict=True):
            parts[name].append(value)
        return len(parts["column"]) - 1

    for _ in range(trees):
        open_leaves = [leaf()]
        roots.append(open_leaves[0])
        for _ in range(int(rng.integers(0, most_leaves))):
            # Mostly the newest leaf, so that some trees are long chains.
            at = open_leaves.pop(-1 if rng.random() < 0.5 else int(rng.integers(len(open_leaves))))
            parts["column"][at] = int(rng.integers(columns))
            parts["threshold"][at] = float(rng.integers(-2, 3))
            parts["missing"][at] = int(rng.integers(4))
            children = [leaf(), leaf()]
            if rng.random() < 0.5:
                children.reverse()
            parts["left"][at], parts["right"][at] = children
            open_leaves += children
    kinds = (np.int32, np.float64, np.int8, np.int32, np.int32, np.float64)
    arrays = {name: np.array(parts[name], dtype=kind) for name, kind in zip(parts, kinds, strict=True)}
    flat = flat_trees(np.array(roots, dtype=np.int64), feature_of_column, zero, **arrays)
    return AdditiveTrees(flat, outputs, int(feature_of_column.max()) + 1)


def plain(trees, X):
    """Scores and features by a plain walk."""
    scores, acquired = trees.empty(len(X))
    for row, x in enumerate(X):
        leaves, units = walk_plain(trees.flat, x)
        acquired[row, list(units)] = True
        for tree, leaf in enumerate(leaves):
            scores[row, tree % trees.outputs] += trees.flat.value[leaf, 0]
    return scores, acquired


def odd_rows(rng, rows, columns=5):
    """Thresholds themselves, values between them, zeros of both signs, nearly zeros, NaN, infinities."""
    some = [-np.inf, -2.0, -1.5, -1e-36, -0.0, 0.0, 1e-36, 0.5, 1.0, 2.0, np.inf, np.nan]
    return rng.choice(some, size=(rows, columns))


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**31 - 1),
    most_leaves=st.sampled_from([1, 2, 6, 64, 65, 90]),
    outputs=st.integers(1, 3),
    zero=st.sampled_from([0.0, 1e-35]),
    rows=st.sampled_from([0, 1, 127, 128, 129, 300]),
)
@settings(max_examples=60, deadline=None)
def test_scores_and_features_are_those_of_a_plain_walk(seed, most_leaves, outputs, zero, rows):
    rng = np.random.default_rng(seed)
    trees = grown(rng, 7, most_leaves, outputs=outputs, zero=zero)
    X = odd_rows(rng, rows)
    expected, read = plain(trees, X)
    scores, acquired = trees.run(X)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(acquired, read)


@given(
    seed=st.integers(0, 2**31 - 1),
    zero=st.sampled_from([0.0, 1e-35]),
    single=st.booleans(),
    last=st.sampled_from([0, 3, 7]),
    placeholder=st.sampled_from([0.0, -7.5]),
)
@settings(max_examples=60, deadline=None)
def test_rows_that_start_with_nothing_acquire_what_their_paths_read(seed, zero, single, last, placeholder):
    rng = np.random.default_rng(seed)
    trees = grown(rng, 7, 9, features=[0, 0, 1, 2, 2], zero=zero)
    flat = trees.flat._replace(single=single)
    X = odd_rows(rng, 20)
    read = np.zeros((20, trees.n_features), dtype=bool)
    for row, x in enumerate(X):
        read[row, list(walk_plain(flat._replace(root=flat.root[:last]), x)[1])] = True
    known = np.zeros_like(read)
    for _ in range(trees.n_features + 1):
        shown = np.where(known[:, flat.unit_of_column], X, placeholder)
        wanted = next_units(flat, shown, known, last)
        assert not (wanted & known).any()
        known |= wanted
    assert not wanted.any()
    np.testing.assert_array_equal(known, read)


def chain(leaves, to_the_right):
    """One tree that always splits the same side: columns 0, 1, …; leaf values 1, 2, … in order of visit."""
    inner = leaves - 1
    nodes = 2 * inner + 1
    column, value = np.full(nodes, -1, dtype=np.int32), np.zeros(nodes)
    left, right = np.full(nodes, -1, dtype=np.int32), np.full(nodes, -1, dtype=np.int32)
    for i in range(inner):
        at, leaf, on = 2 * i, 2 * i + 1, 2 * i + 2
        column[at], value[leaf] = i, i + 1
        left[at], right[at] = (leaf, on) if to_the_right else (on, leaf)
    value[-1] = leaves
    missing = np.zeros(nodes, dtype=np.int8)
    flat = flat_trees(
        np.zeros(1, dtype=np.int64), np.arange(inner), -1.0, column, np.zeros(nodes), missing, left, right, value
    )
    return AdditiveTrees(flat, 1, inner)


@pytest.mark.parametrize("leaves", [2, 63, 64, 65, 100])
@pytest.mark.parametrize("to_the_right", [True, False])
def test_a_tree_of_64_leaves_is_struck_out_and_a_larger_one_walked(leaves, to_the_right):
    trees = chain(leaves, to_the_right)
    assert (trees.tests is None) == (leaves > 64)
    stays, leaves_here = (1.0, -1.0) if to_the_right else (-1.0, 1.0)
    X = np.where(np.arange(leaves - 1) < np.arange(leaves)[:, None], stays, leaves_here)
    scores, acquired = trees.run(X)
    assert scores[:, 0].tolist() == list(range(1, leaves + 1))
    assert acquired.sum(axis=1).tolist() == [*range(1, leaves), leaves - 1]


def test_a_hundred_features_are_distinguished():
    rng = np.random.default_rng(3)
    trees = grown(rng, 40, 12, columns=150, features=np.repeat(np.arange(100), [1, 2] * 50))
    X = odd_rows(rng, 50, 150)
    expected, read = plain(trees, X)
    scores, acquired = trees.run(X)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(acquired, read)
    assert read[:, 64:].any()


def test_a_large_tree_among_small_ones_changes_no_score():
    rng = np.random.default_rng(5)
    small = grown(rng, 5, 8)
    X = odd_rows(rng, 200)
    walked = replace(small)
    walked.__dict__["tests"] = None
    for a, b in zip(small.run(X), walked.run(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_running_rounds_one_by_one_or_at_once_gives_the_same():
    rng = np.random.default_rng(1)
    trees = grown(rng, 12, 9, outputs=3)
    X = odd_rows(rng, 140)
    scores, acquired = trees.empty(len(X))
    for first in range(0, 12, 3):
        trees.advance(X, first, first + 3, scores, acquired)
    for got, complete in zip((scores, acquired), trees.run(X), strict=True):
        np.testing.assert_array_equal(got, complete)


def test_a_row_s_answer_does_not_depend_on_its_batch():
    rng = np.random.default_rng(2)
    trees = grown(rng, 9, 30, outputs=2)
    X = odd_rows(rng, 131)
    scores, acquired = trees.run(X)
    for row in (0, 1, 127, 128, 130):
        alone, read = trees.run(X[row : row + 1])
        np.testing.assert_array_equal(alone[0], scores[row])
        np.testing.assert_array_equal(read[0], acquired[row])


def test_missing_values_go_in_the_tests_direction_and_so_do_zeros_if_they_count_as_missing():
    one = chain(2, True)
    X = np.array([[np.nan], [0.0], [1e-36], [-1.0], [1.0]])
    for missing, expected in ((0, [1, 1, 1, 1, 2]), (1, [2, 1, 1, 1, 2]), (ZERO_LEFT, [1, 1, 1, 1, 2]),
                              (ZERO_RIGHT, [2, 2, 2, 1, 2])):  # fmt: skip
        trees = replace(one, flat=one.flat._replace(missing=np.full(3, missing, dtype=np.int8), zero=1e-35))
        assert trees.run(X)[0][:, 0].tolist() == expected


def test_trees_without_a_test_read_nothing():
    rng = np.random.default_rng(0)
    for trees in (grown(rng, 0, 1), grown(rng, 4, 1)):
        scores, acquired = trees.run(odd_rows(rng, 3))
        assert not acquired.any()
        np.testing.assert_allclose(scores[:, 0], trees.flat.value.sum())


@pytest.mark.parametrize("shape", [(4, 3), (4, 6), (5,)])
def test_rows_of_other_columns_are_refused(shape):
    trees = grown(np.random.default_rng(0), 2, 5)
    with pytest.raises(ValueError, match=r"the rows have .*, the trees were grown on 5 columns"):
        trees.run(np.zeros(shape))
