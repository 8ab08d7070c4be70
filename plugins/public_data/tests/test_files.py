"""CSV and Parquet files: values are read exactly, and malformed files are refused with file, line and column."""

from __future__ import annotations

import gzip
import lzma
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bench_public_data.csv_source import Csv
from bench_public_data.parquet_source import Parquet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_core import DataContext, DataError, DataUnavailable, RequestError, build

GOOD = 'a,b,colour,y\n1,2.5,red,yes\n2,,"blue, light",no\n\n3,NA,red,yes\n4,0.1,green,no\n'


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text: str | bytes, name: str = "t.csv") -> str:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    return write


def test_a_csv_file_is_read_as_a_data_set(write, context):
    data = Csv(path=write(GOOD), target="y").load(context)
    assert (data.name, data.task, data.classes) == ("t", "binary", ("no", "yes"))
    assert data.feature_names == ("a", "b", "colour")
    assert data.categorical == (2,)
    assert data.categories[2] == ("blue, light", "green", "red")
    expected = [[1, 2.5, 2], [2, np.nan, 0], [3, np.nan, 2], [4, 0.1, 1]]
    assert np.array_equal(data.values, expected, equal_nan=True)
    assert data.target.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (lzma.compress, ".xz")])
def test_compressed_files_are_the_same_data(pack, ending, write, context):
    plain = Csv(path=write(GOOD), target="y").load(context)
    packed = Csv(path=write(pack(GOOD.encode()), f"t.csv{ending}"), target="y").load(context)
    assert (packed.content, packed.name) == (plain.content, plain.name)


def test_separator_column_names_and_missing_texts_can_be_given(write, context):
    path = write("1;-;x\n2;5;z\n", "raw.txt")
    data = Csv(path=path, target="y", separator=";", columns=["a", "b", "y"], missing=["-"]).load(context)
    assert np.array_equal(data.values, [[1, np.nan], [2, 5]], equal_nan=True)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["007", "12", "007", "12"], ("007", "12")),
        (["1e2", "1", "1", "1"], ("1", "1e2")),
        (["9007199254740993", "1", "1", "1"], ("1", "9007199254740993")),
        (["1.0", "0.0", "1", "0"], ("0", "1")),
    ],
)
def test_classes_that_look_like_numbers_are_those_of_the_file(labels, classes, write, context):
    path = write("a,y\n" + "".join(f"{row},{label}\n" for row, label in enumerate(labels)))
    data = Csv(path=path, target="y").load(context)
    assert data.classes == classes
    written = [label.removesuffix(".0") for label in labels]
    assert [data.classes[code] for code in data.target] == written
    assert Csv(path=path, target="y", task="regression").load(context).target.tolist() == list(map(float, labels))


