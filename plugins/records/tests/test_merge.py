"""Stores of several machines, merged by ``bench merge``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench_records.cli_merge import merge
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.bench import contents, decisions
from support.sessions import Place
from support.stores import done, every_file, of_done, store
from test_integrity import SUITE, records_in, sealed_again

from bench_core.cli.main import main
from bench_core.records import unseal

__all__ = ["done", "store"]


def merged(*arguments: object, expect: int = 0) -> Result:
    """Call the command ``bench merge`` alone, as loading all plugins takes a second."""
    done = CliRunner().invoke(merge, [str(argument) for argument in arguments])
    assert done.exit_code == expect, done.output
    return done


def test_the_command_line_has_the_command() -> None:
    shown = CliRunner().invoke(main, ["merge", "--help"])
    assert "Merge stores of several machines into one." in shown.output


def part(store: Path, to: Path, chosen: Iterator[bool]) -> None:
    """Copy the chosen trials of a store, with all their files."""
    to.mkdir(parents=True)
    for record in records_in(store):
        if next(chosen):
            (to / record.parent.name).mkdir(exist_ok=True)
            for file in record.parent.glob(f"{record.name.partition('.')[0]}*"):
                shutil.copy(file, to / record.parent.name)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=4), st.integers(0, 2**31))
def test_stores_merge_to_the_union_of_their_trials(
    done: Path, tmp_path_factory: pytest.TempPathFactory, shares: list[list[bool]], order: int
) -> None:
    folder = tmp_path_factory.mktemp("shares")
    stores = [folder / f"machine {number}" for number in range(len(shares))]
    for folder_of, share in zip(stores, shares, strict=True):
        part(done, folder_of, iter(share))
    merged(*stores, "--into", folder / "all")
    wanted = {record.name for share in shares for record, kept in zip(records_in(done), share, strict=True) if kept}
    assert {path.name for path in records_in(folder / "all")} == wanted
    for path in records_in(folder / "all"):
        assert path.read_bytes() == (done / path.parent.name / path.name).read_bytes()
    again = merged(stores[0], "--into", folder / "all")
    assert f"0 added, {sum(shares[0])} there already" in again.output


def test_a_merged_store_holds_the_complete_suite(done: Path, tmp_path: Path) -> None:
    part(done, tmp_path / "a", iter([True] * 5 + [False] * 4))
    part(done, tmp_path / "b", iter([False] * 4 + [True] * 5))
    merged(tmp_path / "a", tmp_path / "b", "--store", tmp_path / "store")
    assert contents(tmp_path / "store") == contents(done)
    assert decisions(tmp_path / "store") == decisions(done)
    assert Place(tmp_path).run(SUITE.replace("seeds = 7", "seeds = 3")).summary.computed == 0


def test_different_records_of_one_trial_are_reported_with_the_numbers_that_differ(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "other")
    record = of_done(tmp_path / "other")[1]
    policies = unseal(record.read_bytes())["policies"]
    kept = policies["test"]["cost"][1]
    policies["test"]["cost"][1] += 0.25
    sealed_again(record, policies=policies)
    before = every_file(store)
    result = merged(tmp_path / "other", "--into", store, expect=1)
    assert "0 added, 8 there already, 1 differ" in result.output
    assert record.stem in result.stderr
    assert f"test.cost[1]: {kept!r} and {kept + 0.25!r}" in result.stderr
    assert every_file(store) == before


def test_timings_and_provenance_are_not_compared(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "other")
    for record in records_in(tmp_path / "other"):
        body = unseal(record.read_bytes())
        sealed_again(record, timings={"fit": 99.0}, provenance={**body["provenance"], "processor": "another"})
    assert "0 added, 9 there already\n" in merged(tmp_path / "other", "--into", store).output


def test_messages_of_failed_audits_are_not_compared(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "other")
    for folder, seed in ((store, 5), (tmp_path / "other", 6)):
        failure = next(folder.glob("??/*.failed.json"))
        error = {"type": "AuditError", "message": f"feature 'a' on {seed} rows", "step": "audit", "audit_seed": seed}
        sealed_again(failure, error={**unseal(failure.read_bytes())["error"], **error})
    assert "0 added, 9 there already\n" in merged(tmp_path / "other", "--into", store).output


def test_decisions_are_compared_by_values_not_by_the_files_encoding(store: Path, tmp_path: Path) -> None:
    import hashlib

    import pyarrow.parquet as pq

    shutil.copytree(store, tmp_path / "other")
    for change, lines in (("compression", 0), ("a bill", 1)):
        record = of_done(tmp_path / "other")[0]
        file = record.with_suffix(".parquet")
        table = pq.read_table(file)
        if change == "a bill":
            column = table.column("bill").to_numpy() + 0.0
            column[3] += 1
            table = table.set_column(table.column_names.index("bill"), "bill", [column])
        pq.write_table(table, file, compression="gzip")
        noted = {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        sealed_again(record, decisions=noted)
        result = merged(tmp_path / "other", "--into", store, expect=lines)
        assert result.stderr.count("bill, 1 row(s)") == lines


def test_a_damaged_record_is_reported_and_not_merged(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "other")
    shutil.rmtree(store)
    record = of_done(tmp_path / "other")[1]
    record.write_bytes(record.read_bytes().replace(b'"ok"', b'"OK"'))
    result = merged(tmp_path / "other", "--into", store, expect=1)
    assert record.name in result.stderr
    assert "8 added" in result.output
    assert not (store / record.parent.name / record.name).exists()


def test_a_done_trial_replaces_its_failure_and_not_the_reverse(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(store, other)
    record = of_done(store)[0]
    failure = {**unseal(next(store.glob("??/*.failed.json")).read_bytes()), "name": record.stem}
    failed = record.with_name(f"{record.stem}.failed.json")
    failed.write_bytes(next(store.glob("??/*.failed.json")).read_bytes())
    sealed_again(failed, **{**failure, "trial": unseal(record.read_bytes())["trial"]})
    record.unlink()
    assert "1 added, 8 there already, 1 done in one store" in merged(other, "--into", store).output
    assert record.exists()
    assert not failed.exists()
    assert contents(store) == contents(other)


@pytest.mark.parametrize("wrong", ["missing", "itself", "a file", "pages"])
def test_stores_that_cannot_be_merged_are_refused_before_anything_is_copied(
    store: Path, tmp_path: Path, wrong: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "pages" / "s").mkdir(parents=True)
    (tmp_path / "pages" / "s.md").touch()
    into = tmp_path / "into"
    named = {"missing": tmp_path / "stor", "itself": into, "a file": tmp_path / "file", "pages": tmp_path / "pages"}[
        wrong
    ]
    if wrong == "itself":
        into.mkdir()
    result = merged(store, named, "--into", into, expect=2)
    assert named.name in result.stderr
    if wrong == "missing":
        assert "did you mean" in result.stderr
    assert not records_in(into)
