"""Trees: the compiled grower compared with its reference implementation, and that with hand-written arithmetic."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from bench_cost_trees.criteria import Criterion, choose, entropy_sums, two_to_the_less_one
from bench_cost_trees.induction import Grower, Limits, best_threshold, grow_compiled, grow_plain, middle
from bench_cost_trees.prices import Prices
from hypothesis import given, settings
from hypothesis import strategies as st

CRITERIA = [Criterion("gain"), Criterion("gain-ratio"), Criterion("eg2", 1.0), Criterion("eg2", 0.3), Criterion("idx"),
            Criterion("cs-id3")]  # fmt: skip


def entropy(labels) -> float:
    """In bits, from its definition."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -math.fsum(p * math.log2(p) for p in shares.tolist())


def unit_prices(features: int) -> Prices:
    return Prices(np.ones(features), np.ones(features), np.full(features, -1))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), depth=st.sampled_from([None, 1, 3]), leaf=st.integers(1, 4), by_path=st.booleans())
def test_the_compiled_grower_equals_its_reference_implementation_bit_for_bit(table, seed, depth, leaf, by_path):
    grower, prices = table(seed)
    rows = np.random.default_rng(seed).permutation(len(grower.y))[: max(1, len(grower.y) * 3 // 4)]
    allowed = np.arange(len(prices.first)) != seed % 7
    for criterion in CRITERIA:
        limits = Limits(depth, 2 + seed % 3, leaf)
        trees = [
            grow(grower, rows, criterion, prices, limits, by_path=by_path, allowed=allowed)
            for grow in (grow_plain, grow_compiled)
        ]
        for name in ("column", "threshold", "missing_left", "left", "counts"):
            assert np.array_equal(getattr(trees[0], name), getattr(trees[1], name)), (criterion, name)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), leaf=st.integers(1, 3))
def test_the_best_threshold_is_the_best_of_all(seed, leaf):
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(2, 25)), int(rng.integers(2, 5))
    values, y = rng.integers(0, 8, n).astype(float), rng.integers(0, classes, n)
    values[rng.random(n) < 0.2] = np.nan
    known = ~np.isnan(values)
    best = 0.0
    for a, b in itertools.pairwise(np.unique(values[known])):
        left, right = y[known & (values <= (a + b) / 2)], y[known & (values > (a + b) / 2)]
        if min(len(left), len(right)) < leaf:
            continue
        both = known.sum()
        gain = entropy(y[known]) - len(left) / both * entropy(left) - len(right) / both * entropy(right)
        best = max(best, both / n * gain)
    found = best_threshold(values, y, classes, entropy_sums(n), leaf)
    assert (found[0] / n if found else 0.0) == pytest.approx(best, abs=1e-7)
    if found:
        left, right = known & (values <= found[2]), known & (values > found[2])
        parts = np.concatenate([np.zeros(left.sum()), np.ones(right.sum()), np.full((~known).sum(), 2)])
        assert found[1] / n == pytest.approx(entropy(parts))
        assert found[3] == (left.sum() >= right.sum())


def test_equal_thresholds_columns_and_prices_go_to_the_first():
    X = np.array([[0, 0, 9], [1, 1, 9], [2, 2, 9], [3, 3, 9]], dtype=float)
    y = np.array([0, 1, 1, 0])
    tree = grow_compiled(
        Grower.of(X, y, 2, np.arange(3)), np.arange(4), Criterion("gain"), unit_prices(3), Limits(1, 2, 1), by_path=True
    )
    assert (tree.column[0], tree.threshold[0]) == (0, 0.5)


@given(gain=st.floats(0, 1))
def test_the_series_is_the_power_less_one(gain):
    assert two_to_the_less_one(gain) == pytest.approx(math.expm1(gain * math.log(2)), rel=1e-14)


@given(seed=st.integers(0, 10**6))
def test_scores_follow_the_published_formulas(seed):
    rng = np.random.default_rng(seed)
    gains, prices = rng.random(5), rng.random(5) * 20 + 0.1
    information, omega = rng.random(5) + 0.1, float(rng.random())
    worths = {
        "eg2": (2.0**gains - 1) / (prices + 1) ** omega,
        "idx": gains / prices,
        "cs-id3": gains**2 / prices,
        "gain": gains,
        "gain-ratio": np.where(gains >= gains.mean(), gains / information, 0.0),
    }
    for name, worth in worths.items():
        criterion = Criterion(name, omega)
        assert choose(name, gains, information, criterion.divisors(prices)) == worth.argmax()


@pytest.mark.parametrize("name", ["idx", "cs-id3"])
def test_the_most_informative_free_test_comes_first(name):
    gains, prices = np.array([0.9, 0.1, 0.2, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])
    assert choose(name, gains, np.ones(4), Criterion(name).divisors(prices)) == 2
    assert choose(name, np.array([0.9, 0.0, 0.0, 0.0]), np.ones(4), Criterion(name).divisors(prices)) == 0


def test_sums_of_the_entropy_table_are_exact_in_any_order():
    sums = entropy_sums(5000)
    assert sums[2] == 2.0
    assert np.abs(sums[1:] - np.arange(1, 5001) * np.log2(np.arange(1, 5001))).max() < 1e-9
    some = np.random.default_rng(0).integers(0, 5000, 200)
    some = some[np.cumsum(some) <= 20_000]
    assert len({float(sums[np.random.default_rng(s).permutation(some)].cumsum()[-1]) for s in range(20)}) == 1


@given(low=st.floats(allow_nan=False, allow_infinity=False), high=st.floats(allow_nan=False, allow_infinity=False))
def test_a_threshold_separates_its_two_values(low, high):
    if low < high:
        assert low <= middle(low, high) < high


def test_a_paid_group_makes_tests_cheaper_and_a_repeated_test_is_free():
    # Feature 0 is the best test at the root. Below it, features 1 and 2 are equally good; 2 is cheaper unless the paid
    # group is taken into account.
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    y = np.where(a == 1, 0, 1 + b)
    X = np.column_stack([a, b, b]).astype(float)
    prices = Prices(np.array([1.0, 11.0, 5.0]), np.array([0.5, 1.0, 5.0]), np.array([0, 0, -1]))
    grower = Grower.of(X, y, 3, np.arange(3))
    chosen = {}
    for by_path in (True, False):
        tree = grow_compiled(grower, np.arange(400), Criterion("eg2"), prices, Limits(), by_path=by_path)
        assert tree.column[0] == 0
        chosen[by_path] = set(tree.column[1:].tolist()) - {-1}
    assert chosen == {True: {1}, False: {2}}


def test_rows_with_a_missing_value_follow_the_larger_child_and_lower_the_gain():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [np.nan]])
    y = np.array([0, 0, 0, 1, 1, 1])
    tree = grow_compiled(
        Grower.of(X, y, 2, np.zeros(1, dtype=int)),
        np.arange(6),
        Criterion("gain"),
        unit_prices(1),
        Limits(),
        by_path=True,
    )
    assert tree.missing_left[0]
    assert tree.counts[1].tolist() == [3, 1]
    leaf, met = tree.route(np.array([[np.nan], [0.4], [0.6]]))
    assert leaf.tolist() == [1, 1, 2]
    assert [(sorted(rows.tolist()), column) for rows, column in met] == [([0, 1, 2], 0)]
