"""Without the leaderboard a suite runs, stores records and prints a short table; its sections are not read."""

from __future__ import annotations

import json

import pytest
from bench_records import export_files
from support.bench import SMALL, Bench, contents

SUITE = f"""{SMALL}
[[methods]]
use = "slopes"
name = "noisy"
parameters = {{ noise = 0.5 }}
"""

SECTIONS = """
[[claims]]
text = "a sentence that no schema knows"
nonsense = 3
[[tables]]
kind = "none"
"""


def without(bench: Bench, *names: str) -> Bench:
    """`bench` without some distributions.

    A distribution of the same name without entry points, earlier on the path, hides each of them.
    """
    for name in names:
        info = bench.plugins / f"budgetbench_{name}-0.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: budgetbench-{name}\nVersion: 0.0\n")
    return bench


@pytest.fixture
def bare(bench: Bench) -> Bench:
    """`bench` without the leaderboard, the packages that need it, and the records that it reads."""
    return without(bench, "records", "leaderboard", "comparison", "claims", "site")


@pytest.fixture
def plain(bench: Bench) -> Bench:
    """`bench` with the leaderboard, but without comparison and claims."""
    return without(bench, "comparison", "claims")


def test_the_leaderboards_commands_are_gone_and_the_cores_are_there(bench: Bench, bare: Bench) -> None:
    shown = bare("--help", fresh=True).stdout
    commands = {line.split()[0] for line in shown.partition("Commands:")[2].splitlines() if line.strip()}
    assert {"run", "plan", "list", "data", "new", "check", "doctor"} <= commands
    assert commands.isdisjoint({"leaderboard", "export", "compare", "claims", "verify", "site"})
    assert "leaderboard" not in bare("list", "plugins").stdout


def test_a_run_stores_its_records_and_prints_a_short_table(bare: Bench) -> None:
    said = bare("run", bare.suite(SUITE)).stdout
    assert "4 trial(s) computed, 0 kept" in said
    records = contents(bare.folder / ".bench-store")
    assert len(records) == 4
    assert not (bare.folder / "leaderboard").exists()
    head, *rows = [line.split() for line in said.splitlines() if line.strip()]
    assert {"method", "seeds"} <= {word.lower() for word in head}
    shown = {row[2]: row for row in rows if row[0] == "blobs"}
    assert set(shown) == {"slopes", "noisy"}
    # The table's coverage is the records': the first policy's, mean over the seeds.
    for name, noise in (("slopes", 0.0), ("noisy", 0.5)):
        values = [
            record["policies"]["test"]["coverage"][0]
            for record in records.values()
            if json.loads(record["trial"])["method"]["parameters"].get("noise", 0.0) == noise
        ]
        assert len(values) == 2
        assert f"{50 * sum(values):.1f}" in shown[name]
        assert shown[name][-1] == "2"


def test_a_second_run_computes_nothing_and_prints_the_same_table(bare: Bench) -> None:
    suite = bare.suite(SUITE)
    first = bare("run", suite).stdout
    second = bare("run", suite).stdout
    assert "0 trial(s) computed, 4 kept" in second
    assert second.splitlines()[:-1] == first.splitlines()[:-1]


def test_sections_of_the_leaderboard_are_not_read_and_this_is_reported(bare: Bench) -> None:
    suite = bare.suite(SUITE + SECTIONS)
    done = bare("run", suite)
    for key, owner in (("claims", "budgetbench-claims"), ("tables", "budgetbench-leaderboard")):
        (line,) = [line for line in done.stderr.splitlines() if f"[{key}]" in line]
        assert owner in line
        assert "unread" in line
    assert "[figures]" not in done.stderr
    assert "4 trial(s) computed" in done.stdout


def test_a_section_without_owner_is_an_error(bare: Bench) -> None:
    said = bare("run", bare.suite(SUITE + '\n[claimz]\ntext = "x"\n'), expect=2).stderr
    assert "claimz" in said
    assert "claims" in said


def test_with_the_leaderboard_the_same_sections_are_checked(bench: Bench) -> None:
    assert "claims[0].kind" in bench("run", bench.suite(SUITE + SECTIONS), expect=2).stderr


CLAIM = """
[[claims]]
kind = "value"
method = "slopes"
metric = "coverage"
relation = ">"
value = 0.0
text = "something is answered"
source = "ours"
standing = "same data"

[comparison]
budgets = [0.5, 1.0]
"""


@pytest.mark.slow
def test_pages_have_no_claims_and_no_comparison_where_those_are_not_installed(plain: Bench) -> None:
    done = plain("run", plain.suite(SUITE + CLAIM))
    for key in ("claims", "comparison"):
        (line,) = [line for line in done.stderr.splitlines() if f"[{key}]" in line]
        assert f"[{key}] is left unread: budgetbench-{key} is not installed" in line
    page = plain.page()
    assert "## blobs" in page
    assert "something is answered" not in page
    folder = plain.folder / "leaderboard" / "s"
    assert export_files(folder)
    assert not (folder / "losses.json").exists()
    assert "not installed" in plain("export", plain.suite(SUITE), "--budgets", expect=2).stderr


@pytest.mark.slow
def test_pages_have_claims_and_a_comparison_where_those_are_installed(bench: Bench) -> None:
    bench("run", bench.suite(SUITE + CLAIM))
    assert "something is answered" in bench.page()
    assert (bench.folder / "leaderboard" / "s" / "losses.json").is_file()
