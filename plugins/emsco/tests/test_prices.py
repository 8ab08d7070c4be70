"""Subset costs are exact sums: equal decimal sums tie, and groups are paid once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from bench_emsco.prices import SubsetPrices
from hypothesis import given, settings
from hypothesis import strategies as st

prices = st.lists(st.decimals(min_value=0, max_value=1000, places=3), min_size=1, max_size=7)


@settings(max_examples=60, deadline=None)
@given(features=prices, data=st.data())
def test_table_is_the_exact_sum_of_prices_and_groups(features, data):
    n = len(features)
    groups = data.draw(st.lists(st.lists(st.integers(0, n - 1), max_size=n), max_size=3))
    group_prices = data.draw(st.lists(st.integers(0, 50), min_size=len(groups), max_size=len(groups)))
    costs = SubsetPrices([float(p) for p in features], groups, group_prices, rows=1000)
    assert costs.exact
    table = costs.subset_cost_table()
    for mask in range(1 << n):
        held = {f for f in range(n) if mask >> f & 1}
        expected = sum(Fraction(features[f]) for f in held)
        expected += sum(price for group, price in zip(groups, group_prices, strict=True) if held & set(group))
        assert Fraction(int(table[mask])) / costs.scale == expected


def test_tenths_add_up():
    table = SubsetPrices([0.1, 0.2, 0.3]).subset_cost_table()
    assert table.dtype == np.int64
    assert table[0b011] == table[0b100]


def test_common_factor_is_taken_out():
    costs = SubsetPrices([100, 300, 200])
    assert costs.subset_cost_table().tolist() == [0, 1, 3, 4, 2, 3, 5, 6]
    np.testing.assert_array_equal(costs.in_price([1, 6]), [100.0, 600.0])


def test_incommensurable_prices_fall_back_to_floats():
    costs = SubsetPrices([1e-300, 1.0], rows=10)
    assert not costs.exact
    assert costs.subset_cost_table().dtype == np.float64
    assert costs.subset_cost_table()[0b10] == 1.0
    assert costs.in_price(costs.costs_of([2]))[0] == 1.0


def test_other_number_types_and_free_features_are_taken():
    table = SubsetPrices([Decimal("0.5"), Fraction(1, 3), 0, np.float64(2)]).subset_cost_table()
    assert table[0b1111] == 17
    assert SubsetPrices([0, 0]).subset_cost_table().tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([-1.0],), "not negative"),
        (([float("inf")],), "finite"),
        (([1.0], [[1]], [1]), "outside"),
        (([1.0], [[0]], []), "group_prices"),
    ],
)
def test_wrong_input_is_named(arguments, word):
    with pytest.raises(ValueError, match=word):
        SubsetPrices(*arguments)


def test_unpriced_feature_is_named():
    with pytest.raises(ValueError, match="masks"):
        SubsetPrices([1, 2]).costs_of([4])
