"""Data sets: errors, conversion from data frames, and the content hash."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, time

import numpy as np
import pandas as pd
import pytest

from bench_core.contract.costs import Costs
from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import DataError
from bench_core.contract.sources import DataContext


def table(**changes):
    fields = {
        "name": "toy",
        "task": "binary",
        "values": np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]),
        "feature_names": ("a", "b"),
        "target": np.array([0, 1, 0]),
        "classes": ("no", "yes"),
    }
    return Dataset(**{**fields, **changes})


BAD = {
    "no rows": ({"values": np.empty((0, 2)), "target": np.empty(0, dtype=np.int64)}, "no rows"),
    "one class": ({"classes": ("no",), "target": np.zeros(3, dtype=np.int64)}, "at least two classes.*'no'"),
    "all rows of one class": ({"target": np.zeros(3, dtype=np.int64)}, "every row is of one class \\('no'\\)"),
    "infinity": ({"values": np.array([[1.0, 1], [2, np.inf], [3, -np.inf]])}, "feature 'b' holds 2 infinite"),
    "names twice": ({"feature_names": ("a", "a")}, "unique; twice: 'a'"),
    "empty name": ({"feature_names": ("a", "  ")}, "feature 1 .* empty name"),
    "a name that is no text": ({"feature_names": ("a", 3)}, "names must be texts, not 3"),
    "too few names": ({"feature_names": ("a",)}, "shape \\(3, 2\\).*1 feature names"),
    "no features": ({"values": np.empty((3, 0)), "feature_names": ()}, "no features"),
    "integers": ({"values": np.ones((3, 2), dtype=int)}, "float array"),
    "unknown task": ({"task": "clustering"}, "task must be one of"),
    "code too large": ({"target": np.array([0, 1, 2])}, "class codes must be 0..1"),
    "three classes, binary": ({"classes": ("a", "b", "c")}, "binary task has two classes, not 3"),
    "text codes": ({"target": np.array(["a", "b", "a"])}, "class codes"),
    "regression of integers": ({"task": "regression", "classes": ()}, "must be float64"),
    "NaN target": (
        {"task": "regression", "classes": (), "target": np.array([1.0, np.nan, 2.0])},
        "1 values that are not finite",
    ),
    "ranking without queries": ({"task": "ranking", "classes": (), "target": np.ones(3)}, "needs query ids"),
    "sizes too short": ({"sizes": np.ones(2)}, "sizes must have one entry per row \\(3\\)"),
    "negative size": ({"sizes": np.array([1.0, -1.0, 1.0])}, "sizes must be finite and not negative"),
    "unknown split code": ({"split": np.array([0, 1, 3], dtype=np.int8)}, "split codes must be 0 to 2"),
    "category beyond the features": ({"categorical": (2,)}, "names feature 2, it has 2"),
    "prices for others": ({"costs": Costs([1.0, 2.0, 3.0])}, "prices are for 3 features, it has 2"),
}


@pytest.mark.parametrize(("changes", "said"), BAD.values(), ids=list(BAD))
def test_a_malformed_table_is_refused_with_its_name_and_the_fault(changes, said):
    with pytest.raises(DataError, match=f"data set 'toy': .*{said}"):
        table(**changes)


def test_constant_columns_missing_values_and_huge_numbers_are_fine():
    unusual = table(values=np.array([[7.0, np.nan], [7.0, 1.7e308], [7.0, 1.7e308]]))
    assert np.isnan(unusual.values[0, 1])


CHANGES = {
    "values": {"values": np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.5]])},
    "a missing value": {"values": np.array([[1.0, 10.0], [2.0, 20.0], [3.0, np.nan]])},
    "precision": {"values": np.array([[1, 10], [2, 20], [3, 30]], dtype=np.float32)},
    "feature name": {"feature_names": ("a", "c")},
    "target": {"target": np.array([0, 1, 1])},
    "class name": {"classes": ("no", "maybe")},
    "task": {"task": "multiclass"},
    "categorical": {"categorical": (1,)},
    "category texts": {"categories": {1: ("x", "y")}},
    "sizes": {"sizes": np.ones(3)},
    "query": {"query": np.arange(3)},
    "split": {"split": np.array([0, 1, 2], dtype=np.int8)},
    "prices": {"costs": Costs([1.0, 2.0])},
    "groups": {"costs": Costs([1.0, 2.0], groups=[0, 0], group_prices=[1.0])},
}


def test_the_content_hash_changes_with_everything_that_can_change_a_result():
    hashes = {"nothing": table().content} | {what: table(**change).content for what, change in CHANGES.items()}
    assert len(set(hashes.values())) == len(hashes)


def test_the_content_hash_ignores_name_provenance_and_memory_layout():
    same = table(name="other", provenance={"source": "here"}, values=np.asfortranarray(table().values))
    assert same.content == table().content
    negative_zero = replace(table(), values=table().values * np.array([1.0, -0.0]))
    zero = replace(table(), values=table().values * np.array([1.0, 0.0]))
    assert negative_zero.content == zero.content


def test_an_origin_replaces_only_the_values_and_the_prices_in_the_content_hash():
    made_from = {"images": "abc", "version": 1}
    here = table(origin=made_from, costs=Costs([1.0, 2.0]))
    there = table(origin=made_from, costs=Costs([1.0, 2.0 + 1e-15]), values=table().values * (1 + 1e-15))
    assert here.content == there.content != table(costs=Costs([1.0, 2.0])).content
    others = {what: change for what, change in CHANGES.items() if what not in ("a missing value", "precision")}
    others["values"] = {"origin": {**made_from, "version": 2}}
    others["prices"] = {"costs": None}
    hashes = {here.content} | {
        table(**{"origin": made_from, "costs": Costs([1.0, 2.0]), **change}).content for change in others.values()
    }
    assert len(hashes) == 1 + len(others)


def test_the_byte_order_of_an_array_is_not_in_the_content_hash():
    swapped = table(values=table().values.astype(">f8"))
    assert swapped.content == table().content


def frame(**columns):
    return pd.DataFrame(
        {"age": [30.0, 40.0, 50.0, 60.0], "town": ["Ulm", "Bonn", None, "Ulm"], "y": ["b", "a", "b", "a"], **columns}
    )


def test_text_becomes_codes_whose_texts_are_kept_and_missing_stays_missing():
    made = Dataset.from_frame("people", frame(), "y")
    assert made.feature_names == ("age", "town")
    assert made.categorical == (1,)
    assert made.categories == {1: ("Bonn", "Ulm")}
    np.testing.assert_array_equal(made.values[:, 1], [1.0, 0.0, np.nan, 1.0])
    assert made.classes == ("a", "b")
    assert made.target.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series([1, 2, 3, None], dtype=object), [1.0, 2.0, 3.0, np.nan]),
        (pd.array([1, None, 3, 4], dtype="Int64"), [1.0, np.nan, 3.0, 4.0]),
        (pd.array([True, None, False, True], dtype="boolean"), [1.0, np.nan, 0.0, 1.0]),
        ([True, False, True, True], [1.0, 0.0, 1.0, 1.0]),
    ],
)
def test_number_columns_of_any_type_stay_numbers(column, expected):
    made = Dataset.from_frame("people", frame(age=column), "y")
    np.testing.assert_array_equal(made.values[:, 0], expected)
    assert made.categorical == (1,)


@pytest.mark.parametrize(
    ("labels", "task", "classes"),
    [
        (["u", "v", "u", "w"], "multiclass", ("u", "v", "w")),
        ([0, 1, 1, 0], "binary", ("0", "1")),
        ([10, 2, 10, 2], "binary", ("2", "10")),
        ([1.0, 2.0, 3.0, 1.0], "multiclass", ("1", "2", "3")),
        ([True, False, True, True], "binary", ("False", "True")),
        ([1.5, 2.0, 3.0, 1.0], "regression", ()),
    ],
)
def test_the_task_is_guessed_from_the_target(labels, task, classes):
    made = Dataset.from_frame("people", frame(y=labels), "y")
    assert (made.task, made.classes) == (task, classes)


def test_more_than_twenty_whole_numbers_are_a_regression():
    many = pd.DataFrame({"x": np.arange(21.0), "y": np.arange(21)})
    assert Dataset.from_frame("many", many, "y").task == "regression"
    assert Dataset.from_frame("many", many.iloc[:20], "y").task == "multiclass"


def test_size_query_and_split_columns_are_no_features():
    full = frame(size=[1, 2, 3, 4], q=["k", "k", "m", "m"], part=["train", "test", "validation", "train"])
    full["y"] = [1, 0, 2, 0]
    made = Dataset.from_frame("docs", full, "y", size="size", query="q", split="part")
    assert made.feature_names == ("age", "town")
    assert made.task == "ranking"
    assert made.query.tolist() == [0, 0, 1, 1]
    assert made.sizes.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert made.split.tolist() == [0, 2, 1, 0]


BAD_FRAMES = {
    "no rows": (frame().iloc[:0], {}, "no rows"),
    "wrong target": (frame(), {"target": "Y"}, "no column 'Y'; did you mean 'y'"),
    "wrong size": (frame(), {"size": "agee"}, "no column 'agee'; did you mean 'age'"),
    "text sizes": (frame(), {"size": "town"}, "size column 'town' must hold numbers"),
    "missing query": (frame(y=[1, 0, 1, 0]), {"query": "town"}, "query column 'town' misses 1"),
    "missing target": (frame(), {"target": "town"}, "target 'town' misses 1"),
    "unusual split": (frame(), {"split": "town"}, "split column holds 'Bonn'"),
    "columns twice": (pd.concat([frame(), frame()], axis=1), {}, "named twice: 'age'"),
    "numbers and texts of one name": (frame(**{"1": 0}).rename(columns={"age": 1}), {}, "named twice: '1'"),
    "empty column name": (frame().rename(columns={"age": ""}), {}, "empty name"),
    "infinity": (frame(age=[1.0, np.inf, 2.0, 3.0]), {}, "feature 'age' holds 1 infinite"),
    "infinite class": (frame(y=[1.0, np.inf, 2.0, 3.0]), {"task": "multiclass"}, "target 'y' holds infinite"),
    "dates": (frame(age=pd.to_datetime(["2020-01-01"] * 4)), {}, "feature 'age' holds dates"),
    "durations": (frame(age=pd.to_timedelta([1, 2, 3, 4], unit="s")), {}, "feature 'age' holds dates"),
    "days": (frame(age=[date(2020, 1, 1)] * 4), {}, "feature 'age' holds dates"),
    "times of day": (frame(age=[time(12)] * 4), {}, "feature 'age' holds dates"),
    "the target as sizes": (frame(y=[1, 0, 1, 0]), {"size": "y"}, "column 'y' has two of the roles"),
    "the query as split": (frame(), {"query": "age", "split": "age"}, "column 'age' has two of the roles"),
    "the target as a category": (frame(), {"categorical": ["y"]}, "column 'y' has two of the roles"),
    "lists": (frame(age=[[1], [2], [3], [4]]), {}, "feature 'age' holds a list"),
    "arrays": (frame(age=[np.zeros(2)] * 4), {}, "feature 'age' holds a ndarray"),
    "bytes": (frame(age=[b"a", None, b"b", b"c"]), {}, "feature 'age' holds a bytes"),
    "complex": (frame(age=[1j, 2, 3, 4]), {}, "feature 'age' holds complex"),
    "text regression": (frame(), {"task": "regression"}, "target must be numbers, 'y' is not"),
    "one class": (frame(y=["a"] * 4), {}, "at least two classes"),
    "one row": (frame().iloc[:1], {}, "at least two classes"),
}


@pytest.mark.parametrize(("rows", "options", "said"), BAD_FRAMES.values(), ids=list(BAD_FRAMES))
def test_a_bad_frame_is_refused_with_the_column_named(rows, options, said):
    with pytest.raises(DataError, match=f"data set 'people': .*{said}"):
        Dataset.from_frame("people", rows, **{"target": "y", **options})


def test_one_row_is_enough_for_a_regression_table():
    assert Dataset.from_frame("one", pd.DataFrame({"x": [1.0], "y": [2.5]}), "y").n_rows == 1


def test_the_context_comes_from_the_environment_and_arguments_win(monkeypatch, tmp_path):
    monkeypatch.setenv("BUDGETBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BUDGETBENCH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("BUDGETBENCH_OFFLINE", "1")
    context = DataContext.from_environment()
    assert context == DataContext(tmp_path / "cache", tmp_path / "mirror", True)
    assert DataContext.from_environment(mirror=tmp_path, offline=False) == DataContext(
        tmp_path / "cache", tmp_path, False
    )
