"""Growing one tree: the best split, prices, and free features; the compiled form equals its reference."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from bench_greedymiser.bins import fit_bins
from bench_greedymiser.prices import Penalties
from bench_greedymiser.tree import Spent, grow_compiled, grow_tree, summable
from hypothesis import given, settings
from hypothesis import strategies as st


def penalties(feature, group_of=None, group=(0.0,)):
    feature = np.asarray(feature, dtype=np.float64)
    none = np.full(len(feature), -1)
    return Penalties(feature, none if group_of is None else np.asarray(group_of), np.asarray(group, dtype=float))


@st.composite
def cases(draw, missing=True):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, columns = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    levels = draw(st.sampled_from([2, 4, 1000]))
    X = rng.integers(0, levels, (rows, columns)).astype(np.float64) / 3
    if missing and draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    if draw(st.booleans()):
        # One-hot columns of a category, and further binary columns.
        X = np.hstack([X, np.eye(4)[rng.integers(0, 4, rows), : draw(st.integers(2, 4))]])
        X = np.hstack([X, rng.integers(0, 2, (rows, 2)).astype(np.float64)])[:, rng.permutation(X.shape[1] + 2)]
        columns = X.shape[1]
    residual = rng.normal(size=rows) if draw(st.booleans()) else rng.integers(-2, 3, rows).astype(np.float64)
    scale = draw(st.sampled_from([0.0, 0.3, 3.0]))
    prices = penalties(scale * rng.integers(0, 3, columns), rng.integers(-1, 2, columns), scale * rng.integers(0, 3, 2))
    return X, residual, prices, draw(st.integers(1, 4)), draw(st.integers(1, 4))


def cost_now(prices, used, opened, feature):
    if used[feature]:
        return 0.0
    group = prices.group_of[feature]
    return prices.feature[feature] + (prices.group[group] if group >= 0 and not opened[group] else 0.0)


def sse(y):
    return float(((y - y.mean()) ** 2).sum()) if len(y) else 0.0


def every_split(X, y, least):
    """(column, gain) of every split of the rows by one column's values, with missing values on either side."""
    for column in range(X.shape[1]):
        x = X[:, column]
        gone = np.isnan(x)
        for at, side in itertools.product([*np.unique(x[~gone]), -np.inf], (False, True)):
            left = np.where(gone, side, x <= at)
            if min(left.sum(), (~left).sum()) >= least:
                yield column, sse(y) - sse(y[left]) - sse(y[~left])


@pytest.mark.parametrize("grow", [grow_tree, grow_compiled])
@given(cases())
@settings(max_examples=60, deadline=None)
def test_every_node_gets_the_best_split_that_pays(grow, case):
    X, residual, prices, depth, least = case
    bins = fit_bins(X)
    spent = Spent.nothing(prices)
    tree = grow(bins, np.arange(X.shape[1]), residual, prices, spent, depth, least)
    used, opened = Spent.nothing(prices)
    rows = {0: np.arange(len(X))}
    depth_of = {0: 0}
    for at in range(len(tree.column)):
        here = rows[at]
        y = residual[here]
        nets = [gain - cost_now(prices, used, opened, c) for c, gain in every_split(X[here], y, least)]
        best = max(nets, default=-np.inf) if depth_of[at] < depth else -np.inf
        column = tree.column[at]
        if column < 0:
            assert best <= 1e-9
            continue
        x = X[here, column]
        left = np.where(np.isnan(x), tree.missing_left[at], x <= bins.thresholds[column, tree.cut[at]])
        assert min(left.sum(), (~left).sum()) >= least
        net = sse(y) - sse(y[left]) - sse(y[~left]) - cost_now(prices, used, opened, column)
        assert net == pytest.approx(best, abs=1e-9)
        used[column] = True
        if prices.group_of[column] >= 0:
            opened[prices.group_of[column]] = True
        for child, part in ((tree.left[at], here[left]), (tree.left[at] + 1, here[~left])):
            rows[child], depth_of[child] = part, depth_of[at] + 1
    assert (used == spent.used).all()
    assert (opened == spent.opened).all()
    for at in np.flatnonzero(tree.column < 0):
        assert (np.flatnonzero(tree.node == at) == np.sort(rows[at])).all()


