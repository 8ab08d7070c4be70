"""Flat forests, compared with scikit-learn, plain Python walks and brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from bench_models.forest import FlatForest, ForestPolicy, from_sklearn, price_units
from bench_models.forest.grower import Growth, grow
from bench_models.forest.spread import spread_over_cost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

from bench_core import Costs, RequestError, Rows

X, Y = load_wine(return_X_y=True)


def walked(forest: FlatForest, x: np.ndarray) -> tuple[set[int], np.ndarray]:
    """Features met and mean leaf distribution, in plain Python."""
    met, total = set(), np.zeros(forest.classes)
    for root in forest.offsets[:-1]:
        h = root
        while forest.column[h] >= 0:
            met.add(int(forest.feature_of_column[forest.column[h]]))
            value = x[forest.column[h]]
            left = forest.missing_left[h] if np.isnan(value) else np.float32(value) <= forest.threshold[h]
            h = forest.left[h] if left else forest.right[h]
        total += forest.counts[h] / forest.counts[h].sum()
    return met, total / forest.trees


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("missing", [False, True])
def test_probabilities_are_scikit_learns(kind, criterion, missing):
    rows = X.copy()
    if missing:
        rows[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = kind(15, criterion=criterion, random_state=1).fit(rows[::2], Y[::2])
    decided = ForestPolicy(from_sklearn(model), X.shape[1]).decide(Rows(rows))
    assert np.abs(decided.probabilities - model.predict_proba(rows)).max() < 1e-12


def test_trees_grown_best_first_are_put_in_order():
    model = RandomForestClassifier(10, max_leaf_nodes=9, random_state=0).fit(X, Y)
    decided = ForestPolicy(from_sklearn(model), X.shape[1]).decide(Rows(X))
    assert np.abs(decided.probabilities - model.predict_proba(X)).max() < 1e-12


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000))
def test_rows_in_a_pruned_forest_take_the_path_of_a_plain_walk(seed):
    rng = np.random.default_rng(seed)
    features = np.arange(13) // 2
    forest = from_sklearn(RandomForestClassifier(5, random_state=seed).fit(X, Y), features)
    opened = forest.inner & (rng.random(forest.nodes) < 0.8)
    for h in range(forest.nodes):
        opened[h] &= forest.parent[h] < 0 or opened[forest.parent[h]]
    pruned = forest.pruned(opened)
    decided = ForestPolicy(pruned, 7).decide(Rows(X))
    for i in range(0, len(X), 10):
        met, shares = walked(pruned, X[i])
        assert set(np.flatnonzero(decided.acquired[i])) == met
        assert decided.probabilities[i] == pytest.approx(shares, abs=1e-12)
    assert pruned.error[~pruned.inner].sum() == pytest.approx(forest.error[forest.leaves(opened)].sum())


def test_many_rows_and_threads_decide_as_few_rows_do():
    forest = from_sklearn(RandomForestClassifier(9, random_state=0).fit(X, Y))
    many = np.tile(X, (30, 1))
    two = ForestPolicy(forest, 13, threads=2).decide(Rows(many))
    one = ForestPolicy(forest, 13).decide(Rows(X))
    assert (two.probabilities == np.tile(one.probabilities, (30, 1))).all()
    assert (two.acquired == np.tile(one.acquired, (30, 1))).all()


def test_a_pruning_below_a_leaf_is_refused():
    forest = from_sklearn(RandomForestClassifier(1, random_state=0).fit(X, Y))
    opened = forest.inner.copy()
    opened[0] = False
    with pytest.raises(ValueError, match="pruning"):
        forest.pruned(opened)


def test_in_bag_errors_are_those_of_the_bag():
    model = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, Y)
    forest = from_sklearn(model)
    at, total = forest.leaves(forest.inner), 0.0
    for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        total += (tree.predict(X[drawn]) != Y[drawn]).mean() / 4
    assert forest.error[at].sum() == pytest.approx(total)


def test_an_invalid_forest_is_refused():
    model = RandomForestClassifier(2, random_state=0)
    with pytest.raises(RequestError, match="fit it"):
        from_sklearn(model)
    model.fit(X, Y)
    with pytest.raises(RequestError, match=r"on .13. columns"):
        from_sklearn(model, np.arange(5))
    with pytest.raises(RequestError, match="classes"):
        from_sklearn(model, classes=2)
    with pytest.raises(RequestError, match="classify"):
        from_sklearn(RandomForestRegressor(2).fit(X, Y))
    with pytest.raises(ValueError, match="columns"):
        ForestPolicy(from_sklearn(model), 13).decide(Rows(X[:, :5]))


def test_a_class_missing_from_the_bags_gets_probability_zero():
    model = RandomForestClassifier(3, random_state=0).fit(X[Y != 1], Y[Y != 1])
    shares = ForestPolicy(from_sklearn(model, classes=3), 13).decide(Rows(X)).probabilities
    assert shares.shape == (len(X), 3)
    assert (shares[:, 1] == 0).all()


def test_trees_of_a_single_node_decide_without_acquiring():
    model = RandomForestClassifier(3, min_samples_leaf=170, random_state=0).fit(X, Y)
    decided = ForestPolicy(from_sklearn(model), 13).decide(Rows(X))
    assert not decided.acquired.any()
    assert np.abs(decided.probabilities - model.predict_proba(X)).max() < 1e-12
    assert (decided.evaluations == 0).all()


def test_free_features_and_groups_are_not_units():
    units = price_units(Costs(np.array([1.0, 0.0, 2.0]), np.array([0, 0, 1]), np.array([3.0, 0.0])))
    assert units.own.tolist() == [0, -1, 1]
    assert units.group.tolist() == [2, 2, -1]
    assert units.prices.tolist() == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_the_presorted_grower_without_bootstrap_grows_scikit_learns_tree(criterion):
    forest = grow(X, Y, 3, np.arange(13), Growth(1, criterion, bootstrap=False))
    own = ForestPolicy(forest, 13).decide(Rows(X)).probabilities
    tree = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, Y)
    assert np.abs(own - tree.predict_proba(X)).max() < 1e-12
    assert abs(forest.nodes - tree.tree_.node_count) <= 4  # equal splits may be of another column


def fall(criterion: str, y: np.ndarray, left: np.ndarray, classes: int) -> float:
    """The decrease of F by a cut, from its definition."""

    def f(part: np.ndarray) -> float:
        n, counts = len(part), np.bincount(part, minlength=classes)
        p = counts[counts > 0] / max(n, 1)
        if criterion == "pairs":
            return float(n * n - (counts**2).sum())
        return n * float(-(p * np.log2(p)).sum() if criterion == "entropy" else 1 - (p**2).sum())

    parts = f(y[left]), f(y[~left])
    return f(y) - (max(parts) if criterion == "pairs" else sum(parts))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32), st.sampled_from(["entropy", "gini", "pairs"]), st.booleans(), st.integers(1, 3),
    st.sampled_from([2, 6, 1000]),
)  # fmt: skip
def test_every_split_is_the_best_of_its_rows_and_leaves_have_none(seed, criterion, weighted, min_leaf, values):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, values, (40, 4)).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 40)
    prices = rng.uniform(0.5, 5, 4) if weighted else np.ones(4)
    forest = grow(rows, y, 3, np.arange(4), Growth(1, criterion, prices, min_leaf=min_leaf, bootstrap=False))

    def falls(here: np.ndarray, j: int) -> list[float]:
        cuts = np.unique(rows[here, j][~np.isnan(rows[here, j])])
        lefts = [rows[here, j] <= cut for cut in cuts]
        enough = [left for left in lefts if min_leaf <= left.sum() <= len(here) - min_leaf]
        return [fall(criterion, y[here], left, 3) / prices[j] for left in enough]

    waiting = [(0, np.arange(40))]
    while waiting:
        node, here = waiting.pop()
        assert forest.counts[node].tolist() == np.bincount(y[here], minlength=3).tolist()
        best = max((max(score, 0.0) for j in range(4) for score in falls(here, j)), default=None)
        j = forest.column[node]
        if j < 0:
            assert best is None or len(np.unique(y[here])) == 1 or len(here) < 2 * min_leaf
            continue
        left = rows[here, j] <= forest.threshold[node]
        assert min_leaf <= left.sum() <= len(here) - min_leaf
        assert max(fall(criterion, y[here], left, 3), 0.0) / prices[j] == pytest.approx(best, abs=1e-9)
        waiting += [(forest.left[node], here[left]), (forest.right[node], here[~left])]


def test_stopping_one_branch_early_does_not_change_the_others():
    deep = grow(X, Y, 3, np.arange(13), Growth(3, "entropy", tried=3), seed=5)
    flat = grow(X, Y, 3, np.arange(13), Growth(3, "entropy", tried=3, max_depth=2), seed=5)
    cut = deep.pruned(deep.inner & (deep.depth < 2))
    assert (cut.column == flat.column).all()
    assert (cut.threshold == flat.threshold).all()


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match="float32"):
        grow(np.array([[1.0], [1e300]]), np.array([0, 1]), 2, np.arange(1), Growth(1, "pairs"))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 8))
def test_chosen_parameters_are_at_even_steps_of_cost(drops: list[int], count: int) -> None:
    costs = [float(sum(drops[i:])) for i in range(len(drops))]
    values = [float(i) for i in range(len(drops))]
    chosen = spread_over_cost(values, lambda value: costs[int(value)], count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= count
    assert chosen[-1] == values[-1]
    if count > 1:
        assert chosen[0] == values[0]
        # No step is wider than an even step plus the widest single drop.
        steps = [costs[int(a)] - costs[int(b)] for a, b in pairwise(chosen)]
        even = (costs[0] - costs[-1]) / (count - 1)
        assert max(steps, default=0) <= 2 * even + 2 * max(drops)
