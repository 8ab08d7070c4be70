"""Changed records in stores and exports are named, never shown, and computed again."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import bench_analysis
import numpy as np
import pandas as pd
import pytest
from bench_comparison.stores import read_side
from bench_inspect.plans import describe_plan
from bench_leaderboard.current import is_current
from bench_records.committed import records_of
from bench_records.exports import RECORDS, RUNS, export_files, read_export, write_export
from bench_records.files import write_files
from bench_records.records import Records, tabulate
from bench_store import DAMAGED
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sessions import Place
from support.synthetic import labelled, record_of, stored

from bench_core.contract.errors import RequestError, StoreError
from bench_core.run.record_file import seal, unseal
from bench_core.run.run_trial import TrialResult
from bench_core.run.store import Store

SUITE = """
[protocol]
seeds = 7
threshold = 0.7

[[datasets]]
use = "blobs"
parameters = { rows = 40 }

[[methods]]
use = "slopes"
parameters = { slopes = [1.0, 4.0] }

[[methods]]
use = "slopes"
name = "noisy"
parameters = { noise = 0.5 }
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The suite, run and published."""
    place = Place(tmp_path_factory.mktemp("done"))
    assert place.run(SUITE).exit_code == 0
    return place


@pytest.fixture
def place(done: Place, tmp_path: Path) -> Place:
    """A copy of the suite's store in a new folder, without pages."""
    ignored = shutil.ignore_patterns("page-*", "datasets.json")
    shutil.copytree(done.folder / "store", tmp_path / "store", ignore=ignored)
    return Place(tmp_path)


