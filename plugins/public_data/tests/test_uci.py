"""UCI archives are downloaded, unpacked, and accepted only if the parsed table has the expected hash."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest
from bench_public_data import uci
from bench_public_data.exact_csv import read_exact
from bench_public_data.named import Heart, PhysioNet2012
from bench_public_data.table_cache import table_hash
from bench_public_data.uci import Uci

from bench_core import DataError, DataUnavailable, RequestError, build

HEADER = (
    "age,anaemia,creatinine_phosphokinase,diabetes,ejection_fraction,high_blood_pressure,platelets,"
    "serum_creatinine,serum_sodium,sex,smoking,time,DEATH_EVENT"
)
HEART = (HEADER + "\n75,0,582,0,20,1,265000,1.9,130,1,0,4,1\n60.667,1,104,1,30,0,389000,1.5,136,1,0,171,0\n").encode()
PATH = "/519/heart+failure+clinical+records.zip"


def zipped(data: bytes, name: str = "heart_failure_clinical_records_dataset.csv") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", "about")
        archive.writestr(name, data)
    return file.getvalue()


@pytest.fixture
def site(server, monkeypatch):
    """A server with two rows in the form of archive 519, whose hash replaces the real one."""
    frame = read_exact(HEART.decode(), ",")
    monkeypatch.setitem(uci.ARCHIVES, 519, replace(uci.ARCHIVES[519], content=table_hash(frame)))
    monkeypatch.setenv("BUDGETBENCH_UCI_SERVER", server.url)
    server.bodies[PATH] = zipped(HEART)
    return server


@pytest.fixture(params=["uci", "files/uci"])
def mirror(request, tmp_path):
    folder = tmp_path / "mirror" / request.param / "519"
    folder.mkdir(parents=True)
    (folder / "heart_failure_clinical_records_dataset.csv").write_bytes(HEART)
    return tmp_path / "mirror"


def kept_files(context):
    return {path.name for path in context.cache.rglob("*") if path.is_file() and path.suffix != ".lock"}


def test_features_have_the_papers_order(site, context):
    data = Uci(id=519).load(context)
    assert data.feature_names == (
        "age", "anaemia", "high_blood_pressure", "creatinine_phosphokinase", "diabetes", "ejection_fraction",
        "platelets", "sex", "serum_creatinine", "serum_sodium", "smoking", "time",
    )  # fmt: skip
    assert data.values[0].tolist() == [75, 0, 1, 582, 0, 20, 265000, 1, 1.9, 130, 0, 4]
    assert data.values[1].tolist() == [60.667, 1, 0, 104, 1, 30, 389000, 1, 1.5, 136, 0, 171]
    assert data.target.tolist() == [1, 0]
    assert {data.feature_names[i] for i in data.categorical} == {
        "anaemia", "high_blood_pressure", "diabetes", "sex", "smoking",
    }  # fmt: skip


def test_download_cache_and_mirror_give_one_content(site, mirror, context):
    downloaded = Heart().load(context).content
    assert site.asked == [f"GET {PATH}"]
    cached = Heart().load(replace(context, offline=True)).content
    mirrored = Heart().load(replace(context, cache=context.cache / "other", mirror=mirror, offline=True)).content
    assert downloaded == cached == mirrored
    assert site.asked == [f"GET {PATH}"]


def test_status_follows_the_data(site, mirror, context):
    assert Heart().status(context) == "missing"
    assert Heart().fingerprint(context) is None
    assert Heart().status(replace(context, mirror=mirror)) == "mirrored"
    Heart().fetch(replace(context, mirror=mirror, offline=True))
    assert Heart().status(context) == "cached"
    assert Heart().fingerprint(context)


def test_an_archive_packed_differently_is_the_same_data(site, context):
    first = Heart().load(context).content
    site.bodies[PATH] = zipped(HEART.replace(b"\n", b"\r\n"), "folder/heart_failure_clinical_records_dataset.csv")
    assert Heart().load(replace(context, cache=context.cache / "other")).content == first


def test_another_table_in_the_archive_is_refused(site, context):
    site.bodies[PATH] = zipped(HEART.replace(b"60.667", b"60.666"))
    with pytest.raises(DataError, match="content hash"):
        Heart().load(context)
    assert kept_files(context) == set()


def test_a_changed_mirror_is_refused_by_name(mirror, context):
    # The mirror holds two rows, and the expected hash is that of the real table.
    with pytest.raises(DataError, match=r"heart_failure_clinical_records_dataset\.csv"):
        Heart().load(replace(context, mirror=mirror))


@pytest.mark.parametrize("fault", ["cut", "not a zip", "404", "other file"])
def test_a_failed_download_leaves_no_file_and_can_be_retried(fault, site, context):
    complete = site.bodies[PATH]
    if fault == "cut":
        site.bodies[PATH], site.promised[PATH] = complete[:-40], 40
    elif fault == "not a zip":
        site.bodies[PATH] = b"<html>maintenance</html>"
    elif fault == "404":
        del site.bodies[PATH]
    else:
        site.bodies[PATH] = zipped(HEART, "other.csv")
    with pytest.raises((DataUnavailable, DataError), match=r"519/heart\+failure"):
        Heart().load(context)
    assert kept_files(context) == set()
    site.bodies[PATH] = complete
    site.promised.clear()
    assert Heart().load(context).n_rows == 2


def test_offline_the_error_names_the_command_that_fetches_the_data(site, context):
    with pytest.raises(DataUnavailable, match="519") as caught:
        Heart().load(replace(context, offline=True))
    assert "bench data fetch heart" in caught.value.hint
    assert site.asked == []


def test_a_cache_that_holds_another_table_is_not_used(site, context):
    import pandas as pd

    Heart().fetch(context)
    Uci(id=519).place(context).write(pd.DataFrame({"a": [1.0]}), {})
    assert Heart().load(context).n_rows == 2


def test_an_unknown_number_lists_the_known_ones():
    with pytest.raises(RequestError, match=r"143 \(credit\), 222 \(bank-marketing\)"):
        build(Uci, {"id": 1}, "suite.toml")


def test_a_table_without_an_archive_that_is_too_large_is_refused_as_such(server, context, monkeypatch):
    monkeypatch.setenv("BUDGETBENCH_GITHUB_SERVER", server.url)
    monkeypatch.setattr(uci, "_MOST_BYTES", 100)
    server.bodies[f"/{uci.PHYSIONET.title}"] = b"a" * 101
    with pytest.raises(DataError, match=r"larger than 100 bytes"):
        PhysioNet2012().load(context)
    assert kept_files(context) == set()
