"""A published page loses a record only on request, and never shows one under another definition."""

from __future__ import annotations

import os
import re
import shutil
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from bench_leaderboard.publish import WouldLoseError, publish_again
from bench_leaderboard.publish import check as _check
from bench_leaderboard.publish import publish as _publish
from bench_leaderboard.render.replaced import refuse_foreign
from bench_records.committed import published as published_of
from bench_records.committed import records_of
from bench_records.exports import read_export, write_export
from bench_records.files import write_files
from bench_records.losses import find_losses
from bench_records.records import Records, tabulate
from hypothesis import given, settings
from hypothesis import strategies as st
from support import tiny_plugin
from support.bench import ROOT, Bench
from support.sessions import Place
from support.synthetic import labelled, record_of, suite_of

from bench_core.contract.errors import RequestError
from bench_core.run.plan import Plan

# The records here are made in this process: no other one has to start.
check, publish = partial(_check, private=True), partial(_publish, private=True)

SUITE = """
[protocol]
seeds = 2
threshold = 0.7

[[datasets]]
use = "blobs"
name = "A"
parameters = { seed = 3 }

[[datasets]]
use = "lent"
name = "B"

[[methods]]
use = "slopes"

[[methods]]
use = "slopes"
name = "steep"
parameters = { slopes = [4.0] }
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("original"))
    assert place.run(SUITE, store="first").exit_code == 0
    return place


@pytest.fixture
def published(original: Place, place: Place) -> Place:
    """A folder in which the suite is published, without a store."""
    shutil.copytree(original.folder / "out", place.folder / "out")
    return place


def refused(place: Place, text: str, store: str = "none") -> str:
    """What rendering says when it refuses; it must have left everything as it was."""
    before = place.published()
    with pytest.raises(WouldLoseError) as error:
        publish(place.session(text, store))
    assert place.published() == before
    return str(error.value)


def names(place: Place) -> set[str]:
    records = read_export(place.folder / "out" / "s")
    assert records is not None
    return set(records.infos)


@pytest.mark.slow
def test_changed_data_and_an_empty_store_do_not_drop_what_is_published(
    published: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_SEED", "7")
    said = refused(published, SUITE)
    assert "4 of 8 published record(s)" in said
    assert "B (uniform), slopes, steep: 4 record(s): its data changed" in said
    assert "bench run suites/s.toml" in said
    assert "--drop B" in said
    assert any("its data changed" in line for line in check(published.session(SUITE, "none")))


def test_a_run_that_computes_the_replacements_replaces_them(published: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = names(published)
    monkeypatch.setenv("TINY_SEED", "7")
    report = published.run(SUITE)
    assert (report.summary.computed, report.exit_code) == (4, 0)
    assert len(names(published)) == 8
    assert len(names(published) & before) == 4


def test_a_run_announces_that_it_writes_the_pages_of_many_trials(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place.run(SUITE)
    assert "writing" not in capsys.readouterr().err
    monkeypatch.setattr("bench_leaderboard.publish.MANY", 4)
    place.run(SUITE.replace("slopes = [4.0]", "slopes = [5.0]"))
    assert "writing the pages of s\n" in capsys.readouterr().err


def test_a_partial_run_of_a_changed_method_keeps_its_records_and_leaves_the_page(
    published: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = published.published()
    monkeypatch.setattr(tiny_plugin.Slopes, "version", 2)
    report = published.run(SUITE, seeds=1)
    assert report.exit_code == 2
    assert report.summary.computed == 4
    assert "method version 1 → 2" in report.refused
    assert published.published() == before
    assert published.run(SUITE).summary.computed == 4
    assert published.run(SUITE).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("part", [{"seeds": 1}, {"only": {"method": ["steep"]}}])
def test_a_partial_run_into_a_published_folder_takes_nothing_from_it(published: Place, part: dict[str, object]) -> None:
    before = published.published()
    assert published.run(SUITE, **part).exit_code == 0  # type: ignore[arg-type]
    assert published.published() == before


def test_an_own_method_in_a_copy_adds_to_it(published: Place) -> None:
    before = names(published)
    more = SUITE + '\n[[methods]]\nuse = "slopes"\nname = "own"\nparameters = { slopes = [2.0] }\n'
    report = published.run(more, only={"method": ["own"]})
    assert (report.summary.computed, report.exit_code) == (4, 0)
    assert names(published) > before
    assert len(names(published)) == 12


def test_a_method_that_the_suite_no_longer_has_goes_only_when_it_is_named(published: Place) -> None:
    fewer = SUITE[: SUITE.rindex("[[methods]]")]
    said = refused(published, fewer)
    assert "A (uniform), steep: 2 record(s): the suite does not have this method" in said
    with pytest.raises(RequestError, match=r"--drop steap: .* did you mean 'steep'"):
        publish(published.session(fewer, "none"), drop=["steap"])
    with pytest.raises(WouldLoseError):
        publish(published.session(fewer, "none"), drop=["A"])
    publish(published.session(fewer, "none"), drop=["steep"])
    assert len(names(published)) == 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("seeds = 2", "seeds = 1"), "does not ask for this seed"),
        (("seed = 3 }", 'seed = 3 }\ncosts = { use = "random" }'), "does not have these costs"),
        (("threshold = 0.7", "threshold = 0.8"), "threshold 0.7 → 0.8"),
        (("slopes = [4.0]", "slopes = [5.0]"), "method slopes [4.0] → [5.0]"),
        (('name = "steep"', 'name = "steep"\nonly = ["A"]'), "does not run this method on it"),
    ],
)
def test_a_refusal_says_what_changed(published: Place, change: tuple[str, str], reason: str) -> None:
    assert reason in refused(published, SUITE.replace(*change))


def test_records_made_without_isolation_are_not_published(published: Place) -> None:
    before = published.published()
    report = published.run(SUITE.replace("seeds = 2", "seeds = 3"), plugin_options={"private": False})
    assert report.exit_code == 2
    assert "12 record(s) were made with --isolation none" in report.refused
    assert published.published() == before
    assert any("--isolation none" in line for line in _check(published.session(SUITE)))


@pytest.mark.slow
def test_records_of_an_earlier_definition_are_published_again_with_a_warning_at_the_top(published: Place) -> None:
    before = names(published)
    changed = SUITE.replace("slopes = [4.0]", "slopes = [5.0]")
    publish_again(published.session(changed))
    page = (published.folder / "out" / "s.md").read_text(encoding="utf-8")
    assert names(published) == before
    assert page.index("being recomputed") < page.index("##")
    assert "4 records of this page" in page
    assert "steep: 4 (" in page
    assert any("not what the suite asks for" in line for line in check(published.session(changed)))
    with pytest.raises(RequestError, match="the definition of data set 'A' has changed"):
        publish_again(published.session(SUITE.replace("seed = 3", "seed = 4")))
    publish_again(published.session(SUITE))
    assert "being recomputed" not in (published.folder / "out" / "s.md").read_text(encoding="utf-8")
    assert check(published.session(SUITE)) == []


def test_a_changed_figure_and_an_unknown_file_fail_the_check(published: Place) -> None:
    session = published.session(SUITE, "none")
    publish(session)
    assert check(session) == []
    figure, other = next(session.folder.glob("*.svg")), session.folder / "other.svg"
    figure.write_bytes(figure.read_bytes().replace(b"</svg>", b"<script>alert(1)</script></svg>"))
    other.write_text("<svg/>")
    inner = session.folder / "sub" / "inner.svg"
    inner.parent.mkdir()
    inner.write_text("<svg/>")
    assert check(session) == [
        f"{figure} is not what the records give",
        f"{other} is no file of the suite's page: remove it",
        f"{inner} is no file of the suite's page: remove it",
    ]


@pytest.mark.weekly
def test_an_edited_description_of_another_suite_is_refused_and_does_not_reach_the_results(bench: Bench) -> None:
    suites = [bench.suite(SUITE, name) for name in ("one", "two")]
    for suite in suites:
        bench("run", suite)
    out = bench.folder / "leaderboard"
    results, description = (out / "results.csv").read_bytes(), out / "two" / "suite.json"
    text = description.read_text()
    edited = text.replace('"means":{"', '"means":{"cost":[0.001,null],"', 1)
    assert edited != text
    (out / "one.md").unlink()
    for wrong in (edited, "{" + text.partition(",")[2]):
        description.write_text(wrong)
        for arguments in (("leaderboard", suites[0]), ("leaderboard", suites[0], "--check")):
            said = bench(*arguments, expect=2).stderr
            assert "two/suite.json is damaged" in said
            assert "remove leaderboard/two/suite.json" in said
    assert (out / "results.csv").read_bytes() == results
    description.unlink()
    bench("leaderboard", *suites)
    bench("leaderboard", *suites, "--check")
    assert (out / "results.csv").read_bytes() == results


@pytest.mark.slow
def test_a_damaged_record_leaves_no_hole_and_the_next_run_repairs_it(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite)
    page = bench.page()
    shutil.rmtree(bench.folder / "leaderboard")
    record = min((bench.folder / ".bench-store").glob("??/*.json"))
    record.write_bytes(record.read_bytes()[:-40])
    said = bench("leaderboard", suite, expect=1).stderr
    assert str(record.relative_to(bench.folder)) in said
    assert "1 record(s) are damaged, so nothing was written; run: bench run s.toml" in said
    assert "Traceback" not in said
    assert not (bench.folder / "leaderboard").exists()
    assert "1 trial(s) computed" in bench("run", suite).stdout
    assert bench.page() == page
    record.write_bytes(record.read_bytes()[:-40])
    bench("leaderboard", suite, expect=1)
    bench("run", suite)
    assert "0 trial(s) computed" in bench("run", suite).stdout
    assert bench.page() == page
    assert bench("doctor", "--store", ".bench-store", expect=None).returncode == 0


@pytest.mark.weekly
@pytest.mark.parametrize(
    "taken", ["README.md", "results.csv", "CHANGELOG.md", "CHANGELOG/timings.md", "CHANGELOG/records.txt"]
)
def test_files_that_bench_did_not_write_are_refused_by_name_and_nothing_is_written(bench: Bench, taken: str) -> None:
    suite = bench.suite(SUITE, "CHANGELOG")
    out = bench.folder / "mine"
    path = out / taken
    path.parent.mkdir(parents=True)
    path.write_text("# Leaderboard\n\nYears of work.\n")
    ours = taken == "CHANGELOG/records.txt"  # a name that no page has is no conflict
    said = bench("run", suite, "--out", "mine", expect=0 if ours else 2).stderr
    assert ours or f"mine/{taken}: written by something else than bench" in said
    assert path.read_text() == "# Leaderboard\n\nYears of work.\n"
    assert ours or [one for one in out.rglob("*") if one.is_file()] == [path]


def test_committed_pages_are_known_as_ours() -> None:
    pages = [path for path in (ROOT / "leaderboard").iterdir() if path.suffix == ".md" and path.name != "README.md"]
    assert len(pages) > 5
    for page in pages:
        folder = page.with_suffix("")
        front = [page.with_name(name) for name in ("README.md", "results.csv")]
        refuse_foreign([page, *front, *folder.iterdir()], folder)
        with pytest.raises(RequestError, match=re.escape(str(page))):
            refuse_foreign([page], folder.with_name("another"))


def test_new_names_for_the_same_trials_lose_nothing(published: Place) -> None:
    renamed = SUITE.replace('name = "steep"', 'name = "steeper"').replace('name = "A"', 'name = "Alpha"')
    before = names(published)
    publish(published.session(renamed, "none"))
    assert names(published) == before


def test_a_replacement_that_fails_does_not_replace(published: Place) -> None:
    broken = SUITE.replace(
        'use = "slopes"\nname = "steep"\nparameters = { slopes = [4.0] }', 'use = "fails"\nname = "steep"'
    )
    report = published.run(broken)
    assert report.exit_code == 2
    assert "its trial failed when it was run again" in report.refused


@pytest.mark.slow
def test_records_of_unavailable_data_are_shown_while_its_definition_is_unchanged(
    published: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = published.published()
    monkeypatch.setenv("TINY_GONE", "1")
    publish(published.session(SUITE, "none"))
    assert published.published() == before
    assert published.run(SUITE, store="none").exit_code == 0
    publish(published.session(SUITE.replace('name = "B"', 'name = "Beta"'), "none"))
    assert len(names(published)) == 8


@pytest.mark.parametrize("gone", ["", "1"])
def test_records_of_data_whose_definition_changed_are_not_shown(
    published: Place, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    monkeypatch.setenv("TINY_GONE", gone)
    edited = SUITE.replace('name = "B"', 'name = "B"\nparameters = { target = "z" }')
    said = refused(published, edited)
    assert 'the definition of the data set changed: its target none → "z"' in said
    report = published.run(edited)
    assert report.exit_code == 2
    publish(published.session(edited, "none"), drop=["B"])
    records = read_export(published.folder / "out" / "s")
    assert records is not None
    assert set(records.policies["dataset"]) == {"A"}


@pytest.mark.slow
def test_two_runs_of_parts_into_one_folder_do_not_undo_each_other(place: Place) -> None:
    late = place.session(SUITE, store="a")
    assert published_of(late).whole is None
    place.run(SUITE, store="b", only={"dataset": ["B"]})
    place.run(SUITE, store="a", out="elsewhere", only={"dataset": ["A"]})
    publish(late, late.plan())
    assert len(names(place)) == 8


@pytest.mark.weekly
def test_the_command_line_refuses_with_exit_code_2(bench: Bench, original: Place) -> None:
    shutil.copytree(original.folder / "out", bench.folder / "leaderboard")
    suite = bench.suite(SUITE)
    page = bench.page()
    said = bench("leaderboard", suite, expect=2, TINY_SEED="7").stderr
    assert "--drop B" in said
    assert bench.page() == page
    bench("leaderboard", suite, "--drop", "B", TINY_SEED="7")
    assert bench.page() != page


@pytest.mark.slow
def test_a_run_refuses_an_unknown_name_to_drop_also_where_its_page_is_current(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite)
    assert "--drop bogus: unknown name" in bench("run", suite, "--drop", "bogus", expect=2).stderr
    bench("run", suite, "--drop", "B")


@pytest.mark.slow
def test_a_figure_that_is_no_longer_drawn_is_removed_and_nothing_else(bench: Bench, original: Place) -> None:
    shutil.copytree(original.folder / "out", bench.folder / "leaderboard")
    folder = bench.folder / "leaderboard" / "s"
    bench("leaderboard", bench.suite(SUITE))
    drawn = {path.name for path in folder.glob("*.svg")}
    (folder / "ours.svg").write_text("<svg/>")
    without_b = "".join(part for part in re.split(r"(?=\[\[)", SUITE) if 'name = "B"' not in part)
    bench("leaderboard", bench.suite(without_b), "--drop", "B")
    kept = {path.name for path in folder.glob("*.svg")} - {"ours.svg"}
    assert kept < drawn
    assert (folder / "ours.svg").exists()
    assert all(name in bench.page() for name in kept)
    assert not any(name in bench.page() for name in drawn - kept)


SETS, METHODS, SEEDS = ("D1", "D2"), ("m1", "m2"), (0, 1)
DRAWN_RECORDS = st.dictionaries(
    st.tuples(st.sampled_from(SETS), st.sampled_from(METHODS), st.sampled_from(SEEDS)),
    st.tuples(st.sampled_from([1, 2]), st.booleans()),
)


def drawn_records(chosen: dict[tuple[str, str, int], tuple[int, bool]]) -> Records:
    return tabulate(
        labelled(
            record_of(dataset, method, seed, {"cost": 1.0} if worked else None, version=version)
            for (dataset, method, seed), (version, worked) in chosen.items()
        )
    )


SUITE_OF_SETS = suite_of(SETS, METHODS, seeds=2)


@pytest.mark.slow
@settings(deadline=None)
@given(DRAWN_RECORDS, DRAWN_RECORDS, st.sets(st.sampled_from([*SETS, *METHODS])))
def test_losses_are_the_records_that_are_neither_kept_nor_dropped(
    before: dict[tuple[str, str, int], tuple[int, bool]],
    now: dict[tuple[str, str, int], tuple[int, bool]],
    drop: set[str],
) -> None:
    lost = 0
    for place, (_, worked) in before.items():
        there = now.get(place)
        kept = there is not None and (there[1] or not worked)
        lost += not kept and not drop & set(place[:2])
    found = find_losses(SUITE_OF_SETS, Plan(), drawn_records(before), drawn_records(now), drop)
    assert sum(loss.count for loss in found) == lost


def test_files_are_published_all_or_none(tmp_path: Path) -> None:
    write_files({tmp_path / "a": b"old", tmp_path / "b": b"old"})
    (tmp_path / "c").mkdir()
    with pytest.raises(RequestError, match="c cannot be written"):
        write_files({tmp_path / "a": b"new", tmp_path / "b": b"new", tmp_path / "c": b"new"})
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "c"}
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_failure_in_the_store_does_not_hide_what_is_published(published: Place) -> None:
    session = published.session(SUITE, "other")
    plan = session.plan()
    before = records_of(session, plan)
    name = plan.planned[0].name
    identity = plan.planned[0].trial.identity(plan.planned[0].content)
    error = {"type": "E", "message": "m", "step": "fit", "traceback": ""}
    session.store.write_failure(
        {
            "format": 2,
            "name": name,
            "trial": identity,
            "provenance": {},
            "timings": {},
            "status": "failed",
            "error": error,
        }
    )
    again = published.session(SUITE, "other")
    assert records_of(again, again.plan()).done == before.done


def test_an_export_gives_every_trial_its_own_information_back(published: Place) -> None:
    records = read_export(published.folder / "out" / "s")
    assert records is not None
    assert len(records.infos) == 8
    for name, info in records.infos.items():
        assert sha256(info["trial"].encode()).hexdigest() == name
    write_files(write_export(records, published.folder / "again"))
    again = read_export(published.folder / "again")
    assert again is not None
    assert again.infos == records.infos


@pytest.mark.slow
def test_a_suite_without_usable_data_is_refused_with_the_reason(bench: Bench) -> None:
    parameters = 'parameters = { path = "gone.csv", target = "y" }'
    suite = bench.suite(
        f'[protocol]\nseeds = 1\n[[datasets]]\nuse = "csv"\nname = "t"\n{parameters}\n[[methods]]\nuse = "slopes"\n'
    )
    (line,) = bench("leaderboard", suite, expect=2).stderr.splitlines()
    assert "there is no record to render; data set 't' is missing" in line
    assert "gone.csv" in line


@pytest.mark.slow
def test_a_pipe_in_place_of_the_remembered_state_is_not_read(place: Place) -> None:
    place.run(SUITE)
    (remembered,) = (place.folder / "store").glob("page-*.json")
    remembered.unlink()
    os.mkfifo(remembered)
    assert place.run(SUITE).exit_code == 0