@given(cases(), st.integers(2, 6), st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_compiled_trees_equal_those_of_the_reference_implementation(case, n_bins, depth):
    X, residual, prices, _, least = case
    bins = fit_bins(X, n_bins)
    features = np.arange(X.shape[1]) // 2
    own = penalties(prices.feature[: features[-1] + 1], prices.group_of[: features[-1] + 1], prices.group)
    one, two = Spent.nothing(own), Spent.nothing(own)
    for _ in range(2):
        a = grow_tree(bins, features, residual, own, one, depth, least)
        b = grow_compiled(bins, features, residual, own, two, depth, least)
        for x, y in zip((*a, *one), (*b, *two), strict=True):
            np.testing.assert_array_equal(x, y)


def test_a_feature_costs_nothing_after_its_first_split():
    # Root: x0 gains 4·4 − 0 = 16 > 10. Below it, x0 gains 1 each and x1, unpaid, at most 1 − 10 < 0.
    X = np.array([[0, 0], [1, 1], [2, 0], [3, 1]], dtype=float)
    residual = np.array([-3.0, -1.0, 1.0, 3.0])
    prices = penalties([10.0, 10.0])
    spent = Spent.nothing(prices)
    tree = grow_tree(fit_bins(X), np.arange(2), residual, prices, spent, 2, 1)
    assert tree.column.tolist() == [0, 0, 0, -1, -1, -1, -1]
    assert spent.used.tolist() == [True, False]
    # A later tree whose gains (1 at most) never reach the price still splits on x0, and only on it.
    later = grow_tree(fit_bins(X), np.arange(2), residual / 10, prices, spent, 1, 1)
    assert later.column.tolist() == [0, -1, -1]
    fresh = grow_tree(fit_bins(X), np.arange(2), residual / 10, prices, Spent.nothing(prices), 1, 1)
    assert fresh.column.tolist() == [-1]


@pytest.mark.parametrize("grow", [grow_tree, grow_compiled])
def test_a_split_is_made_only_where_it_gains_more_than_its_price(grow):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    residual = np.array([-1.0, -1.0, 1.0, 1.0])  # a split at x0 gains 4
    for price, made in ((3.0, True), (4.0, False), (5.0, False)):
        prices = penalties([price])
        tree = grow(fit_bins(X), np.arange(1), residual, prices, Spent.nothing(prices), 1, 1)
        assert (tree.column[0] == 0) == made


def test_a_node_pays_and_its_right_neighbour_splits_for_free():
    # After x0 splits the rows four to four, x1 explains 4 on either side: the left node pays 3, the right one nothing.
    X = np.array([[a, b] for a in (0, 1) for b in (0, 0, 1, 1)], dtype=float)
    residual = np.where(X[:, 0] > 0, 5.0, -5.0) + np.where(X[:, 1] > 0, 1.0, -1.0) * np.repeat([1.0, 0.5], 4)
    prices = penalties([0.0, 3.0])
    tree = grow_compiled(fit_bins(X), np.arange(2), residual, prices, Spent.nothing(prices), 2, 1)
    assert tree.column[:3].tolist() == [0, 1, 1]
    expensive = penalties([0.0, 4.5])
    tree = grow_compiled(fit_bins(X), np.arange(2), residual, expensive, Spent.nothing(expensive), 2, 1)
    assert tree.column.tolist() == [0, -1, -1]


def test_a_group_is_paid_once():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    residual = np.array([-3.0, -1.0, 1.0, 3.0])  # x0 explains 16, then x1 explains 2 on each side
    grouped = penalties([0.0, 0.0], [0, 0], [12.0])
    tree = grow_compiled(fit_bins(X), np.arange(2), residual, grouped, Spent.nothing(grouped), 2, 1)
    assert tree.column[:3].tolist() == [0, 1, 1]
    single = penalties([12.0, 12.0])
    tree = grow_compiled(fit_bins(X), np.arange(2), residual, single, Spent.nothing(single), 2, 1)
    assert tree.column.tolist() == [0, -1, -1]


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_changes_no_split(case, random):
    X, residual, prices, depth, least = case
    order = random.sample(range(len(X)), len(X))
    one, two = (
        grow_compiled(
            fit_bins(X[rows]), np.arange(X.shape[1]), residual[rows], prices, Spent.nothing(prices), depth, least
        )
        for rows in (np.arange(len(X)), np.array(order))
    )
    for a, b in zip(one[:4], two[:4], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.node[order], two.node)


def test_of_two_columns_with_the_same_splits_the_first_is_bought():
    # The columns mirror each other, so their gains are equal; rounding must not decide.
    rng = np.random.default_rng(0)
    for grow in (grow_tree, grow_compiled):
        for _ in range(50):
            x = rng.integers(0, 2, 60).astype(np.float64)
            X = np.column_stack([np.zeros(60), x, 1 - x, x])
            prices = penalties([0.0, 1e-3, 1e-3, 1e-3])
            residual = rng.normal(size=60) + x
            tree = grow(fit_bins(X), np.arange(4), residual, prices, Spent.nothing(prices), 1, 1)
            assert tree.column[0] == 1


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60),
    st.sampled_from([1e-320, 1e-200, 1.0, 1e200]),
    st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_sums_of_rounded_residuals_are_exact_in_any_order(values, scale, random):
    residual = np.array(values) * scale
    rounded = summable(residual)
    assert np.abs(rounded - residual).max() <= np.abs(residual).max() * len(residual) * 2.0**-52
    exact = sum((Fraction(value) for value in rounded.tolist()), Fraction(0))
    for _ in range(3):
        total = 0.0
        for i in random.sample(range(len(values)), len(values)):
            total += float(rounded[i])
        assert Fraction(total) == exact


