"""The built-in cost schemes: their prices and their errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bench_core.builtin.cost_schemes import SCHEMES, FromData, PriceTable, RandomPrices, Uniform
from bench_core.contract.costs import Costs, count_units
from bench_core.contract.dataset import Dataset, facts_of
from bench_core.contract.errors import DataError, RequestError
from bench_core.contract.parameters import build
from bench_core.testing import cost_scheme_contract

test_contract = cost_scheme_contract(
    Uniform(2.5),
    PriceTable([1.0, 2.0, [3.0, 0.5], 4.0, 5.0, 6.0], groups={"lab": ["large", "small"]}, group_prices={"lab": 9.0}),
    RandomPrices(),
    RandomPrices(choices=[1.0, 5.0], weights=[3.0, 1.0]),
)

TOY = Dataset("toy", "regression", np.ones((4, 3)), ("age", "income", "size"), np.arange(4.0))
ROWS = np.arange(3)


def prices(scheme, dataset=TOY, seed=0):
    return scheme.price(dataset, ROWS, seed).prices.tolist()


def test_uniform_charges_the_same_for_all():
    assert prices(Uniform(2.5)) == [[2.5]] * 3


def test_a_table_is_read_by_order_or_by_name():
    assert prices(PriceTable([3.0, 1.0, 2.0])) == [[3], [1], [2]]
    assert prices(PriceTable({"size": 2.0, "age": 3.0, "income": 1.0})) == [[3], [1], [2]]


def test_short_polynomials_are_padded():
    assert prices(PriceTable([1.0, [2.0, 3.0], [4.0, 5.0, 6.0]])) == [[1, 0, 0], [2, 3, 0], [4, 5, 6]]


def test_a_table_with_groups_charges_each_once():
    scheme = PriceTable([1.0, 2.0, 4.0], {"lab": ["size", "age"], "desk": ["income"]}, {"lab": 10.0}, evaluation=0.5)
    costs = scheme.price(TOY, ROWS, 0)
    assert costs.cost_of([0, 2]) == 15
    assert costs.cost_of([1]) == 2
    assert costs.evaluation == 0.5


def test_group_prices_are_matched_by_name_in_any_order():
    scheme = PriceTable(
        [1.0, 1.0, 1.0], groups={"lab": ["age"], "scan": ["size"]}, group_prices={"scan": 9.0, "lab": 4.0}
    )
    costs = scheme.price(TOY, ROWS, 0)
    assert [costs.cost_of([feature]) for feature in range(3)] == [5.0, 1.0, 10.0]
    alone = replace(scheme, group_prices={"scan": 9.0}).price(TOY, ROWS, 0)
    assert [alone.cost_of([feature]) for feature in range(3)] == [1.0, 1.0, 10.0]


def test_a_table_prices_an_evaluation_with_groups_and_without():
    plain = PriceTable([1.0, 1.0, 1.0], evaluation=0.25)
    grouped = replace(plain, groups={"lab": ["age"]}, group_prices={"lab": 4.0})
    assert [scheme.price(TOY, ROWS, 0).evaluation for scheme in (plain, grouped)] == [0.25, 0.25]


def test_the_prices_of_the_data_set_are_used():
    assert prices(FromData(), replace(TOY, costs=Costs([7.0, 8.0, 9.0]))) == [[7], [8], [9]]


def test_random_prices_are_the_same_on_every_split_and_follow_their_own_seed():
    assert prices(RandomPrices(), seed=1) == prices(RandomPrices(), seed=2)
    assert prices(RandomPrices(seed=1)) != prices(RandomPrices(seed=2))
    assert all(3 <= price <= 4 for (price,) in prices(RandomPrices(low=3, high=4)))


def test_choices_are_drawn_by_weight():
    wide = Dataset("wide", "regression", np.ones((4, 2000)), tuple(map(str, range(2000))), np.arange(4.0))
    drawn = np.ravel(prices(RandomPrices(choices=[1.0, 20.0, 7.0], weights=[3, 1, 0]), wide))
    assert set(drawn) == {1.0, 20.0}
    assert abs((drawn == 1.0).mean() - 0.75) < 0.05


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        (PriceTable([1.0, 2.0]), "prices has 2 entries for 3 features"),
        (PriceTable({"age": 1.0, "income": 2.0}), "prices misses 'size'"),
        (PriceTable({"age": 1.0, "incme": 2.0, "size": 1.0}), "prices names 'incme'; did you mean 'income'"),
        (PriceTable([1.0] * 3, {"lab": ["agee"]}), "group 'lab' names feature 'agee'; did you mean 'age'"),
        (PriceTable([1.0] * 3, {"lab": ["age"], "desk": ["age"]}), "feature 'age' is in two groups"),
        (FromData(), "comes without prices; choose another cost scheme"),
    ],
)
def test_prices_that_do_not_fit_the_data_are_refused(scheme, said):
    with pytest.raises(DataError, match=said):
        scheme.price(TOY, ROWS, 0)
    with pytest.raises(DataError, match=said):  # while planning, too, without the data
        scheme.units(facts_of(TOY))


def test_a_plan_knows_how_many_units_are_acquired_separately():
    assert Uniform().units(facts_of(TOY)) == 3
    table = PriceTable([1.0] * 3, {"lab": ["size", "age"], "none": []}, {"lab": 10.0})
    assert table.units(facts_of(TOY)) == 2
    assert count_units(PriceTable([1.0] * 3, {"lab": ["size", "age"]}).price(TOY, ROWS, 0)) == 2
    priced = replace(TOY, costs=Costs([7.0, 8.0, 9.0], groups=[0, -1, 0], group_prices=[1.0]))
    assert FromData().units(facts_of(priced)) == 2


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("uniform", {"price_each": -1.0}, "price_each must be a number from 0 to 1e[+]12, not -1.0"),
        ("uniform", {"price_each": math.nan}, "price_each: must be a finite number, not nan"),
        ("table", {"prices": [1.0, -1.0]}, r"prices\[1\] must be a number from 0 to 1e[+]12.*, not -1.0"),
        ("table", {"prices": [1.0, []]}, r"prices\[1\] must be .* a list of at least 1 item, .*, not \[\]"),
        (
            "table",
            {"prices": {"age": [1.0, -0.5]}},
            r"prices\['age'\]\[1\] must be a number from 0 to 1e[+]12, not -0.5",
        ),
        ("table", {"prices": [1.0], "evaluation": -1.0}, "evaluation must be a number from 0 to 1e[+]12, not -1.0"),
        ("table", {"prices": [1.0], "group_prices": {"lab": 1.0}}, "group_prices without groups"),
        (
            "table",
            {"prices": [1.0], "groups": {"lab": ["age"]}, "group_prices": {"lap": 1.0}},
            "group_prices names 'lap'; did you mean 'lab'",
        ),
        ("random", {"choices": [1.0, -2.0]}, r"choices\[1\] must be a number from 0 to 1e[+]12, not -2.0"),
        ("random", {"low": 5.0, "high": 1.0}, "low must not be above high, 1.0, not 5.0"),
        ("random", {"choices": [1.0], "weights": [1.0, 2.0]}, "1 choices have 2 weights"),
        ("random", {"choices": [1.0], "weights": [0.0]}, "weights must not all be zero"),
        ("random", {"choices": [1.0, 2.0], "weights": [1e308, 1e308]}, r"weights\[0\] must be a number from 0 to"),
        ("random", {"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ("random", {"low": 5.0, "choices": [1.0]}, "low and high have no effect with choices"),
        ("from-data", {"x": 1}, "takes no parameters"),
    ],
)
def test_inconsistent_parameters_are_refused_before_any_data_is_read(name, parameters, said):
    with pytest.raises(RequestError, match=f"suite.toml: .*{said}"):
        build(SCHEMES[name], parameters, "suite.toml")