@pytest.mark.parametrize(("one", "other"), [("007", "7"), ("100", "1e2"), ("9007199254740992", "9007199254740993")])
def test_two_labels_that_are_one_number_are_refused(one, other, write, context):
    path = write(f"a,y\n1,{one}\n2,{other}\n3,1\n")
    with pytest.raises(DataError, match=f"t.csv: labels '{one}' and '{other}' of the target 'y' are the same number"):
        Csv(path=path, target="y").load(context)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(
        st.lists(st.floats(allow_infinity=False, allow_nan=False), min_size=3, max_size=3), min_size=2, max_size=8
    )
)
def test_every_number_survives_a_csv_exactly(values, tmp_path, context):
    array = np.array(values)
    frame = pd.DataFrame(array, columns=["a", "b", "c"]).assign(
        y=["p", "q"] * (len(array) // 2) + ["p"] * (len(array) % 2)
    )
    path = tmp_path / "numbers.csv"
    frame.to_csv(path, index=False)
    assert np.array_equal(Csv(path=str(path), target="y").load(context).values, array)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t.csv: the file is empty"),
        ("a,y\n", "t.csv: the table has no rows"),
        ("a,y\n1,p\n1,2,q\n", "t.csv, line 3: 3 values for 2 columns"),
        ("a,y\n1,p\n1\n2,q\n", "t.csv, line 3: 1 values for 2 columns"),
        ('a,y\n"1\n2",p\n1,2,q\n', "t.csv, line 4: 3 values for 2 columns"),
        ("a,a,y\n1,2,p\n1,2,q\n", "t.csv, line 1: two columns are called 'a'"),
        ("a,,y\n1,2,p\n1,2,q\n", "t.csv, line 1: column 2 has no name"),
        ("a,y\n1,p\n\ninf,q\n", "t.csv, line 4, column 'a': the value is infinite"),
        ("a,y\n1,p\n2,p\n", "at least two classes"),
        ("a,yy\n1,p\n2,q\n", "there is no column 'y' (target); did you mean 'yy'?"),
        ("a,y\n1,p\n2,\n", "target 'y' misses 1 value"),
        ("a,y\n" + "1,p\n" * 30 + "1o,q\n" + "2,q\n" * 5, "t.csv, line 32, column 'a': '1o' is not a number"),
        ("é,y\n1,p\n".encode("latin-1"), "t.csv, line 1: not UTF-8"),
    ],
)
def test_a_malformed_csv_is_refused_with_its_line(text, said, write, context):
    with pytest.raises(DataError) as caught:
        Csv(path=write(text), target="y").load(context)
    assert said in str(caught.value)


def test_a_text_in_a_regression_target_or_a_size_is_refused_with_its_line(write, context):
    path = write("a,n,y\n1,5,1.5\n2,x,oops\n")
    with pytest.raises(DataError, match=r"line 3, column 'y': 'oops' is not a number"):
        Csv(path=path, target="y", task="regression", drop=["n"]).load(context)
    with pytest.raises(DataError, match=r"line 3, column 'n': 'x' is not a number"):
        Csv(path=path, target="y", size="n").load(context)


def test_a_column_of_numbers_and_texts_can_be_declared_categorical(write, context):
    path = write("a,y\n" + "1,p\n" * 30 + "1o,q\n")
    assert Csv(path=path, target="y", categorical=["a"]).load(context).categories[0] == ("1", "1o")


def test_a_missing_file_is_reported_with_the_directories_searched(write, context, tmp_path):
    write(GOOD, "train.csv")
    source = Csv(path="trian.csv", target="y")
    with pytest.raises(DataUnavailable) as caught:
        source.load(replace(context, mirror=tmp_path / "mirror"))
    assert str(tmp_path / "trian.csv") in str(caught.value)
    assert str(tmp_path / "mirror" / "trian.csv") in str(caught.value)
    assert "did you mean 'train.csv'" in str(caught.value)
    assert source.status(context) == "missing"
    assert source.fingerprint(context) is None


def test_a_relative_path_is_looked_up_in_the_working_directory_then_in_the_mirror(write, context, tmp_path):
    (tmp_path / "mirror").mkdir()
    mirrored = replace(context, mirror=tmp_path / "mirror")
    write(GOOD, "mirror/t.csv")
    source = Csv(path="t.csv", target="y")
    assert source.status(mirrored) == "mirrored"
    assert source.load(mirrored).n_rows == 4
    write("\n".join(GOOD.splitlines()[:3]), "t.csv")
    assert source.status(mirrored) == "cached"
    assert source.load(mirrored).n_rows == 2


def test_the_fingerprint_changes_with_the_file(write, context, tmp_path):
    source = Csv(path=write(GOOD), target="y")
    first = source.fingerprint(context)
    assert source.fingerprint(context) == first
    import os

    os.utime(tmp_path / "t.csv", ns=(1, 1))
    assert source.fingerprint(context) != first