def text(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")


def another_digit(record: str) -> str:
    """The record with another last digit in the first bill of a policy on the test part."""
    return re.sub(r'("test":\{.*?"cost":\[[0-9.]*)([0-9])', lambda m: f"{m[1]}{(int(m[2]) + 1) % 10}", record, count=1)


def sealed_again(path: Path, **more: object) -> None:
    """A record with other values and a valid checksum."""
    path.write_bytes(seal(unseal(path.read_bytes()) | more))


def with_metric(path: Path, values: list[object]) -> None:
    policies = unseal(path.read_bytes())["policies"]
    policies["test"]["coverage"] = values
    sealed_again(path, policies=policies)


def swap(one: Path, other: Path) -> None:
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


def instead(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a digit edited": lambda p: text(p, another_digit),
    "a number edited": lambda p: text(p, lambda t: t.replace('"coverage":[', '"coverage":[2.0,', 1)),
    "format 99": lambda p: text(p, lambda t: t.replace('"format":2', '"format":99')),
    "format 99 with its checksum": lambda p: sealed_again(p, format=99),
    "another trial's name": lambda p: sealed_again(p, name="0" * 64),
    "another identity": lambda p: sealed_again(p, trial="{}"),
    "a status that is not the file's": lambda p: sealed_again(p, status="failed"),
    "no policies": lambda p: sealed_again(p, policies={}),
    "a metric too few": lambda p: with_metric(p, [0.5]),
    "a metric that is a text": lambda p: with_metric(p, [0.5, "0.5"]),
    "a list": lambda p: p.write_text("[]"),
    "a number": lambda p: p.write_text("5"),
    "null": lambda p: p.write_text("null"),
    "nothing": lambda p: p.write_text(""),
    "half": lambda p: p.write_bytes(p.read_bytes()[: p.stat().st_size // 2]),
    "bytes that are no text": lambda p: p.write_bytes(b"\xff\xfe" + p.read_bytes()),
    "deep nesting": lambda p: p.write_text("[" * 200_000),
    "a huge number": lambda p: p.write_text('{"format":' + "9" * 10_000 + "}"),
    "a huge number with its checksum": lambda p: with_metric(p, [0.5, 10**400]),
    "a directory": lambda p: instead(p, Path.mkdir),
    "a pipe": lambda p: instead(p, os.mkfifo),
    "a link to a device": lambda p: instead(p, lambda q: q.symlink_to("/dev/zero")),
    "a link to itself": lambda p: instead(p, lambda q: q.symlink_to(q)),
    "a link to nothing": lambda p: instead(p, lambda q: q.symlink_to(q.with_name("nothing"))),
    "decisions edited": lambda p: p.with_suffix(".parquet").write_bytes(
        p.with_suffix(".parquet").read_bytes().replace(b"PAR1", b"RAP1")
    ),
    "decisions cut": lambda p: os.truncate(p.with_suffix(".parquet"), 100),
    "decisions missing": lambda p: p.with_suffix(".parquet").unlink(),
    "decisions that are a directory": lambda p: instead(p.with_suffix(".parquet"), Path.mkdir),
    "decisions that are a pipe": lambda p: instead(p.with_suffix(".parquet"), os.mkfifo),
}


def records_in(store: Path) -> list[Path]:
    return sorted(store.glob("??/*.json"))


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_record_is_not_used_but_named_and_moved_aside(place: Place, how: str) -> None:
    path = records_in(place.folder / "store")[0]
    DAMAGES[how](path)
    store = Store(place.folder / "store")
    name = path.name[:64]
    assert store.read(name) is None
    [line] = store.warnings()
    assert str(path.with_suffix("")) in line
    assert "\n" not in line
    assert store.names()[0] >= {name}, "reading alone moves nothing"
    assert store.set_aside() == {name}
    assert name not in store.names()[0]
    assert store.warnings() == []
    aside = list((place.folder / "store" / DAMAGED).iterdir())
    assert aside
    assert all(one.name.startswith(name) for one in aside)
    assert not list(path.parent.glob(f"{name}*"))


def test_a_second_damage_of_a_trial_does_not_overwrite_the_first(place: Place) -> None:
    path = records_in(place.folder / "store")[0]
    for content in ("[]", "5"):
        path.write_text(content)
        store = Store(place.folder / "store")
        store.read(path.name[:64])
        store.set_aside()
    kept = [one.read_text() for one in sorted((place.folder / "store" / DAMAGED).glob("*.json*"))]
    assert kept == ["[]", "5"]


def test_a_run_computes_damaged_trials_again_and_the_page_is_unchanged(done: Place, place: Place) -> None:
    paths = records_in(place.folder / "store")
    chosen = ["a number edited", "format 99", "null", "a directory", "decisions missing", "decisions edited"]
    for path, how in zip(paths, chosen, strict=False):
        DAMAGES[how](path)
    swap(paths[6], paths[7])
    swap(paths[8].with_suffix(".parquet"), paths[9].with_suffix(".parquet"))
    report = place.run(SUITE)
    assert (report.summary.computed, report.exit_code) == (10, 0)
    assert report.plan.count("done") == 4
    assert sum(str(path.with_suffix("")) in line for path in paths for line in place.said) == 10
    assert place.published() == done.published()
    assert place.run(SUITE).summary.computed == 0
    assert place.said == []


def test_commands_that_only_read_report_damage_and_change_nothing(place: Place) -> None:
    [first, *_] = records_in(place.folder / "store")
    DAMAGES["a number edited"](first)
    before = sorted(place.folder.glob("store/??/*"))

    session = place.session(SUITE)
    plan = session.plan()
    describe_plan(session, plan)
    assert (plan.count("done"), plan.count("missing")) == (13, 1)
    assert [str(first) in line for line in session.warnings()] == [True]

    session = place.session(SUITE)
    assert first.name[:64] not in records_of(session).infos
    assert [str(first) in line for line in session.warnings()] == [True]

    said: list[str] = []
    assert len(read_side(place.folder / "store", said.extend)) == 13
    assert [str(first) in line for line in said] == [True]
    assert sorted(place.folder.glob("store/??/*")) == before
    assert not (place.folder / "store" / DAMAGED).exists()


def test_records_of_an_earlier_format_are_computed_again_and_reported_in_one_line(place: Place) -> None:
    for path in records_in(place.folder / "store")[:5]:
        path.write_bytes(seal(unseal(path.read_bytes()) | {"format": 1}))
    report = place.run(SUITE)
    assert report.summary.computed == 5
    [line, _] = place.said
    assert line.startswith("5 record(s)")


def test_files_that_do_not_belong_to_a_store_are_ignored(place: Place) -> None:
    store = place.folder / "store"
    (store / "zz").write_text("a file with the name of a folder of records")
    (store / "yy").symlink_to(store / "yy")
    (store / "notes.txt").write_text("mine")
    [first, *_] = records_in(store)
    (first.parent / "stray.json").write_text("{}")
    (first.parent / ("x" * 64 + ".tmp")).write_text("")
    session = place.session(SUITE)
    assert len(records_of(session).infos) == 14
    assert session.warnings() == []
    assert len(read_side(store)) == 14


@pytest.mark.parametrize("content", ["[]", "5", "{}", '{"checksum":"0"}', "\0", "[" * 100_000])
def test_a_damaged_list_of_data_sets_is_named_and_replaced(place: Place, content: str) -> None:
    index = place.folder / "store" / "datasets.json"
    index.write_text(content)
    session = place.session(SUITE)
    assert session.plan().count("done") == 14
    [line] = session.warnings()
    assert str(index) in line
    assert place.session(SUITE).warnings() == []


def test_a_pipe_in_the_place_of_the_list_of_data_sets_is_named_and_replaced(place: Place) -> None:
    index = place.folder / "store" / "datasets.json"
    index.unlink(missing_ok=True)
    os.mkfifo(index)
    session = place.session(SUITE)
    assert session.plan().count("done") == 14
    [line] = session.warnings()
    assert str(index) in line
    assert "not a regular file" in line
    assert place.session(SUITE).warnings() == []


def test_an_edited_content_hash_names_no_trial(place: Place) -> None:
    place.session(SUITE).plan()
    index = place.folder / "store" / "datasets.json"
    kept = unseal(index.read_bytes())["hashes"]
    index.write_text(json.dumps({"hashes": dict.fromkeys(kept, "0" * 64)}))
    assert place.session(SUITE).plan().count("done") == 14


def test_where_the_note_of_what_was_rendered_is_damaged_the_page_is_rendered_again(place: Place) -> None:
    place.run(SUITE)
    [note] = (place.folder / "store").glob("page-*.json")
    sound = note.read_bytes()
    for content in ("[]", "5", "", "[" * 100_000, sound.decode().replace('"files":{', '"files":{"/":[0,0],')):
        note.write_text(content)
        session = place.session(SUITE)
        assert not is_current(session, session.plan())
    before = place.published()
    assert place.run(SUITE).exit_code == 0
    assert (place.published(), note.read_bytes()) == (before, sound)


def test_after_a_change_of_the_analysis_the_page_is_rendered_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.run(SUITE)
    session = place.session(SUITE)
    assert is_current(session, session.plan())
    changed = place.folder / "bench_analysis"
    shutil.copytree(Path(str(bench_analysis.__file__)).parent, changed)
    monkeypatch.setattr(bench_analysis, "__file__", str(changed / "__init__.py"))
    assert is_current(session, session.plan())
    (changed / "summary.py").write_text("")
    assert not is_current(session, session.plan())


def test_no_partial_record_is_left_if_a_write_fails(tmp_path: Path) -> None:
    store = Store(tmp_path)
    record = record_of("D", "A", 0, {"cost": 1.0}, history={"long": list(range(5000))})
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit[1]))
    try:
        with pytest.raises(StoreError, match="cannot be written: file too large"):
            store.write(TrialResult(record, None, None))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert store.names() == (set(), set())
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    store.write(TrialResult(record, None, None))
    assert store.read(record["name"]) is not None


@pytest.mark.parametrize("blocked", ["tmp", "records"])
def test_a_store_that_cannot_be_written_stops_the_run_in_one_line(place: Place, blocked: str) -> None:
    store = place.folder / "other"
    store.mkdir()
    session = place.session(SUITE, "other")
    at = store / ("tmp" if blocked == "tmp" else session.plan().planned[0].name[:2])
    at.write_text("in the way")
    with pytest.raises(StoreError) as error:
        place.run(SUITE, store="other")
    assert "cannot be written" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_store_that_cannot_be_created_is_reported_in_one_line() -> None:
    with pytest.raises(StoreError, match=r"^/proc/none/.* cannot be written: "):
        Store(Path("/proc/none")).write(TrialResult(record_of("D", "A", 0, {"cost": 1.0}), None, None))


@pytest.mark.parametrize("kind", ["file", "loop"])
def test_a_store_that_is_not_a_directory_is_reported(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store"
    path.write_text("") if kind == "file" else path.symlink_to(path)
    with pytest.raises(RequestError, match="is not a directory"):
        Store(path)


def exported(folder: Path) -> Records:
    values = {
        ("D1", "good"): {"cost": [1.0, 2.0, 3.0], "error": [0.1, 0.2, 0.3]},
        ("D2", "dear"): {"cost": [7.0, 8.0, 9.0]},
    }
    pieces = labelled([*stored(values), record_of("D1", "broken", 1, None)])
    records = tabulate(pieces, {"D1": '{"use":"one"}', "D2": '{"use":"two"}'})
    write_files(write_export(records, folder))
    return records


def rewritten(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], **how: str) -> None:
    change(pd.read_parquet(path)).to_parquet(path, index=False, **how)  # type: ignore[call-overload]


def test_an_export_is_read_whatever_the_order_of_its_rows_and_columns(tmp_path: Path) -> None:
    exported(tmp_path)
    first = read_export(tmp_path)
    rewritten(
        tmp_path / RECORDS / "good.parquet",
        lambda frame: frame.sample(frac=1.0, random_state=3)[frame.columns[::-1]],
        compression="gzip",
    )
    again = read_export(tmp_path)
    assert first is not None
    assert again is not None
    pd.testing.assert_frame_equal(again.policies[first.policies.columns], first.policies)
    assert (again.infos, again.runs, again.definitions) == (first.infos, first.runs, first.definitions)


def test_records_of_a_method_in_two_files_are_refused(tmp_path: Path) -> None:
    exported(tmp_path)
    shutil.copy(tmp_path / RECORDS / "good.parquet", tmp_path / RECORDS / "other.parquet")
    with pytest.raises(RequestError, match=r"other.parquet is damaged: good.parquet also has records of good"):
        read_export(tmp_path)


def test_every_method_has_its_own_file_whatever_its_name(tmp_path: Path) -> None:
    methods = ["A b", "a/B", "../../a b", "€", "", "x" * 300, "CON"]
    records = tabulate(labelled([record_of("D", method, 0, {"cost": 1.0}) for method in methods]))
    files = write_export(records, tmp_path)
    assert {path.parent for path in files} == {tmp_path / RECORDS, tmp_path / RUNS}
    write_files(files)
    again = read_export(tmp_path)
    assert again is not None
    pd.testing.assert_frame_equal(again.policies, records.policies)


def test_a_record_keeps_its_checksum_when_others_have_more_metrics(tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, more in ((few, {}), (many, {"new-metric": 1.0})):
        changed_records = [record_of("D", "A", 0, {"cost": 1.0}), record_of("D", "B", 0, {"cost": 1.0} | more)]
        write_files(write_export(tabulate(labelled(changed_records)), folder))
    sums = [{path.stem: pd.read_parquet(path)["checksum"][0] for path in export_files(f)} for f in (few, many)]
    assert sums[0]["a"] == sums[1]["a"]
    assert sums[0]["b"] != sums[1]["b"]


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_any_cell_of_an_export_that_is_changed_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("export")
    exported(folder)
    path = data.draw(st.sampled_from(export_files(folder)))
    frame = pd.read_parquet(path)
    row = data.draw(st.integers(0, len(frame) - 1))
    column = data.draw(st.sampled_from([c for c in frame.columns if pd.notna(frame[c].iloc[row])]))
    old = frame[column].iloc[row]
    new = f"{old} " if isinstance(old, str) else old + 1
    frame[column] = frame[column].astype(object)
    frame.loc[frame.index[row], column] = new
    frame[column] = frame[column].infer_objects()
    frame.to_parquet(path, index=False)
    with pytest.raises(RequestError) as error:
        read_export(folder)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_damage_of_an_export_is_named_by_data_set_method_and_seed(tmp_path: Path) -> None:
    exported(tmp_path)
    path = tmp_path / RECORDS / "dear.parquet"

    def swapped(frame: pd.DataFrame) -> pd.DataFrame:
        rows = frame.index[frame["method"] == "dear"]
        frame.loc[rows, "test.cost"] = frame.loc[rows, "test.cost"].to_numpy()[[1, 0, 2]]
        return frame

    rewritten(path, swapped)
    with pytest.raises(RequestError) as error:
        read_export(tmp_path)
    assert "D2, dear, seed 0" in str(error.value)
    assert "D2, dear, seed 1" in str(error.value)
    assert "seed 2" not in str(error.value)


def test_a_name_that_is_not_the_hash_of_its_trial_is_refused_with_its_checksum_too(tmp_path: Path) -> None:
    record = record_of("D", "A", 0, {"cost": 1.0})
    forged = record | {"name": "f" * 64}
    write_files(write_export(tabulate(labelled([forged])), tmp_path))
    with pytest.raises(RequestError, match=r"D, A, seed 0: .* not the hash"):
        read_export(tmp_path)


def no_checksums(path: Path) -> None:
    rewritten(path, lambda frame: frame.drop(columns="checksum"))


BROKEN: dict[str, Callable[[Path], object]] = {
    "nothing": lambda p: p.write_bytes(b""),
    "a text": lambda p: p.write_text("[]"),
    "half": lambda p: p.write_bytes(p.read_bytes()[: p.stat().st_size // 2]),
    "no checksums": no_checksums,
    "other columns": lambda p: pd.DataFrame({"a": [1]}).to_parquet(p),
    "a record twice": lambda p: rewritten(p, lambda f: pd.concat([f, f.tail(1)])),
    "a directory": lambda p: instead(p, Path.mkdir),
    "a link to itself": lambda p: instead(p, lambda q: q.symlink_to(q)),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("file", [RECORDS, RUNS])
def test_an_invalid_export_is_refused_in_one_line(tmp_path: Path, how: str, file: str) -> None:
    exported(tmp_path)
    if file == RUNS and how == "a record twice":
        how = "nothing"
    broken = tmp_path / file / "good.parquet"
    BROKEN[how](broken)
    with pytest.raises(RequestError) as error:
        read_export(tmp_path)
    assert str(broken) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_random_bytes_in_an_export_are_refused(tmp_path: Path) -> None:
    exported(tmp_path)
    path = tmp_path / RECORDS / "good.parquet"
    whole = path.read_bytes()
    before = read_export(tmp_path)
    assert before is not None
    rng = np.random.default_rng(0)
    for _ in range(60):
        data = bytearray(whole)
        data[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(data))
        try:
            found = read_export(tmp_path)
        except RequestError:
            continue
        assert found is not None
        pd.testing.assert_frame_equal(found.policies, before.policies)
        assert found.infos == before.infos
