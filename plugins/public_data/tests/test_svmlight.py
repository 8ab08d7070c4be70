"""SVMlight / LETOR files: sparse rows, queries by qid or group file, relevance; errors name file, line and feature."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from bench_public_data.svmlight import SvmLight
from bench_public_data.svmlight_format import line_of_feature
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_core import DataError, DataUnavailable, RequestError, build

LETOR = "# a comment\n2 qid:7 1:0.5 3:-1e2 # doc\n0 qid:7 2:3\n\n1 qid:9 3:4\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text: str | bytes, name: str = "t.txt") -> str:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    return write


def test_the_line_of_a_feature_is_found_with_leading_zeros_and_for_feature_zero(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("1 1:1\n0 007:2 # 8:1\n1 0:3\n")
    assert [line_of_feature(path, feature) for feature in (1, 7, 0, 8)] == [1, 2, 3, 0]


def test_a_letor_file_is_a_ranking_data_set(write, context):
    data = SvmLight(path=write(LETOR)).load(context)
    assert (data.name, data.task) == ("t", "ranking")
    assert data.feature_names == ("f1", "f2", "f3")
    assert data.values.tolist() == [[0.5, 0, -100], [0, 3, 0], [0, 0, 4]]
    assert data.target.tolist() == [2, 0, 1]
    assert data.query.tolist() == [7, 7, 9]
    assert data.split is None


@pytest.mark.parametrize("pack", [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")])
def test_compressed_files_are_the_same_data(pack, write, context):
    plain = SvmLight(path=write(LETOR)).load(context)
    packed = SvmLight(path=write(pack[0](LETOR.encode()), f"t.txt{pack[1]}")).load(context)
    assert (packed.content, packed.name) == (plain.content, plain.name)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.lists(st.floats(allow_infinity=False, allow_nan=False), min_size=4, max_size=4), min_size=1, max_size=6
    )
)
def test_every_number_survives_exactly(rows, tmp_path, context):
    lines = [
        f"{i}.5 " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value) for i, row in enumerate(rows)
    ]
    (tmp_path / "n.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = SvmLight(path=str(tmp_path / "n.txt"), features=4, task="regression")
    if not np.any(rows):
        with pytest.raises(DataError, match="no line names a feature"):
            source.load(context)
        return
    data = source.load(context)
    assert np.array_equal(data.values, np.array(rows))
    assert data.target.tolist() == [i + 0.5 for i in range(len(rows))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t.txt: the file is empty"),
        ("# only\n# words\n", "t.txt: the file holds comments only"),
        ("1 1:0.5\n0 1:x\n", "t.txt, line 2, feature 1: 'x' is not a number"),
        ("1 1:0.5\n\n0 1:inf\n", "t.txt, line 3, feature 1: 'inf' is not finite"),
        ("1 1:nan\n0 1:1\n", "t.txt, line 1, feature 1: 'nan' is not finite"),
        ("yes 1:1\n", "t.txt, line 1, target: 'yes' is not a number"),
        ("1 1:1 a:2\n", "t.txt, line 1, feature number: 'a' is not an integer"),
        ("1 2:1 1:2\n", "t.txt, line 1: feature numbers must ascend from 1; 1 follows 2"),
        ("1 1:1 1:2\n", "t.txt, line 1: feature numbers must ascend from 1; 1 follows 1"),
        ("1 0:1\n", "t.txt, line 1: feature numbers must ascend from 1; 0 is below 1"),
        ("1 1:1 2\n", "t.txt, line 1: '2' is not <index>:<value>"),
        ("1 qid:1 1:1\n0 1:2\n", "t.txt, line 2: has no qid:, unlike the lines before"),
        ("1 1:1\n0 qid:2 1:2\n", "t.txt, line 2: has qid:, unlike the lines before"),
        ("1 qid:x 1:1\n", "t.txt, line 1, qid: 'x' is not an integer"),
        ("1 1:1\n1 1:2\n", "two classes"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(text, said, write, context):
    with pytest.raises(DataError) as caught:
        SvmLight(path=write(text)).load(context)
    assert said in str(caught.value)


def test_damaged_compression_is_named(write, context):
    with pytest.raises(DataError, match=r"t\.txt\.xz: cannot be read"):
        SvmLight(path=write(lzma.compress(LETOR.encode())[:-20], "t.txt.xz")).load(context)


def test_indices_may_start_at_0(write, context):
    data = SvmLight(path=write("1 0:5 2:6\n0 1:7\n"), first_index=0).load(context)
    assert data.feature_names == ("f0", "f1", "f2")
    assert data.values.tolist() == [[5, 0, 6], [0, 7, 0]]


@pytest.mark.parametrize("groups", ["train.query", "train.txt.query"])
def test_group_files_in_the_datas_directory_give_the_queries(groups, write, context):
    train = write("1 1:1\n0 1:2\n2 1:3\n", "train.txt")
    write("2\n1\n", groups)
    test = write("1 2:1\n0 2:2\n", "test.txt")
    write("1\n1\n", "groups.txt")
    data = SvmLight(path=train, test_path=test, test_query_path="groups.txt").load(context)
    assert data.task == "ranking"
    assert data.query.tolist() == [0, 0, 1, 2, 3]  # the queries of the test part have numbers of their own
    assert data.split.tolist() == [0, 0, 0, 2, 2]
    assert data.n_features == 2


def test_group_files_that_do_not_fit_are_refused(write, context):
    path = write("1 1:1\n0 1:2\n2 1:3\n")
    for text, said in (("2\n", "2 rows together, t.txt has 3"), ("2\nx\n", "line 2: 'x'"), ("0\n3\n", "line 1")):
        write(text, "t.query")
        with pytest.raises(DataError, match=r"t\.query") as caught:
            SvmLight(path=path).load(context)
        assert said in str(caught.value)


def test_ranking_needs_queries_in_every_part(write, context):
    plain = write("1 1:1\n0 1:2\n", "plain.txt")
    with pytest.raises(DataError, match=r"plain\.txt: ranking needs queries"):
        SvmLight(path=plain, task="ranking").load(context)
    with pytest.raises(DataError, match=r"plain\.txt: no queries"):
        SvmLight(path=write(LETOR), test_path=plain).load(context)


def test_relevance_can_be_made_binary_and_the_irrelevant_repeated(write, context):
    path = write(LETOR)
    ranking = SvmLight(path=path, relevant_from=2).load(context)
    assert (ranking.task, ranking.target.tolist()) == ("ranking", [1, 0, 0])
    skewed = SvmLight(path=path, relevant_from=2, repeat_irrelevant=3, task="binary").load(context)
    assert (skewed.task, skewed.classes) == ("binary", ("0", "1"))
    assert skewed.target.tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert skewed.query.tolist() == [7, 7, 7, 7, 9, 9, 9]
    assert skewed.values[:, 1].tolist() == [0, 3, 3, 3, 0, 0, 0]


def test_classes_or_regression_are_guessed_from_the_targets(write, context):
    assert SvmLight(path=write("1 1:1\n-1 1:2\n")).load(context).classes == ("-1", "1")
    assert SvmLight(path=write("1 1:1\n2 1:2\n3 1:2\n")).load(context).task == "multiclass"
    assert SvmLight(path=write("1.5 1:1\n2 1:2\n")).load(context).task == "regression"


def test_the_number_of_features_can_be_given(write, context):
    assert SvmLight(path=write(LETOR), features=5).load(context).values.shape == (3, 5)
    with pytest.raises(DataError, match="names feature 3, but features = 2"):
        SvmLight(path=write(LETOR), features=2).load(context)


def test_missing_files_and_fingerprints(write, context, tmp_path):
    source = SvmLight(path="t.txt", test_path="u.txt")
    write(LETOR)
    assert source.status(context) == "missing"
    assert source.fingerprint(context) is None
    with pytest.raises(DataUnavailable, match=r"u\.txt"):
        source.load(context)
    (tmp_path / "mirror").mkdir()
    write(LETOR, "mirror/u.txt")
    mirrored = replace(context, mirror=tmp_path / "mirror")
    assert source.status(mirrored) == "mirrored"
    first = source.fingerprint(mirrored)
    write(LETOR + "0 qid:9 1:1\n", "mirror/u.txt")
    assert source.fingerprint(mirrored) != first
    assert source.load(mirrored).split.tolist() == [0, 0, 0, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "path"),
        ({"path": "a", "repeat_irrelevant": 10}, "needs relevant_from"),
        ({"path": "a", "validation_path": "b"}, "needs test_path"),
        ({"path": "a", "first_index": 2}, "first_index"),
        ({"path": "a", "features": 0}, "at least 1"),
    ],
)
def test_wrong_parameters_are_refused(wrong, said):
    with pytest.raises(RequestError) as caught:
        build(SvmLight, wrong, "suite.toml")
    assert said in str(caught.value)


def test_a_feature_number_that_needs_gigabytes_is_refused_before_allocation(write, context):
    path = write("# a short file\n1 1:0.5 2:1\n0 3:2 50000000:1\n")
    tracemalloc.start()
    with pytest.raises(DataError, match=r"t\.txt, line 3: feature number 50000000 makes .* 2 x 50000000") as caught:
        SvmLight(path=path).load(context)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert "most_values = 50000000000 (now 500000000)" in str(caught.value)
    with pytest.raises(DataError, match=r"t\.txt: features = 60000000 makes"):
        SvmLight(path=path, features=60_000_000).load(context)


def test_the_limit_on_the_dense_table_can_be_set(write, context):
    path = write("1 1:0.5\n0 3000:2\n")
    assert SvmLight(path=path).load(context).n_features == 3000
    assert SvmLight(path=path, most_values=3_000_000).load(context).n_features == 3000
    with pytest.raises(DataError, match="line 2: feature number 3000"):
        SvmLight(path=path, most_values=2_999_999).load(context)