def test_values_on_the_grid_are_not_rounded():
    residual = np.array([-3.0, 0.5, 0.0, 2.25])
    np.testing.assert_array_equal(summable(residual), residual)
    np.testing.assert_array_equal(summable(np.zeros(3)), np.zeros(3))


@given(st.integers(0, 2**32), st.integers(2, 255), st.sampled_from([1, 5, 300, 700]))
@settings(max_examples=60, deadline=None)
def test_bins_and_thresholds_split_rows_alike(seed, n_bins, levels):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (400, 2)) * 0.1 + 1e9 * (seed % 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    bins = fit_bins(X, n_bins)
    for column in range(2):
        x, values = X[:, column], int(bins.n_values[column])
        distinct = len(np.unique(x[~np.isnan(x)]))
        assert values == distinct if distinct <= n_bins else 2 <= values <= n_bins
        assert ((bins.codes[column] == values) == np.isnan(x)).all()
        for cut in range(values):
            assert ((bins.codes[column] <= cut) == (x <= bins.thresholds[column, cut])).all()


def test_quantile_bins_hold_about_equally_many_rows():
    x = np.random.default_rng(0).exponential(size=10_000)
    bins = fit_bins(x[:, None], 50)
    assert np.bincount(bins.codes[0]).tolist() == pytest.approx([200] * 50, abs=1)


def test_neighbouring_floats_have_a_threshold_between_them():
    below = 1.0
    above = np.nextafter(below, 2.0)
    bins = fit_bins(np.array([[below], [above]]))
    assert below <= bins.thresholds[0, 0] < above
    huge = np.array([[-1.7e308], [1.7e308]])
    assert fit_bins(huge).thresholds[0, 0] == 0.0
