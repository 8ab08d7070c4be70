"""Where commands write: nothing that was there is destroyed, and nothing is half-written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bench_policies import FittedPolicy, load_policy, save_policy
from support.patients import bench, write_files

from bench_core import RequestError

Fit = Callable[..., FittedPolicy]


@pytest.fixture
def policy(fitted: Fit, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a policy in the working folder, which also holds the table ``t.csv`` and its prices."""
    write_files(table, tmp_path, monkeypatch)
    return save_policy(fitted("cost-ordered"), Path("policy"))


@pytest.mark.parametrize("out", ["t.csv", "./t.csv", "link.csv", "policy/card.md", "policy/answers.csv"])
def test_answers_replace_neither_their_table_nor_a_file_of_the_policy(policy: Path, out: str) -> None:
    Path("link.csv").symlink_to("t.csv")
    before = Path("t.csv").read_bytes()
    done = bench("answer", "policy", "t.csv", "--out", out)
    assert (done.exit_code, out.removeprefix("./") in done.stderr) == (2, True), done.stderr
    assert Path("t.csv").read_bytes() == before
    load_policy(policy)


def test_answers_on_a_full_disk_leave_the_earlier_ones(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("answers.csv").write_text("earlier")
    there = sorted(Path().iterdir())

    def full(source: Any, target: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    done = bench("answer", "policy", "t.csv", "--out", "answers.csv")
    assert (done.exit_code, done.stderr) == (2, "bench: answers.csv cannot be written: No space left on device\n")
    assert Path("answers.csv").read_text() == "earlier"
    assert sorted(Path().iterdir()) == there


def test_answers_are_written_through_a_link(policy: Path) -> None:
    Path("real").mkdir()
    Path("answers.csv").symlink_to("real/answers.csv")
    assert bench("answer", "policy", "t.csv", "--out", "answers.csv").exit_code == 0
    assert Path("answers.csv").is_symlink()
    assert len(pd.read_csv("real/answers.csv")) == len(pd.read_csv("t.csv"))


@pytest.mark.parametrize("out", ["/dev/full", "/proc/answers.csv"])
def test_a_place_that_takes_no_answers_is_refused_in_one_line(policy: Path, out: str) -> None:
    if not Path(out).parent.is_dir():
        pytest.skip("no such folder on this system")
    done = bench("answer", "policy", "t.csv", "--out", out)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"bench: {out} cannot be written: ")
    assert done.stderr.count("\n") == 1


def test_nothing_is_saved_or_exported_into_a_saved_policy(fitted: Fit, policy: Path) -> None:
    with pytest.raises(RequestError, match=r"policy.sub.deep is inside the saved policy .*policy:"):
        save_policy(fitted("lasso"), policy / "sub" / "deep")
    words = ["--target", "outcome", "--prices", "p.toml", "--method", "lasso", "--splits", "0"]
    for more in (["--out", "policy/sub"], ["--out", "new", "--export", "policy/export.json"]):
        done = bench("fit", "t.csv", *words, *more)
        assert (done.exit_code, "is inside the saved policy" in done.stderr) == (2, True), done.stderr
    assert not Path("new").exists()
    load_policy(policy)
