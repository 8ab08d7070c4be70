"""Suspicious columns are reported, unseen categories count as missing, and small tables are refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from bench_policies import BudgetedClassifier, fit_policy
from bench_policies.columns import column_notes
from bench_policies.exporting import exported
from bench_policies.portable import OTHER, Portable
from bench_policies.tables import LEAST_IN_CATEGORY, merge_rare
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Dataset, RequestError


def table(rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "kind": rng.choice(["red", "blue"], rows)})
    return frame.assign(y=np.where((frame.x > 0) ^ (frame.kind == "red"), "yes", "no"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([f"{i % 17},{i % 10}" for i in range(120)], "decimal commas"),
        ([f"2024-0{i % 9 + 1}-1{i % 9}" for i in range(120)], "dates"),
        ([20240100 + i % 28 + 1 for i in range(120)], "dates"),
        ([f"P-{i}" for i in range(120)], "identifier"),
        (list(range(1000, 1120)), "identifier"),
    ],
)
def test_identifiers_dates_and_decimal_commas_are_named(values: list[object], said: str) -> None:
    (note,) = column_notes(Dataset.from_frame("table", table().assign(extra=values), "y"))
    assert "'extra'" in note
    assert said in note


def test_plain_columns_are_not_named() -> None:
    count = np.random.default_rng(1).permutation(120) * 7
    assert column_notes(Dataset.from_frame("table", table().assign(count=count), "y")) == []


def test_an_unseen_category_is_missing_and_counted() -> None:
    frame = table()
    fitted = fit_policy("cost-ordered", frame, [1.0, 1.0], target="y", splits=0)
    new = frame.head(6).assign(kind=["red", "green", "blue", "green", None, "red"])
    with pytest.warns(UserWarning, match=r"kind \(2\)"):
        answers = fitted.decide(new)
    assert answers.attrs["unseen"] == {"kind": 2}
    missing = fitted.decide(new.assign(kind=[k if k != "green" else None for k in new.kind]))
    assert answers.label.tolist() == missing.label.tolist()


def serial_numbers(rows: int = 300) -> pd.DataFrame:
    """A table with a unique serial number for most good rows and few bad ones; the others have none."""
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.5
    numbered = rng.random(rows) < np.where(y, 0.9, 0.3)
    serial = [f"S-{number}" if has else "none" for number, has in enumerate(numbered)]
    return pd.DataFrame({"x": y + rng.normal(0, 3, rows), "serial": serial, "y": np.where(y, "good", "bad")})


def test_rare_categories_are_one_category_and_new_ones_count_as_it() -> None:
    frame = serial_numbers()
    merged = merge_rare(Dataset.from_frame("table", frame, "y"))
    assert merged.categories[1] == ("none", OTHER)
    assert (merged.values[:, 1] == (frame.serial != "none")).all()
    fitted = fit_policy("single-stage", frame, [1.0, 1.0], target="y", splits=0)
    new, rare = (frame.tail(9).assign(serial=text) for text in ("S-new", frame.serial[frame.serial != "none"].iloc[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = fitted.decide(new)
    assert answers.equals(fitted.decide(rare))
    assert answers.attrs["unseen"] == {}
    session = fitted.start()
    session.give({"x": float(new.x.iloc[0]), "serial": "S-new"})
    assert session.answer is not None
    assert session.answer.probability == answers.probability.iloc[0]
    portable = Portable(exported(fitted)).decide(new.iloc[0].to_dict())
    assert portable["probability"] == pytest.approx(answers.probability.iloc[0], rel=1e-12)


def test_frequent_categories_stay_and_missing_ones_stay_missing() -> None:
    dataset = Dataset.from_frame("table", table().assign(few=["a", "b", "c", None] * 30), "y")
    assert merge_rare(dataset) is dataset
    few = ["a"] * 60 + [None] * 56 + ["b"] * 4
    merged = merge_rare(Dataset.from_frame("table", table().assign(few=few), "y"))
    assert merged.categories[2] == ("a", OTHER)
    np.testing.assert_array_equal(merged.values[:, 2], [0.0] * 60 + [np.nan] * 56 + [1.0] * 4)


@given(st.lists(st.sampled_from(["a", "b", "c", "d", OTHER, None]), min_size=20, max_size=60))
def test_merging_keeps_frequent_texts_and_gives_all_others_the_last_code(column: list[str | None]) -> None:
    column = [*column, "a"]  # a column without any text is not one of categories
    frame = pd.DataFrame({"k": column, "y": [f"class {row % 2}" for row in range(len(column))]})
    merged = merge_rare(Dataset.from_frame("table", frame, "y"))
    texts = merged.categories.get(0, ())
    for text, code in zip(column, merged.values[:, 0], strict=True):
        if text is None:
            assert np.isnan(code)
        elif column.count(text) >= LEAST_IN_CATEGORY and text != OTHER:
            assert texts[int(code)] == text
        else:
            assert texts[int(code)] == OTHER


def test_what_a_new_serial_number_is_worth_is_learnt_from_those_in_the_data() -> None:
    frame = serial_numbers(400)
    known, new = frame.head(250), frame.tail(150)
    fitted = fit_policy("affordable-subset", known, [1.0, 1.0], target="y", splits=0)
    numbered = np.where(new.serial == "none", "bad", "good")
    assert (fitted.decide(new).label == new.y).mean() >= (numbered == new.y).mean()


def test_the_classifier_takes_text_and_missing_values() -> None:
    frame = table(300)
    frame.loc[:30, "x"] = np.nan
    frame.loc[40:60, "kind"] = None
    X, y = frame[["x", "kind"]], frame["y"]
    model = BudgetedClassifier("affordable-subset", prices=[1, 1], parameters={"model": "lightgbm"}).fit(X, y)
    assert model.score(X, y) > 0.85
    numbers = BudgetedClassifier("cost-ordered", prices=[1]).fit(X[["x"]], y)
    assert set(numbers.predict(X[["x"]])) <= {"yes", "no"}


def test_four_rows_are_refused() -> None:
    with pytest.raises(RequestError, match="4 rows"):
        fit_policy("stump", table(4), [1.0, 1.0], target="y")
