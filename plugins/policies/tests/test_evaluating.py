"""Evaluations, explanations and the scikit-learn classifier, on a table where the answer is known."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from bench_policies import BudgetedClassifier, FittedPolicy, evaluate, explain
from bench_policies.measuring import corrected_half_width
from bench_policies.wording import with_half
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.patients import CHEAP_PRICES as PRICES
from support.patients import make_cheap_table

from bench_core import RequestError


@pytest.fixture(scope="module")
def cheap_is_enough() -> pd.DataFrame:
    return make_cheap_table()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.sampled_from([" %", ""]))
def test_an_interval_of_a_share_stays_between_0_and_100(values: list[float], unit: str) -> None:
    half = corrected_half_width(values, 1 / 3)
    text = with_half({"quality": float(np.mean(values)), "quality_half": half}, "quality", 100, unit)
    numbers = [float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)]
    mean = numbers[0]
    if "±" in text:
        assert mean - numbers[1] >= -0.1
        assert mean + numbers[1] <= 100.1
    else:
        assert 0 <= numbers[1] <= mean + 0.1
        assert mean - 0.1 <= numbers[2] <= 100
    assert text.count(unit) == 1 or not unit


def test_evaluate_gives_a_row_per_split_policy_and_part(cheap_is_enough: pd.DataFrame) -> None:
    frame = evaluate("lasso", cheap_is_enough, PRICES, target="y", splits=2, metrics=["error", "cost"])
    assert not frame.duplicated(["seed", "policy", "part"]).any()
    assert set(frame.part) == {"validation", "test"}
    assert set(frame.seed) == {0, 1}
    assert frame.error.between(0, 1).all()
    assert frame.cost.max() <= 40
    regression = cheap_is_enough.assign(y=cheap_is_enough.free * 2.0)
    assert evaluate("lasso", regression, PRICES, target="y", splits=1).mse.min() < 0.1


def test_an_explanation_agrees_with_the_decisions(fitted: Callable[..., FittedPolicy], table: pd.DataFrame) -> None:
    policy = fitted("cost-ordered", threshold=0.8)
    said = explain(policy, table.iloc[0].to_dict())
    answers = policy.decide(table)
    assert f"An answer costs {answers.cost.mean():.4g} on average" in said.stages
    share = answers.acquired.map(lambda names: "scan" in names).mean()
    scan = next(line for line in said.usage.splitlines() if line.startswith("scan"))
    assert f"{100 * share:.1f} %" in scan
    assert scan.split()[-1] == "4"  # after age, smoker, and the blood sample
    assert "ask for glucose, insulin (13)" in said.drawing
    assert f"cost {answers.cost.iloc[0]:.4g} of" in said.trace.splitlines()[-1]


@pytest.mark.parametrize("method", ["stump", "eg2", "idx"])
def test_a_tree_is_drawn_with_its_cuts_and_answers(
    fitted: Callable[..., FittedPolicy], table: pd.DataFrame, method: str
) -> None:
    policy = fitted(method)
    drawing = explain(policy).drawing
    feature, cut, above = re.findall(r"(\w+) > (\S+): answer (\w+)", drawing)[0]
    (below,) = re.findall(rf"{feature} ≤ {re.escape(cut)}: answer (\w+)", drawing)
    assert drawing.startswith(f"100 %: ask for {feature} ")
    rows = table.iloc[[0, 0]].assign(**{feature: [float(cut) * 0.999, float(cut) * 1.001]})
    assert policy.decide(rows).label.tolist() == [below, above] != [above, below]


def test_a_drawing_shows_the_thresholds_of_the_policy(fitted: Callable[..., FittedPolicy], table: pd.DataFrame) -> None:
    policy = fitted("cost-ordered", threshold=0.8)
    lines = explain(policy).drawing.splitlines()
    assert lines[0] == "100 %: ask for age (0)"
    (between,) = [re.match(r"  \d+ %, ([\d.]+) < age ≤ ([\d.]+): ask for smoker \(1\)", line) for line in lines[1:2]]
    assert between is not None
    low, high = map(float, between.groups())
    rows = table.iloc[[0] * 4].assign(age=[low - 1, low + 1, high - 1, high + 1])
    asked = policy.decide(rows).acquired.map(lambda names: "smoker" in names)
    assert asked.tolist() == [False, True, True, False]
    assert any(line.strip().endswith(": refuse") for line in lines)


def test_the_classifier_keeps_its_budget_and_goes_into_a_pipeline(cheap_is_enough: pd.DataFrame) -> None:
    X, y = cheap_is_enough[["free", "dear", "dearer"]], cheap_is_enough["y"].to_numpy()
    model = BudgetedClassifier("lasso", prices=[0, 10, 30], budget=10)
    piped = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    assert piped.score(X, y) > 0.9
    model.fit(X, y)
    assert model.cost_(X).mean() <= 10
    assert model.predict_proba(X).shape == (240, 2)
    assert set(model.predict(X)) == {"yes", "no"}
    every = BudgetedClassifier("single-stage", prices=[0, 10, 30]).fit(X, y)
    assert (every.cost_(X) == 40).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "excepted"),
    [
        ("lasso", set()),
        pytest.param("c45", set(), marks=pytest.mark.weekly),
        pytest.param("cost-ordered", set(), marks=pytest.mark.weekly),
        ("stump", {"check_classifiers_train"}),
    ],
)
def test_the_classifier_passes_scikit_learns_checks_except_those_named_in_the_readme(
    method: str, excepted: set[str]
) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(BudgetedClassifier(method), on_fail=None, on_skip=None)
    other = {one["check_name"]: str(one["exception"]) for one in results if one["status"] != "passed"}
    assert other.keys() <= {"check_array_api_input", *excepted}, other
    assert len(results) > 40


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scn": 1.0}, "there is no feature 'scn'; did you mean 'scan'"),
        ({"scan": [1]}, r"scan must be a number, not \[1\]"),
        ({"smoker": "seldom"}, "smoker has no category 'seldom'"),
    ],
)
def test_an_explained_row_is_checked_also_where_the_policy_asks_for_less(
    fitted: Callable[..., FittedPolicy], table: pd.DataFrame, change: dict[str, object], said: str
) -> None:
    policy = fitted("majority")
    row = table.iloc[0].to_dict()  # with the target, which is no feature
    assert "Answer: " in explain(policy, row).trace
    with pytest.raises(RequestError, match=said):
        explain(policy, {**row, **change})


def test_below_three_splits_no_interval_is_shown() -> None:
    shown = [with_half({"cost": 5.0, "cost_half": 1.0, "splits": splits}, "cost", 1) for splits in (1, 2, 3)]
    assert shown == ["5", "5", "5 ± 1"]
