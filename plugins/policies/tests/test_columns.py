"""Suspicious columns are reported, unseen categories count as missing, and small tables are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from bench_policies import BudgetedClassifier, fit_policy
from bench_policies.columns import column_notes

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
