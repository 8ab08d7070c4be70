"""The commands of records: messages about commands, and requests without records."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_records import command_for
from bench_records.cli import export
from click.testing import CliRunner
from support.bench import SMALL
from support.sessions import Place

from bench_core.suites import SuiteSession


def test_a_command_in_a_message_names_folders_that_are_not_the_usual_ones(tmp_path: Path) -> None:
    session = Place(tmp_path).session(SMALL)
    store, out = tmp_path / "store", tmp_path / "out"
    assert command_for(session) == f"bench run suites/s.toml --store {store} --out {out}"
    usual = SuiteSession(
        session.suite, session.registry, type(session.store)(Path(".bench-store")), Path("leaderboard"), session.context
    )
    assert command_for(usual, "bench leaderboard") == "bench leaderboard suites/s.toml"


def test_a_suite_without_records_is_not_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("BUDGETBENCH_CACHE", str(tmp_path / "cache"))
    done = CliRunner().invoke(export, ["quickstart", "--store", "nowhere"])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "have no record of the suite; run: bench run quickstart --store nowhere" in done.stderr
