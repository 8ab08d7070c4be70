"""Prices and the bill, against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_core.contract.costs import Costs
from bench_core.contract.errors import DataError

price = st.floats(0, 100, allow_subnormal=False)


@st.composite
def priced_rows(draw):
    features, groups, degree, rows = (draw(st.integers(*bounds)) for bounds in ((1, 6), (0, 3), (0, 2), (0, 5)))
    table = [draw(st.lists(price, min_size=degree + 1, max_size=degree + 1)) for _ in range(features)]
    member = own = None
    if groups:
        member = draw(st.lists(st.integers(-1, groups - 1), min_size=features, max_size=features))
        own = [draw(st.lists(price, min_size=degree + 1, max_size=degree + 1)) for _ in range(groups)]
    acquired = draw(
        st.lists(st.lists(st.booleans(), min_size=features, max_size=features), min_size=rows, max_size=rows)
    )
    sizes = draw(st.lists(st.integers(0, 50).map(float), min_size=rows, max_size=rows))
    return Costs(table, member, own), np.array(acquired, dtype=bool).reshape(rows, features), np.array(sizes)


def loop_bill(costs, acquired, sizes):
    def at(polynomial, size):
        return sum(coefficient * size**power for power, coefficient in enumerate(polynomial))

    bills = []
    for row, size in zip(acquired, sizes, strict=True):
        bill, open_groups = 0.0, set()
        for feature, bought in enumerate(row):
            if not bought:
                continue
            bill += at(costs.prices[feature].tolist(), size)
            group = -1 if costs.groups is None else int(costs.groups[feature])
            if group >= 0 and group not in open_groups:
                open_groups.add(group)
                bill += at(costs.group_prices[group].tolist(), size)
        bills.append(bill)
    return bills


@given(priced_rows())
def test_the_bill_equals_that_of_a_plain_loop(case):
    costs, acquired, sizes = case
    np.testing.assert_allclose(costs.bill(acquired, sizes), loop_bill(costs, acquired, sizes), rtol=1e-12)


@given(priced_rows())
def test_the_total_is_the_bill_of_everything_and_no_bill_exceeds_it(case):
    costs, acquired, sizes = case
    total = costs.total(len(acquired), sizes)
    np.testing.assert_allclose(total, costs.bill(np.ones_like(acquired), sizes), rtol=1e-12)
    assert (costs.bill(acquired, sizes) <= total * (1 + 1e-12)).all()


@given(priced_rows())
def test_plain_values_bring_back_equal_costs(case):
    costs, acquired, sizes = case
    again = Costs.from_plain(costs.as_plain())
    assert again.as_plain() == costs.as_plain()
    np.testing.assert_array_equal(again.bill(acquired, sizes), costs.bill(acquired, sizes))


def test_plain_values_bring_back_the_price_of_an_evaluation():
    costs = Costs([1.0, 2.0], evaluation=0.25)
    assert costs.as_plain()["evaluation"] == 0.25
    assert Costs.from_plain(costs.as_plain()).evaluation == 0.25


def test_prices_are_the_costs_own_and_cannot_be_written_to():
    given = np.array([1.0, 2.0])
    costs = Costs(given, np.array([0, -1]), np.array([3.0]), np.array([1, 2]))
    given[:] = 0.0
    assert costs.prices.ravel().tolist() == [1.0, 2.0]
    for name in ("prices", "groups", "group_prices", "classes"):
        with pytest.raises(ValueError, match="WRITEABLE"):
            getattr(costs, name).flags.writeable = True


def test_a_group_is_paid_once_with_its_first_feature():
    costs = Costs([1.0, 2.0, 4.0], groups=[0, 0, -1], group_prices=[10.0])
    assert costs.cost_of([]) == 0
    assert costs.cost_of([0]) == 11
    assert costs.cost_of([0, 1]) == 13
    assert costs.cost_of([2]) == 4
    assert costs.cost_of([0, 1, 2]) == 17


def test_prices_grow_with_the_item():
    costs = Costs([[1.0, 2.0, 3.0], [5.0, 0.0, 0.0]])
    assert costs.depends_on_size
    assert costs.cost_of([0], size=10) == 1 + 20 + 300
    assert costs.feature_prices(np.array([0.0, 1.0])).tolist() == [[1, 5], [6, 5]]
    assert costs.bill(np.array([[True, True], [False, True]]), np.array([2.0, 2.0])).tolist() == [22, 5]


def test_prices_whose_growth_is_zero_need_no_sizes():
    costs = Costs([[1.0, 0.0], [2.0, 0.0]], groups=[0, 0], group_prices=[[3.0, 0.0]])
    assert not costs.depends_on_size
    assert costs.feature_prices().tolist() == [[1, 2]]
    assert costs.total(2).tolist() == [6, 6]


def test_growing_prices_without_sizes_are_refused():
    costs = Costs([[1.0, 2.0]])
    for ask in (lambda: costs.total(3), lambda: costs.cost_of([0]), costs.feature_prices):
        with pytest.raises(DataError, match="depend on item size, and the rows have none"):
            ask()


@pytest.mark.parametrize(
    ("given_costs", "said"),
    [
        ({"prices": [1.0, -2.0]}, "feature prices must be from 0 to 1e[+]12: number 1 .* -2.0"),
        ({"prices": [np.nan, 2.0]}, "number 0 .* nan"),
        ({"prices": [1.0, np.inf]}, "number 1 .* inf"),
        ({"prices": [1.0, 1e308]}, "feature prices must be from 0 to 1e[+]12: number 1 .* 1e[+]308"),
        ({"prices": [1.0], "evaluation": 1e308}, "evaluation must be from 0 to 1e[+]12, not 1e[+]308"),
        ({"prices": [[1.0, 2.0], [3.0, -1.0]]}, "number 1 .*\\[3.0, -1.0\\]"),
        ({"prices": 3.0}, "must be a list"),
        ({"prices": [[[1.0]]]}, "must be a list"),
        ({"prices": [[1.0, 2.0], [1.0]]}, "equally long lists"),
        ({"prices": ["cheap"]}, "must be numbers"),
        ({"prices": [1.0, 2.0], "groups": [0]}, "one entry per feature \\(2\\)"),
        ({"prices": [1.0, 2.0], "groups": [0, -2]}, "-1 for no group"),
        ({"prices": [1.0, 2.0], "groups": [0, 1], "group_prices": [1.0]}, "2 groups are named, 1 prices"),
        ({"prices": [1.0, 2.0], "groups": [0, 0], "group_prices": [-1.0]}, "group prices must be from 0"),
        ({"prices": [1.0], "group_prices": [1.0]}, "no feature is in a group"),
        ({"prices": [1.0, 2.0], "classes": [1]}, "cost classes: 2 are needed, 1"),
        ({"prices": [1.0], "evaluation": -1.0}, "evaluation must be from 0 to 1e[+]12"),
        ({"prices": [1.0], "evaluation": np.nan}, "evaluation must be from 0 to 1e[+]12"),
        ({"prices": [1.0], "evaluation": np.inf}, "evaluation must be from 0 to 1e[+]12"),
    ],
)
def test_an_invalid_price_is_refused(given_costs, said):
    with pytest.raises(DataError, match=said):
        Costs(**given_costs)


@pytest.mark.parametrize("size", [1e13, 1e200, 1e308])
def test_a_price_that_grows_too_high_with_the_item_is_refused(size):
    costs = Costs([[1.0, 0.0, 0.0], [0.0, 1.0, 2.0]])
    with pytest.raises(DataError, match=r"price number 1 .* above 1e[+]12 for an item of size 1e"):
        costs.bill(np.ones((2, 2), dtype=bool), np.array([1.0, size]))


def test_prices_grow_with_the_item_where_only_a_groups_does():
    costs = Costs([[0.0], [2.0]], [0, -1], [[1.0, 3.0]])
    assert costs.depends_on_size
    np.testing.assert_array_equal(costs.total(2, np.array([1.0, 10.0])), [6.0, 33.0])
