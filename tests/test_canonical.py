"""Canonical JSON and content hashes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_core.contract.canonical import canonical_json, content_hash, plain, sha256_text, source_hash

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(values)
def test_the_text_reads_back_to_the_value_and_the_value_gives_the_text(value):
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@pytest.mark.slow
@given(st.dictionaries(st.text(), st.integers(), min_size=2), st.randoms())
def test_the_order_of_keys_does_not_matter(table, random):
    items = list(table.items())
    random.shuffle(items)
    assert canonical_json(dict(items)) == canonical_json(table)


def test_the_canonical_text_never_changes():
    text = canonical_json({"b": [1, 2.0, 0.1, True, None], "a": "p̂ ≥ 0"})
    assert text == '{"a":"p̂ ≥ 0","b":[1,2.0,0.1,true,null]}'
    assert sha256_text("p̂") == "bac819000b4d7453c9b52dd9be7c143c6e1f8aef5d38d69eccac12bdefb39c08"


@pytest.mark.parametrize("bad", [math.nan, math.inf, [-math.inf]])
def test_values_that_json_cannot_express_are_refused(bad):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(bad)


def test_plain_converts_numpy_containers_and_paths():
    mixed = {
        1: np.array([[1, 2], [3, 4]]), "f": np.float32(0.5), "b": np.bool_(True), "t": (1, "x"), "s": {3, 1, 2},
        "n": None, "nan": float("nan"), "inf": np.array([np.inf, 1.0]), "p": Path("a") / "b",
    }  # fmt: skip
    assert plain(mixed) == {
        "1": [[1, 2], [3, 4]], "f": 0.5, "b": True, "t": [1, "x"], "s": [1, 2, 3], "n": None, "nan": None,
        "inf": [None, 1.0], "p": str(Path("a") / "b"),
    }  # fmt: skip
    canonical_json(plain(mixed))


def test_an_object_has_no_plain_form():
    with pytest.raises(TypeError, match="object has no plain JSON form"):
        plain({"x": object()})


@pytest.mark.parametrize("value", [object(), [1, object()], {"deep": {"a": object()}}, np.array([object()])])
def test_the_error_for_an_object_names_its_key_and_no_memory_address(value):
    with pytest.raises(TypeError, match=r"object has no plain JSON form \(key 'a'\)") as caught:
        plain({"b": 1, "a": value})
    assert "0x" not in str(caught.value)


def hashed(**arrays):
    return content_hash({"v": 1}, arrays)


def test_the_content_hash_covers_name_type_shape_and_value():
    base = np.arange(6.0)
    different = [
        hashed(a=base), hashed(b=base), hashed(a=base.astype(np.float32)), hashed(a=base.reshape(2, 3)),
        hashed(a=base.reshape(3, 2)), hashed(a=base + 1e-9), hashed(a=base.astype(np.int64)), hashed(a=None), hashed(),
        hashed(a=base, b=None), content_hash({"v": 2}, {"a": base}),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


def test_the_content_hash_ignores_layout_order_and_the_sign_of_zero_and_of_nan():
    table = np.arange(6.0).reshape(2, 3)
    assert hashed(a=table) == hashed(a=np.asfortranarray(table)) == hashed(a=np.vstack([table, table])[:2])
    assert hashed(a=table, b=table) == content_hash({"v": 1}, {"b": table, "a": table})
    assert hashed(a=np.array([0.0, np.nan])) == hashed(a=np.array([-0.0, -np.nan]))


def test_hashing_changes_nothing():
    array = np.array([-0.0, np.nan, 1.0])
    hashed(a=array)
    assert math.copysign(1, array[0]) == -1


def test_the_source_hash_covers_python_files_and_their_places(tmp_path):
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "a.py").write_text("x = 1\n")
    first = source_hash(package)
    (package / "notes.txt").write_text("nothing")
    assert source_hash(package) == first
    (package / "inner" / "b.py").write_text("")
    second = source_hash(package)
    (package / "inner" / "b.py").rename(package / "b.py")
    third = source_hash(package)
    (package / "a.py").write_text("x = 2\n")
    assert len({first, second, third, source_hash(package)}) == 4


def test_the_source_hash_of_one_file_covers_that_file_only(tmp_path):
    single = tmp_path / "single.py"
    single.write_text("x = 1\n")
    first = source_hash(single)
    (tmp_path / "other.py").write_text("y = 1\n")
    assert source_hash(single) == first
    single.write_text("x = 2\n")
    assert source_hash(single) != first
