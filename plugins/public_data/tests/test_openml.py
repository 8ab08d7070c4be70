"""OpenML: download (Parquet or ARFF), mirror and cache give the same table, and failures leave no partial file."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import openml
import pandas as pd
import pytest
from bench_public_data import named
from bench_public_data.mnist import Mnist
from bench_public_data.openml_source import OpenML

from bench_core import DataContext, DataError, DataUnavailable, RequestError, build

ID = 99991
ROWS = 40


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], ROWS)
    return pd.DataFrame(
        {
            "size": rng.integers(0, 9, ROWS).astype("uint8"),
            "weight": np.where(np.arange(ROWS) == 3, np.nan, rng.normal(size=ROWS).round(4)),
            "colour": pd.Categorical(np.where(np.arange(ROWS) == 5, None, colour), ["red", "green", "blue"]),
            "flag": pd.Categorical(rng.choice(["0", "1"], ROWS), ["0", "1"]),
            "outcome": pd.Categorical(["good", "bad"] * (ROWS // 2), ["bad", "good"]),
        }
    )


def arff(frame: pd.DataFrame) -> bytes:
    lines = ["@RELATION toy"]
    for name in frame.columns:
        kind = frame[name].dtype
        levels = ",".join(kind.categories) if isinstance(kind, pd.CategoricalDtype) else ""
        lines.append(f"@ATTRIBUTE {name} {'{' + levels + '}' if levels else 'REAL'}")
    lines.append("@DATA")
    lines.extend(",".join("?" if pd.isna(v) else str(v) for v in row) for row in frame.itertuples(index=False))
    return ("\n".join(lines) + "\n").encode()


def features(frame: pd.DataFrame) -> bytes:
    text = ""
    for i, name in enumerate(frame.columns):
        kind = frame[name].dtype
        nominal = isinstance(kind, pd.CategoricalDtype)
        levels = kind.categories if nominal else []
        text += (
            f"<oml:feature><oml:index>{i}</oml:index><oml:name>{name}</oml:name>"
            f"<oml:data_type>{'nominal' if nominal else 'numeric'}</oml:data_type>"
            + "".join(f"<oml:nominal_value>{level}</oml:nominal_value>" for level in levels)
            + "<oml:is_target>false</oml:is_target><oml:is_ignore>false</oml:is_ignore>"
            "<oml:is_row_identifier>false</oml:is_row_identifier>"
            "<oml:number_of_missing_values>0</oml:number_of_missing_values></oml:feature>"
        )
    return f'<oml:data_features xmlns:oml="http://openml.org/openml">{text}</oml:data_features>'.encode()


def description(url: str, *, parquet: bool, md5: str = "") -> bytes:
    return (
        '<oml:data_set_description xmlns:oml="http://openml.org/openml">'
        f"<oml:id>{ID}</oml:id><oml:name>toy</oml:name><oml:version>1</oml:version>"
        "<oml:description>a toy</oml:description><oml:format>ARFF</oml:format><oml:licence>CC0</oml:licence>"
        f"<oml:url>{url}/data/v1/download/1/toy.arff</oml:url>"
        + (f"<oml:parquet_url>{url}/datasets/toy/dataset_{ID}.pq</oml:parquet_url>" if parquet else "")
        + "<oml:default_target_attribute>outcome</oml:default_target_attribute>"
        + (f"<oml:md5_checksum>{md5}</oml:md5_checksum>" if md5 else "")
        + "<oml:status>active</oml:status></oml:data_set_description>"
    ).encode()


PARQUET = f"/datasets/toy/dataset_{ID}.pq"
ARFF = "/data/v1/download/1/toy.arff"
DESCRIPTION = f"/api/v1/xml/data/{ID}"


@pytest.fixture
def site(server, tmp_path, monkeypatch):
    """An OpenML server with one data set, as Parquet and as ARFF, which the openml package is configured for."""
    frame = table()
    frame.to_parquet(tmp_path / "toy.pq", index=False)
    server.bodies = {
        DESCRIPTION: description(server.url, parquet=True),
        f"/api/v1/xml/data/features/{ID}": features(frame),
        PARQUET: (tmp_path / "toy.pq").read_bytes(),
        ARFF: arff(frame),
    }
    monkeypatch.setattr(openml.config, "server", f"{server.url}/api/v1/xml")
    monkeypatch.setattr(openml.config, "connection_n_retries", 1)
    return server


@pytest.fixture
def mirror(tmp_path):
    """A mirror with the same data set, in the layout of openml's cache."""
    folder = tmp_path / "mirror" / "openml_cache" / "org" / "openml" / "www" / "datasets" / str(ID)
    folder.mkdir(parents=True)
    frame = table()
    frame.to_parquet(folder / f"dataset_{ID}.pq", index=False)
    (folder / "description.xml").write_bytes(description("http://127.0.0.1:1", parquet=True))
    (folder / "features.xml").write_bytes(features(frame))
    return tmp_path / "mirror"


