"""``bench recommend``: budgets that cannot be kept, error costs, wrong options, and hostile texts in tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bench_policies import Goal, fit_policy, save_policy
from bench_recommend import recommend
from support.patients import PRICES, bench, write_files


@pytest.fixture
def files(table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of ``bench recommend`` for a table and its prices."""
    return write_files(table, tmp_path, monkeypatch)


@pytest.mark.slow
def test_nothing_is_recommended_where_no_method_keeps_to_the_budget(files: list[str]) -> None:
    words = ["--budget", "0.5", "--method", "single-stage", "--method", "eg2", "--splits", "2"]
    done = bench("recommend", *files, *words)
    assert done.exit_code == 1
    assert "Use " not in done.output
    assert "bench fit" not in done.output
    (least,) = re.findall(r"the least budget that works is (\S+) \(eg2\)", done.output)
    assert "Use eg2" in bench("recommend", *files, "--budget", least, *words[2:]).output


def test_a_recommendation_says_that_a_constant_answer_is_no_worse(files: list[str]) -> None:
    words = ["--error-costs", "e.toml", "--method", "single-stage", "--splits", "2"]
    done = bench("recommend", *files, *words)
    assert done.exit_code == 0, done.output
    assert "Mean total" in done.output
    assert re.search(r'the answer "always sick" gives a mean total cost of \S+.*, which is no worse', done.output)
    found = json.loads(bench("recommend", *files, *words, "--method", "majority", "--json").stdout)
    assert (found["best"], found["method"], found["parameters"], found["notes"]) == ("majority", "majority", {}, [])
    assert "Use majority" in found["text"]
    assert {row["method"] for row in found["table"]} == {"majority", "single-stage"}
    assert found["command"].startswith("bench fit")


def test_recommend_measures_the_exit_threshold_that_fit_would_choose(table: pd.DataFrame) -> None:
    found = recommend(
        table, PRICES, target="outcome", goal=Goal(budget=4), methods=("cost-ordered",), splits=2, isolation="none"
    )
    assert found.best == "cost-ordered"
    assert found.table["cost"].iloc[0] < 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "outcom"], "no column 'outcom'"),
        (["--budget", "5", "--accuracy", "0.9"], "give one of"),
        (["--time", "soon"], "not a time"),
        (["--target", "glucose", "--threshold", "0.8", "--prices", "r.toml"], "a threshold needs classes"),
        (["--prices", "q.toml"], "line 1: the price of 'scan' (number 5) is nan"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(files: list[str], options: list[str], said: str) -> None:
    Path("q.toml").write_text("prices = [0, 0, 5, 5, nan]")
    Path("r.toml").write_text("prices = [0, 0, 5, 5, 40]")
    done = bench("recommend", *files, "--method", "lasso", "--out", "out", *options)
    assert (done.exit_code, said in done.output) == (2, True), done.output
    assert not Path("out").exists()


def test_no_control_character_of_a_table_reaches_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUDGETBENCH_ISOLATION", "none")
    hostile = "a\x1b[2Jb\x9b31m\u202ec\r\n"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({hostile: rng.normal(size=240), "kind": rng.choice([hostile + "1", hostile + "2"], 240)})
    frame["y"] = np.where(frame[hostile] > 0.3, hostile + "yes", "no")
    frame.to_parquet("t.parquet")
    Path("p.toml").write_text("prices = [1, 2]\n")
    methods = ["--method", "stump", "--method", "cost-ordered"]
    done = bench("recommend", "t.parquet", "--target", "y", "--prices", "p.toml", *methods, "--splits", "1")
    assert done.exit_code == 0, done.output
    shown = done.output + done.stderr
    assert not re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown), shown


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("policy", "inside the saved policy"),
        ("t.csv/out", "t.csv is a file"),
        ("/proc/zz", "/proc/zz cannot be written: "),
    ],
)
def test_a_place_that_takes_no_page_is_refused_before_the_search(
    table: pd.DataFrame, files: list[str], monkeypatch: pytest.MonkeyPatch, out: str, said: str
) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("no /proc on this system")
    save_policy(fit_policy("majority", table, PRICES, target="outcome", splits=0), "policy")
    monkeypatch.setattr("bench_recommend.recommending.recommend", None)  # is not called
    done = bench("recommend", *files, "--out", out)
    assert (done.exit_code, said in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr
