"""Prices by cost class: their values, and the parameters that they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from bench_public_data.cost_classes import CostClasses, ImportanceQuantiles
from bench_public_data.scaling import scaled

from bench_core import DataError, DataFacts, Dataset, RequestError, build
from bench_core.testing import cost_scheme_contract, make_dataset

test_contract = cost_scheme_contract(CostClasses([1, 2, 3, 1, 2, 3], "10**T"), ImportanceQuantiles(n_estimators=5))

TOY = Dataset("toy", "regression", np.ones((4, 3)), ("age", "income", "size"), np.arange(4.0))
FACTS = DataFacts("toy", "regression", 0, TOY.feature_names, 3, missing=False, queries=False, priced=False)
ROWS = np.arange(3)


def test_cost_classes_are_scaled():
    costs = CostClasses({"age": 1, "income": 3, "size": 2}, "10**T").price(TOY, ROWS, 0)
    assert costs.prices.tolist() == [[10], [1000], [100]]
    assert costs.classes.tolist() == [1, 3, 2]


def test_quintiles_by_hand(monkeypatch):
    """Ten features in order of importance: two in each of five classes, the more important the dearer."""
    importance = np.array([0.10, 0.02, 0.30, 0.01, 0.05, 0.20, 0.06, 0.11, 0.04, 0.11])
    monkeypatch.setattr("bench_public_data.cost_classes._gini_importance", lambda *_: importance)
    ten = Dataset("ten", "regression", np.ones((4, 10)), tuple("abcdefghij"), np.arange(4.0))
    costs = ImportanceQuantiles(scale="100*T").price(ten, ROWS, 0)
    # ascending: d .01, b .02 | i .04, e .05 | g .06, a .10 | h .11 = j .11 (tied at rank 8 of 10) | f .20, c .30
    assert costs.classes.tolist() == [3, 1, 5, 1, 2, 5, 3, 4, 2, 4]
    assert costs.prices[:, 0].tolist() == [300, 100, 500, 100, 200, 500, 300, 400, 200, 400]


def test_the_most_important_feature_is_the_dearest():
    dataset = make_dataset("binary")
    costs = ImportanceQuantiles(levels=3).price(dataset, np.arange(60), 1)
    assert costs.prices[0, 0] == costs.prices.max() == 300


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        (CostClasses([1, 2]), "classes has 2 entries for 3"),
        (CostClasses({"age": 1, "income": 2, "sise": 3}), "classes names 'sise'; did you mean 'size'"),
    ],
)
def test_classes_that_do_not_fit_the_data_are_refused(scheme, said):
    with pytest.raises(DataError, match=said):
        scheme.price(TOY, ROWS, 0)
    with pytest.raises(DataError, match=said):  # while planning, too, without the data
        scheme.units(FACTS)


@pytest.mark.parametrize(
    ("scheme", "parameters", "said"),
    [
        (CostClasses, {"classes": [1], "scale": "__import__('os')"}, "numbers, T"),
        (CostClasses, {"classes": ["a"]}, "classes"),
        (CostClasses, {}, "classes is required: a list"),
        (CostClasses, {"classes": [1, 2, 9], "scale": "5-T"}, "scale '5-T' gives a price that is negative"),
        (CostClasses, {"classes": [1, 999], "scale": "10**T"}, r"scale '10\*\*T' cannot be computed"),
        (ImportanceQuantiles, {"levels": 0}, "at least 1"),
        (ImportanceQuantiles, {"level": 3}, "no parameter 'level'; did you mean 'levels'"),
    ],
)
def test_parameters_that_mean_nothing_are_refused_before_any_data_is_read(scheme, parameters, said):
    with pytest.raises(RequestError, match=f"suite.toml: .*{said}"):
        build(scheme, parameters, "suite.toml")


@pytest.mark.parametrize(
    ("formula", "values"),
    [
        ("T", [1, 2, 3]),
        ("10**T", [10, 100, 1000]),
        ("100*T", [100, 200, 300]),
        (" 5 * (T + 1) ", [10, 15, 20]),
        ("T/2 - -1", [1.5, 2, 2.5]),
        ("7", [7, 7, 7]),
        ("2**T**2", [2, 16, 512]),
    ],
)
def test_formulas_of_the_class(formula, values):
    assert scaled(formula, np.array([1, 2, 3])).tolist() == values


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')", "__import__('os').system('true')", "T.__class__", "(lambda: 1)()", "[T][0]",
        "T if T else 1",
        "'a'*T", "True", "t", "x", "", "   ", "10**", "T T", "T//2", "T%2", "T@T", "T<2", "(T:=1)", "f'{T}'", "\x00",
        "10**10**10", "1/0", "1e999", "(-8)**0.5", "-T", "T-5", "-" * 5000 + "T", "(" * 5000, "T" + "+1" * 5000,
    ],
)  # fmt: skip
def test_anything_that_is_no_price_formula_is_refused(formula):
    with pytest.raises(ValueError, match="scale"):
        scaled(formula, np.array([1, 2, 3]))


def test_features_of_equal_importance_are_in_the_class_of_the_dearest_of_them():
    """One feature decides and four are constant, of importance 0: four fifths are not above them, so class 4 of 5."""
    y = np.arange(40) % 2
    X = np.zeros((40, 5))
    X[:, 2] = y
    dataset = Dataset("tied", "binary", X, tuple("abcde"), y, ("no", "yes"))
    costs = ImportanceQuantiles(n_estimators=5).price(dataset, np.arange(30), 0)
    assert costs.classes.tolist() == [4, 4, 5, 4, 4]
    assert costs.prices[:, 0].tolist() == [400, 400, 500, 400, 400]