def kept_files(context: DataContext) -> set[str]:
    return {path.name for path in context.cache.rglob("*") if path.is_file() and path.suffix != ".lock"}


def test_the_loaded_data_set_equals_the_table(site, context):
    data = OpenML(id=ID).load(context)
    frame = table()
    assert (data.name, data.task, data.classes) == ("toy", "binary", ("bad", "good"))
    assert data.feature_names == ("size", "weight", "colour", "flag")
    assert data.categorical == (2, 3)
    assert data.categories[2] == ("blue", "green", "red")
    assert np.array_equal(data.values[:, 1], frame["weight"], equal_nan=True)
    colours = ["" if np.isnan(code) else data.categories[2][int(code)] for code in data.values[:, 2]]
    assert colours == frame["colour"].astype("object").fillna("").tolist()
    assert [data.classes[code] for code in data.target] == frame["outcome"].tolist()
    assert data.provenance["licence"] == "CC0"


def test_parquet_arff_mirror_and_cache_give_one_content(site, mirror, tmp_path):
    source = OpenML(id=ID)
    by_parquet = DataContext(tmp_path / "a")
    contents = {source.load(by_parquet).content}
    assert f"GET {PARQUET}" in site.asked
    assert f"GET {ARFF}" not in site.asked
    contents.add(source.load(replace(by_parquet, offline=True)).content)  # from the cache
    site.bodies[DESCRIPTION] = description(site.url, parquet=False)
    contents.add(source.load(DataContext(tmp_path / "b")).content)
    assert f"GET {ARFF}" in site.asked
    contents.add(source.load(DataContext(tmp_path / "c", mirror=mirror, offline=True)).content)
    assert len(contents) == 1


def test_a_mirror_may_hold_arff_only(site, mirror, context):
    folder = next(mirror.rglob("description.xml")).parent
    (folder / f"dataset_{ID}.pq").unlink()
    (folder / "dataset.arff").write_bytes(arff(table()))
    asked_before = list(site.asked)
    mirrored = OpenML(id=ID).load(replace(context, mirror=mirror)).content
    assert site.asked == asked_before  # although the description names a Parquet file on the network
    assert mirrored == OpenML(id=ID).load(DataContext(context.cache / "other")).content


def test_arff_is_downloaded_if_the_server_lacks_the_parquet_file(site, context):
    del site.bodies[PARQUET]
    assert OpenML(id=ID).load(context).n_rows == ROWS
    assert f"GET {ARFF}" in site.asked


def test_a_cached_table_needs_no_connection(site, context):
    OpenML(id=ID).fetch(context)
    site.asked.clear()
    OpenML(id=ID).load(context)
    assert site.asked == []
    assert kept_files(context) == {f"{ID}.parquet", f"{ID}.json"}


def test_status_follows_the_data(site, mirror, context):
    source = OpenML(id=ID)
    assert source.status(context) == "missing"
    assert source.fingerprint(context) is None
    assert source.status(replace(context, mirror=mirror)) == "mirrored"
    source.fetch(context)
    assert source.status(context) == "cached"
    assert source.fingerprint(context) == source.fingerprint(replace(context, offline=True))


