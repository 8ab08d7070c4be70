"""Figures over e: lines and level lines computed by hand, and refused entries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("bench_leaderboard")

from bench_polydom.figures.one_method import OneMethodEntry, level_of

PANEL = {"title": "Sets", "lines": {"α=0": "expanded_alpha_0"}}


def info(**diagnostics: float | None) -> dict[str, object]:
    return {"diagnostics": diagnostics, "trial": '{"split": {"kind": "given"}}'}


def test_a_level_line_is_the_mean_over_seeds_from_end_to_end() -> None:
    line = level_of([info(sets=2.0), info(sets=6.0), info(sets=None)], "sets", np.array([0.0, 0.2]))
    assert line is not None
    assert (line.x.tolist(), line.mean.tolist()) == ([0.0, 0.2], [4.0, 4.0])
    assert level_of([info(sets=2.0)], "other", np.array([0.0, 1.0])) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"methods": ["A", "B"]},
        {"methods": []},
        {"panels": []},
        {"panels": [{"title": "Sets", "lines": {}}]},
        {"panels": [{**PANEL, "levels": {"B": ["B"]}}]},
        {"axes": ["e"]},
    ],
)
def test_an_entry_that_cannot_be_drawn_is_refused(wrong: dict[str, object]) -> None:
    entry = {"kind": "series-of-one-method", "methods": ["A"], "over": "tolerances", "panels": [PANEL]}
    assert OneMethodEntry.model_validate(entry).methods == ["A"]
    with pytest.raises(ValueError, match=r"one method|panels|axes"):
        OneMethodEntry.model_validate(entry | wrong)


SUITE = """
metrics = ["error", "cost"]

[suite]
name = "tolerances"
title = "Tolerances"
source = "none"
description = "None."

[protocol]
split = { kind = "random", train = 0.5, validation = 0.25, test = 0.25 }
seeds = 2
select = "error"

[[datasets]]
use = "sized-items"
name = "Items"
costs = { use = "from-data" }

[[methods]]
use = "naive-expand-all"
name = "All"
parameters = { learner = "tree", compare_alphas = [0.0, 0.05], compare_es = [0.0, 0.02], budgets = [100, 1000] }

[[methods]]
use = "greedy"
name = "Greedy"
parameters = { learner = "tree", budgets = [100, 1000] }

[[figures]]
kind = "series-of-one-method"
methods = ["All"]
over = "tolerances"
axes = ["e", "Sets"]

[[figures.panels]]
title = "Trained"
lines = { First = "expanded_alpha_0", Second = "expanded_alpha_0.05" }
levels = { "Level of Greedy" = ["Greedy", "sets_expanded"] }
"""


def run(suite: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench_core.cli.main", "run", suite.name, "--isolation", "none", "--private"]
    return subprocess.run(command, cwd=suite.parent, capture_output=True, text=True, timeout=300)


@pytest.mark.weekly
def test_a_suite_draws_every_line_and_refuses_a_method_it_does_not_have(tmp_path: Path) -> None:
    suite = tmp_path / "tolerances.toml"
    suite.write_text(SUITE.replace('["Greedy",', '["Greedi",'), encoding="utf-8")
    refused = run(suite)
    assert refused.returncode != 0
    assert "Greedi" in refused.stderr
    assert "'Greedy'" in refused.stderr
    suite.write_text(SUITE, encoding="utf-8")
    done = run(suite)
    assert done.returncode == 0, done.stderr
    (drawn,) = (tmp_path / "leaderboard" / "tolerances").glob("series-of-one-method*.svg")
    texts = {text.text for text in ElementTree.parse(drawn).iter("{http://www.w3.org/2000/svg}text")}
    assert {"First", "Second", "Level of Greedy", "Trained"} <= texts