def test_several_files_form_a_given_split(write, context):
    train, test = write(GOOD, "train.csv"), write("b,a,colour,y\n7,8,red,yes\n", "test.csv")
    data = Csv(path=train, test_path=test, target="y").load(context)
    assert data.split.tolist() == [0, 0, 0, 0, 2]
    assert data.values[4].tolist() == [8, 7, 2]
    with_validation = Csv(path=train, test_path=test, validation_path=test, target="y").load(context)
    assert with_validation.split.tolist() == [0, 0, 0, 0, 1, 2]
    other = write("a,colour,y\n8,red,yes\n", "narrow.csv")
    with pytest.raises(DataError, match=r"narrow\.csv: there is no column 'b'"):
        Csv(path=train, test_path=other, target="y").load(context)


def test_columns_have_one_type_over_all_files(write, context):
    """A text in one file makes the column text in the other, too: 1 is the same class and category in both."""
    train = write("a,b,y\n1,0.5,1\n2,1,0\nA,2,unsure\n", "train.csv")
    test = write("b,a,y\n3,2,0\n4,1,1\n", "test.csv")
    data = Csv(path=train, test_path=test, target="y").load(context)
    assert data.classes == ("0", "1", "unsure")
    assert data.target.tolist() == [1, 0, 2, 0, 1]
    assert data.categories == {0: ("1", "2", "A")}
    assert data.values.tolist() == [[0, 0.5], [1, 1], [2, 2], [1, 3], [0, 4]]


