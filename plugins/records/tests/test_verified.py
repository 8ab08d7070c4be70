"""Strictly verified records are noted beside a page and counted on it, until they change."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_records.committed import records_of
from bench_records.exports import read_export, write_export
from bench_records.files import write_files
from bench_records.verified import VERIFIED, read_verified, with_verified
from bench_sandbox import missing_layers
from support.bench import Bench
from support.sessions import Place

SUITE = '[protocol]\nseeds = 3\n[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n'


@pytest.mark.weekly
@pytest.mark.skipif(bool(missing_layers()), reason=missing_layers())
def test_records_verified_strictly_are_counted_on_the_page_until_they_change(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite, BUDGETBENCH_ISOLATION="process")
    folder = bench.folder / "leaderboard" / "s"
    page = folder.with_suffix(".md")
    strict = ("--isolation", "strict", "--note", "--sample", "2", "--store", "none", "--seed", "1")
    said = bench("verify", suite, *strict).stdout
    assert "2 of 3 published records recomputed" in said
    assert len(read_verified(folder)) == 2
    bench("leaderboard", suite, "--as-published")
    assert "0 records computed strictly, 2 others verified strictly" in page.read_text()
    assert bench("leaderboard", suite, "--check").stderr == ""
    records = read_export(folder)
    assert records is not None
    records.policies.loc[records.policies["name"] == next(iter(read_verified(folder))), "test.cost"] += 1.0
    write_files(write_export(records, folder))
    bench("leaderboard", suite, "--as-published")
    assert "1 others verified strictly" in page.read_text()
    (folder / VERIFIED).write_text((folder / VERIFIED).read_text().replace("verified", "believed"))
    assert "damaged" in bench("leaderboard", suite, "--as-published", expect=2).stderr


def test_noting_verified_records_requires_strict_isolation(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    assert "--isolation strict" in bench("verify", suite, "--note", expect=2).stderr


def test_the_checksum_of_a_record_that_changed_is_dropped_when_another_is_noted(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.run(SUITE)
    records = records_of(place.session(SUITE))
    first, second, third = sorted(records.done)

    def noted(known: dict[str, str], *names: str) -> dict[str, str]:
        (tmp_path / VERIFIED).write_bytes(with_verified(known, records, names))
        return read_verified(tmp_path)

    known = noted({}, first, second)
    assert known.keys() == {first, second}
    records.policies.loc[records.policies["name"] == first, "test.cost"] += 1.0
    again = noted(known, third)
    assert again.keys() == {second, third}
    assert again[second] == known[second]
    assert noted(again, first)[first] != known[first]
