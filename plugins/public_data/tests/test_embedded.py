"""Data sets that need no network, registration, row ranges, hashes of tables, the cache and the image pyramid."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bench_public_data import embedded, plugin
from bench_public_data.mnist import MnistPyramid, area_overlap
from bench_public_data.rows import given_split, row_range
from bench_public_data.table_cache import CachedTable, table_hash
from hypothesis import given
from hypothesis import strategies as st

from bench_core import DataError, DataSource, RequestError, build
from bench_core.suites import load_registry


def test_pima_is_embedded_with_its_names_and_classes(context):
    data = embedded.Pima().load(replace(context, offline=True))
    assert data.values.shape == (768, 8)
    assert data.feature_names == (
        "pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "bmi", "pedigree", "age",
    )  # fmt: skip
    assert data.classes == ("negative", "positive")
    assert np.bincount(data.target).tolist() == [500, 268]
    assert data.values[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert not np.isnan(data.values).any()
    assert embedded.Pima().status(context) == "built-in"


def test_pimas_zeros_can_be_read_as_missing_values(context):
    plain, holes = embedded.Pima().load(context), embedded.Pima(zero_is_missing=True).load(context)
    counts = np.isnan(holes.values).sum(axis=0).tolist()
    assert counts == [0, 5, 35, 227, 374, 11, 0, 0]
    assert np.array_equal(np.nan_to_num(holes.values), plain.values)


@pytest.mark.parametrize(
    ("source", "shape", "task", "counts"),
    [
        (embedded.BreastCancer, (569, 30), "binary", [212, 357]),
        (embedded.Wine, (178, 13), "multiclass", [59, 71, 48]),
        (embedded.Digits, (1797, 64), "multiclass", [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
        (embedded.Iris, (150, 4), "multiclass", [50, 50, 50]),
        (embedded.DiabetesRegression, (442, 10), "regression", None),
    ],
)
def test_data_sets_shipped_with_scikit_learn(source, shape, task, counts, context):
    data = source().load(replace(context, offline=True))
    assert (data.values.shape, data.task) == (shape, task)
    assert counts is None or np.bincount(data.target).tolist() == counts
    assert source().status(context) == "built-in"
    assert source().load(context).content == data.content


def test_every_source_is_registered_by_name():
    registry = load_registry([("public-data-under-test", plugin)], entry_points=False)
    assert not registry.broken
    for name in (
        "openml", "uci", "csv", "parquet", "svmlight", "pima", "breast-cancer", "wine", "digits", "iris",
        "diabetes-regression", "heart", "credit", "adult", "covertype", "spambase", "nomao", "miniboone", "mnist",
        "mnist-pyramid",
    ):  # fmt: skip
        assert issubclass(registry.dataset(name), DataSource)


def test_the_plugin_module_imports_no_heavy_module():
    heavy = ("openml", "sklearn", "pandas", "pyarrow", "requests", "filelock", "scipy")
    code = f"import bench_public_data.plugin, sys; print([m for m in {heavy} if m in sys.modules])"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert imported.strip() == "[]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("first:3", [0, 1, 2]), (":2", [0, 1]), ("8:", [8, 9]), ("2:4", [2, 3]), ("1_0:", []), (":", list(range(10)))],
)
def test_row_ranges(text, expected):
    assert list(range(10))[row_range(text, "rows")] == expected


@pytest.mark.parametrize("text", ["", "5", "a:b", "first:", "-3:", "3:3", "4:2", "first:0", "1:2:3"])
def test_a_malformed_row_range_is_refused(text):
    with pytest.raises(ValueError, match="rows"):
        row_range(text, "rows")


@given(rows=st.integers(3, 50), cut=st.integers(1, 49))
def test_parts_of_a_given_split_are_disjoint_and_complete(rows, cut):
    cut = min(cut, rows - 1)
    kept, part = given_split("t", rows, train=f"{cut}:", validation="", test=f":{cut}")
    assert kept.tolist() == list(range(rows))
    assert part.tolist() == [2] * cut + [0] * (rows - cut)
    rest, others = given_split("t", rows, train=f"first:{cut}", validation="", test="")
    assert rest.tolist() == list(range(rows))
    assert others.tolist() == [0] * cut + [2] * (rows - cut)


def test_parts_that_overlap_or_are_empty_are_refused():
    with pytest.raises(DataError, match="test_rows = '4:' overlaps"):
        given_split("t", 10, train=":5", validation="", test="4:")
    with pytest.raises(DataError, match="selects none of the 10 rows"):
        given_split("t", 10, train=":5", validation="", test="10:")


def test_the_hash_of_a_table_depends_on_values_not_on_storage_types():
    a = pd.DataFrame({"n": np.array([1, 2, 3], dtype="uint8"), "t": ["x", None, "y"]})
    b = pd.DataFrame({"n": [1.0, 2.0, 3.0], "t": pd.Categorical(["x", None, "y"], ["y", "unused", "x"])})
    assert table_hash(a) == table_hash(b)
    for changed in (
        a.assign(n=[1, 2, 4]), a.assign(t=["x", None, "z"]), a.assign(t=["x", "y", None]), a.iloc[::-1],
        a[["t", "n"]], a.rename(columns={"n": "m"}),
    ):  # fmt: skip
        assert table_hash(changed) != table_hash(a)


def test_a_table_is_cached_only_if_both_files_are_intact(tmp_path):
    place = CachedTable(tmp_path, "t")
    frame = pd.DataFrame({"n": [1.0, np.nan], "t": pd.Categorical(["x", "y"])})
    assert place.read() is None
    place.write(frame, {"name": "t"})
    found, note = place.read()
    assert note["content"] == table_hash(found) == table_hash(frame)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.json", "t.parquet"]
    intact = place.data_path.read_bytes()
    for damaged in (intact[:-1], bytes([intact[0] ^ 1]) + intact[1:]):
        place.data_path.write_bytes(damaged)
        assert place.read() is None
    place.data_path.write_bytes(intact)
    place.note_path.write_text(place.note_path.read_text()[:-20])
    assert place.read() is None
    place.note_path.unlink()
    assert place.read() is None


@given(target=st.integers(1, 28))
def test_an_area_mean_covers_every_pixel_once(target):
    overlap = area_overlap(28, target)
    assert overlap.sum(axis=1).tolist() == [28] * target
    assert overlap.sum(axis=0).tolist() == [target] * 28


def test_area_overlap_by_hand():
    assert area_overlap(3, 2).tolist() == [[2, 1, 0], [0, 1, 2]]


def test_wrong_resolutions_are_refused():
    for wrong in ([], [4, 4], [29]):
        with pytest.raises(RequestError, match="resolutions"):
            build(MnistPyramid, {"resolutions": wrong}, "suite.toml")