def test_parquet_files_with_different_types_of_a_column_are_refused(context, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": [1.0, 2.0], "y": ["p", "q"]}).to_parquet("train.parquet")
    pd.DataFrame({"a": ["1", "2"], "y": ["p", "q"]}).to_parquet("test.parquet")
    pd.DataFrame({"a": [None, None], "y": ["p", "q"]}).to_parquet("empty.parquet")
    with pytest.raises(DataError, match=r"train\.parquet: column 'a' holds numbers here or in test\.parquet"):
        Parquet(path="train.parquet", test_path="test.parquet", target="y").load(context)
    assert Parquet(path="train.parquet", test_path="empty.parquet", target="y").load(context).n_rows == 4


def test_a_text_among_numbers_is_found_in_the_second_file(write, context):
    train, test = write("a,y\n" + "1.5,p\n" * 30, "train.csv"), write("a,y\n1,q\nx,q\n", "test.csv")
    with pytest.raises(DataError, match=r"test\.csv, line 3, column 'a': 'x' is not a number"):
        Csv(path=train, test_path=test, target="y").load(context)


def test_a_repeated_word_among_many_numbers_is_refused_and_codes_are_categories(write, context):
    rows = [f"{'NULL' if i % 5 == 0 else i / 7},{'2-5' if i % 5 == 0 else i % 3},{i % 2}" for i in range(60)]
    path = write("a,b,y\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match=r"t\.csv, line 2, column 'a': 'NULL' is not a number.*--missing NULL"):
        Csv(path=path, target="y").load(context)
    data = Csv(path=path, target="y", missing=["NULL"]).load(context)
    assert (data.categorical, data.categories[1]) == ((1,), ("0", "1", "2", "2-5"))


def test_a_directory_is_no_file(write, context, tmp_path):
    (tmp_path / "d").mkdir()
    with pytest.raises(DataUnavailable, match="d' is a directory, not a file"):
        Csv(path="d", target="y").load(context)


def test_columns_of_sizes_queries_and_splits_are_not_features(write, context):
    path = write("a,n,q,s,z,y\n1,10,u,train,0,0.5\n2,20,u,test,0,1\n3,30,v,train,0,2\n")
    data = Csv(path=path, target="y", size="n", query="q", split="s", drop=["z"]).load(context)
    assert data.task == "ranking"
    assert data.feature_names == ("a",)
    assert data.sizes.tolist() == [10, 20, 30]
    assert data.query.tolist() == [0, 0, 1]
    assert data.split.tolist() == [0, 2, 0]


def test_parquet_holds_the_same_data_as_csv(write, context, tmp_path):
    plain = Csv(path=write(GOOD), target="y").load(context)
    frame = pd.DataFrame(
        {
            "a": [1, 2, 3, 4],
            "b": [2.5, None, None, 0.1],
            "colour": pd.Categorical(["red", "blue, light", "red", "green"]),
            "y": ["yes", "no", "yes", "no"],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    assert Parquet(path="t.parquet", target="y").load(context).content == plain.content


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"a": [1.0, np.inf], "y": ["p", "q"]}, r"t\.parquet, row 1 .*column 'a': the value is infinite"),
        ({"a": [1.0, 2.0], "y": ["p", "p"]}, r"t\.parquet: .*two classes"),
        ({"a": [], "y": []}, r"t\.parquet: the table has no rows"),
        ({"a": [1.0], "z": ["p"]}, r"no column 'y' \(target\)"),
    ],
)
def test_a_malformed_parquet_is_refused(frame, said, context, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(frame).to_parquet("t.parquet")
    with pytest.raises(DataError, match=said):
        Parquet(path="t.parquet", target="y").load(context)


def test_parquet_columns_of_one_name_and_broken_files_are_refused(write, context, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.array([1.0, 2.0])
    pq.write_table(pa.Table.from_arrays([column, column], names=["a", "a"]), tmp_path / "twice.parquet")
    with pytest.raises(DataError, match="two columns are called 'a'"):
        Parquet(path="twice.parquet", target="a").load(context)
    with pytest.raises(DataError, match=r"bad\.parquet: not a readable Parquet file"):
        Parquet(path=write("PAR1 no", "bad.parquet"), target="a").load(context)


def test_groups_and_prices_come_with_the_data(write, context):
    path = write("v1_a,v1_b,v2_a,w,y\n1,2,3,4,p\n5,6,7,8,q\n")
    groups = {"one": "v1_*", "two": "v2_*"}
    data = Csv(path=path, target="y", groups=groups, group_prices={"one": 10.0, "two": 3.0}).load(context)
    assert data.costs.cost_of([0]) == 10
    assert data.costs.cost_of([0, 1]) == 10
    assert data.costs.cost_of([0, 2, 3]) == 14  # w is in no group and costs 1
    each = Csv(path=path, target="y", groups=groups, group_prices={"one": 10.0}, price_each=0.5).load(context)
    assert each.costs.cost_of([0, 1, 2]) == 11.5
    assert Csv(path=path, target="y").load(context).costs is None
    with pytest.raises(DataError, match="in two groups"):
        Csv(path=path, target="y", groups={"all": "v*", "one": "v1_*"}).load(context)
    with pytest.raises(DataError, match=r"'v9_\*' \(group 'nine'\)"):
        Csv(path=path, target="y", groups={"nine": "v9_*"}).load(context)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"path": "", "target": "y"}, "path must be a text of at least 1 character, not ''"),
        ({"path": "a"}, "target"),
        ({"path": "a", "target": "y", "separator": "::"}, "separator must be a text of 1 character, not '::'"),
        ({"path": "a", "target": "y", "validation_path": "b"}, "needs test_path"),
        ({"path": "a", "target": "y", "test_path": "./a"}, "path and test_path (or validation_path) are the same file"),
        ({"path": "a", "target": "y", "price_each": -1.0}, "price_each must be a number of at least 0"),
        ({"path": "a", "target": "y", "group_prices": {"g": 1.0}}, "group_prices names 'g'"),
        ({"path": "a", "targett": "y"}, "did you mean 'target'"),
    ],
)
def test_wrong_parameters_are_refused(wrong, said):
    with pytest.raises(RequestError) as caught:
        build(Csv, wrong, "suite.toml")
    assert said in str(caught.value)


def test_fetching_a_local_file_writes_no_cache(write, tmp_path):
    Csv(path=write(GOOD), target="y").fetch(DataContext(tmp_path / "never"))
    assert not (tmp_path / "never").exists()