@pytest.mark.parametrize("path", [PARQUET, ARFF, DESCRIPTION, f"/api/v1/xml/data/features/{ID}"])
def test_an_interrupted_download_leaves_no_file_and_can_be_retried(path, site, context):
    if path == ARFF:
        site.bodies[DESCRIPTION] = description(site.url, parquet=False)
    complete = site.bodies[path]
    half = len(complete) // 2
    site.bodies[path], site.promised[path] = complete[:half], len(complete) - half
    with pytest.raises(DataUnavailable, match=f"OpenML data set {ID}") as caught:
        OpenML(id=ID).load(context)
    assert "BUDGETBENCH_MIRROR" in caught.value.hint
    assert kept_files(context) == set()
    assert OpenML(id=ID).status(context) == "missing"
    site.bodies[path] = complete
    site.promised.clear()
    assert OpenML(id=ID).load(context).n_rows == ROWS


def test_a_file_that_fails_its_checksum_is_refused(site, context):
    good = hashlib.md5(site.bodies[ARFF]).hexdigest()
    site.bodies[DESCRIPTION] = description(site.url, parquet=False, md5=good)
    complete = site.bodies[ARFF]
    site.bodies[ARFF] = b"\n".join(complete.splitlines()[:-5]) + b"\n"  # well-formed, five rows short
    with pytest.raises(DataUnavailable, match="Checksum"):
        OpenML(id=ID).load(context)
    assert kept_files(context) == set()
    site.bodies[ARFF] = complete
    assert OpenML(id=ID).load(context).n_rows == ROWS


def test_an_unknown_number_is_reported_with_the_servers_message(site, context):
    path = "/api/v1/xml/data/99992"
    site.status[path] = 412
    site.bodies[path] = (
        b'<oml:error xmlns:oml="http://openml.org/openml"><oml:code>111</oml:code>'
        b"<oml:message>Unknown dataset</oml:message></oml:error>"
    )
    with pytest.raises(DataUnavailable, match="Unknown dataset"):
        OpenML(id=99992).load(context)
    assert kept_files(context) == set()


def test_without_server_and_mirror_the_data_is_unavailable(site, context, monkeypatch):
    monkeypatch.setattr(openml.config, "server", "http://127.0.0.1:9/api/v1/xml")
    with pytest.raises(DataUnavailable, match="could not be downloaded"):
        OpenML(id=ID).load(context)


def test_offline_opens_no_connection(site, context):
    with pytest.raises(DataUnavailable, match="offline") as caught:
        OpenML(id=ID).load(replace(context, offline=True))
    assert "downloaded when it is first used" in caught.value.hint
    assert site.asked == []


@pytest.mark.parametrize("source", [named.Nomao, named.MiniBooNE, named.Adult, Mnist])
def test_the_command_in_the_hint_of_a_ready_made_set_names_it(source, context):
    with pytest.raises(DataUnavailable) as caught:
        source().load(replace(context, offline=True))
    assert f"bench data fetch {source.label}," in caught.value.hint


def test_a_damaged_cached_table_is_downloaded_again(site, context):
    source = OpenML(id=ID)
    content = source.load(context).content
    path = source.place(context).data_path
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    path.write_bytes(bytes(damaged))
    assert source.load(context).content == content
    path.write_bytes(path.read_bytes()[:-10])
    assert source.status(context) == "missing"
    with pytest.raises(DataUnavailable):
        source.load(replace(context, offline=True))
    assert source.load(context).content == content


def test_the_mirror_is_not_changed_and_openmls_configuration_is_restored(mirror, context):
    before = {path: path.stat().st_mtime_ns for path in mirror.rglob("*")}
    configured = openml.config.get_cache_directory()
    OpenML(id=ID).load(replace(context, mirror=mirror))
    assert {path: path.stat().st_mtime_ns for path in mirror.rglob("*")} == before
    assert openml.config.get_cache_directory() == configured


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (f"dataset_{ID}.pq", b"PAR1 no"),
        ("description.xml", b"<oops"),
        ("description.xml", b"<other/>"),
        ("features.xml", features(table()[["size"]])),
    ],
)
def test_a_damaged_mirror_is_reported_without_trying_a_connection(name, body, mirror, site, context):
    path = next(mirror.rglob(name))
    path.write_bytes(body)
    with pytest.raises(DataError, match=str(ID)):
        OpenML(id=ID).load(replace(context, mirror=mirror))
    assert site.asked == []
    assert kept_files(context) == set()


def test_threads_that_want_one_table_download_it_once(site, context):
    with ThreadPoolExecutor(4) as pool:
        contents = set(pool.map(lambda _: OpenML(id=ID).load(context).content, range(4)))
    assert len(contents) == 1
    assert site.asked.count(f"GET {DESCRIPTION}") == 1


