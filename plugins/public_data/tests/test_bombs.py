"""Small files that expand to large tables are refused before they are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench_public_data import local_files
from bench_public_data.csv_source import Csv
from bench_public_data.openml_client import from_mirror
from bench_public_data.parquet_source import Parquet
from bench_public_data.svmlight import SvmLight

from bench_core import DataError


@pytest.fixture
def little_memory():
    """Limit the address space, so that reading a large table fails with MemoryError and does not fill the memory."""
    import psutil

    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 2**31, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def many_rows(path: Path) -> None:
    """Write ten million rows of nulls in a few kilobytes."""
    nothing = pa.nulls(10_000_000, pa.float64())
    pq.write_table(pa.table({"a": nothing, "y": nothing}), path, compression="zstd")


def long_texts(path: Path) -> None:
    """Write a text of a megabyte a hundred thousand times, as dictionary codes."""
    codes = pa.array(np.zeros(100_000, dtype=np.int32))
    texts = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 2**20]))
    table = pa.table({"a": texts, "y": pa.array(np.arange(100_000) % 2)})
    pq.write_table(table, path, compression="zstd", store_schema=False)


def test_a_small_parquet_file_of_many_rows_is_refused(tmp_path, context, monkeypatch):
    monkeypatch.setattr(local_files, "MOST_VALUES", 19_999_999)
    path = tmp_path / "bomb.parquet"
    many_rows(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="the table has 20000000 values") as caught:
        Parquet(path=str(path), target="y").load(context)
    assert str(path) in str(caught.value)


def test_a_small_parquet_file_of_long_texts_is_refused(tmp_path, context, little_memory):
    path = tmp_path / "bomb.parquet"
    long_texts(path)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(DataError, match="column 'a': the texts take 104857600000 bytes") as caught:
        Parquet(path=str(path), target="y").load(context)
    assert str(path) in str(caught.value)


def test_texts_of_a_parquet_file_are_read_unchanged(tmp_path, context):
    table = pa.table({"a": ["blue", None, "red", "blue"], "b": [1.0, 2.0, None, 4.0], "y": ["p", "q", "p", "q"]})
    pq.write_table(table, tmp_path / "t.parquet")
    data = Parquet(path=str(tmp_path / "t.parquet"), target="y").load(context)
    assert data.categories[0] == ("blue", "red")
    assert np.array_equal(data.values, [[0, 1], [np.nan, 2], [1, np.nan], [0, 4]], equal_nan=True)
    assert data.classes == ("p", "q")


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")])
@pytest.mark.parametrize("source", [Csv, SvmLight])
def test_a_small_compressed_file_of_a_long_text_is_refused(source, pack, ending, tmp_path, context, monkeypatch):
    monkeypatch.setattr(local_files, "MOST_BYTES", 1_000_000)
    path = tmp_path / f"t.txt{ending}"
    path.write_bytes(pack(b"a,y\n" + b"0,1\n" * 300_000))
    parameters = {"target": "y"} if source is Csv else {}
    with pytest.raises(DataError, match="unpacks to more than 1000000 bytes") as caught:
        source(path=str(path), **parameters).load(context)
    assert str(path) in str(caught.value)


def test_a_mirrors_parquet_file_of_a_large_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(local_files, "MOST_VALUES", 19_999_999)
    folder = tmp_path / "7"
    folder.mkdir()
    many_rows(folder / "dataset_7.pq")
    (folder / "description.xml").write_text(
        '<oml:data_set_description xmlns:oml="http://openml.org/openml"><oml:id>7</oml:id><oml:name>bomb</oml:name>'
        "<oml:version>1</oml:version><oml:format>ARFF</oml:format><oml:parquet_url>http://localhost/x.pq"
        "</oml:parquet_url><oml:file_id>1</oml:file_id><oml:url>http://localhost/x</oml:url>"
        "<oml:default_target_attribute>y</oml:default_target_attribute></oml:data_set_description>"
    )
    with pytest.raises(DataError, match="20000000 values"):
        from_mirror(folder, 7, tmp_path)