@pytest.mark.weekly
def test_processes_can_load_one_table_at_once(mirror, context):
    code = (
        "import sys; from pathlib import Path; from bench_core.contract.sources import DataContext\n"
        "from bench_public_data.openml_source import OpenML\n"
        "cache, mirror, number = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])\n"
        "print(OpenML(id=number).load(DataContext(cache, mirror=mirror, offline=True)).content)"
    )
    command = [sys.executable, "-c", code, str(context.cache), str(mirror), str(ID)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = {process.communicate(timeout=60)[0] for process in running}
    assert [process.returncode for process in running] == [0, 0]
    assert printed == {OpenML(id=ID).load(context).content + "\n"}


def test_files_of_a_killed_process_are_deleted(site, context):
    source = OpenML(id=ID)
    stale = context.cache / "openml" / f".{ID}.scratch" / "tmp" / "org"
    stale.mkdir(parents=True)
    (stale / "dataset.arff").write_bytes(b"half")
    source.place(context).data_path.write_bytes(b"PAR1 a table whose note was never written")
    assert source.status(context) == "missing"
    assert source.load(context).n_rows == ROWS
    assert kept_files(context) == {f"{ID}.parquet", f"{ID}.json"}


def test_a_cache_that_cannot_be_written_is_reported(mirror, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataUnavailable, match="cannot be written") as caught:
        OpenML(id=ID).load(DataContext(tmp_path / "file" / "cache", mirror=mirror))
    assert "BUDGETBENCH_CACHE" in caught.value.hint


def test_nominal_numbers_can_be_read_as_numbers(mirror, context):
    data = OpenML(id=ID, categorical="numbers").load(replace(context, mirror=mirror))
    assert data.categorical == (2,)
    assert data.values[:, 3].tolist() == table()["flag"].astype(float).tolist()


def test_numeric_columns_can_be_declared_categorical(mirror, context):
    mirrored = replace(context, mirror=mirror)
    assert 0 in OpenML(id=ID, also_categorical=["size"]).load(mirrored).categorical
    with pytest.raises(DataError, match="did you mean 'size'"):
        OpenML(id=ID, also_categorical=["sise"]).load(mirrored)


def test_another_target_and_a_wrong_one(mirror, context):
    mirrored = replace(context, mirror=mirror)
    data = OpenML(id=ID, target="colour", rows="6:").load(mirrored)
    assert data.classes == ("blue", "green", "red")
    with pytest.raises(DataError, match="did you mean 'outcome'"):
        OpenML(id=ID, target="outcom").load(mirrored)


def test_rows_classes_and_parts_are_chosen_by_the_sources_row_numbers(mirror, context):
    mirrored = replace(context, mirror=mirror)
    complete = OpenML(id=ID).load(mirrored)
    first = OpenML(id=ID, split="first:30").load(mirrored)
    assert first.split.tolist() == [0] * 30 + [2] * 10
    crossed = OpenML(id=ID, train_rows="16:", test_rows=":10").load(mirrored)
    assert crossed.split.tolist() == [2] * 10 + [0] * 24  # rows 10..15 are in no part
    assert np.array_equal(crossed.values[10:], complete.values[16:], equal_nan=True)
    some = OpenML(id=ID, rows="10:20", split="first:15", dtype="float32").load(mirrored)
    assert some.split.tolist() == [0] * 5 + [2] * 5
    assert some.values.dtype == np.float32
    with pytest.raises(DataError, match="did you mean 'good'"):
        OpenML(id=ID, classes=["goood"]).load(mirrored)
    with pytest.raises(DataError, match="at least two classes"):
        OpenML(id=ID, classes=["good"]).load(mirrored)
    with pytest.raises(DataError, match="selects none"):
        OpenML(id=ID, rows="100:").load(mirrored)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 0},
        {"id": "adult"},
        {"id": ID, "split": "last:5"},
        {"id": ID, "rows": "9:3"},
        {"id": ID, "train_rows": "1:"},
        {"id": ID, "split": "first:5", "test_rows": "5:"},
        {"id": ID, "categorical": "maybe"},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(RequestError, match=r"suite\.toml"):
        build(OpenML, wrong, "suite.toml")
