"""The machine matrix detects different names, decisions and numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.bench import ROOT, Bench, install

PLUGIN = """
import os
from dataclasses import dataclass

import numpy as np
from bench_core import Dataset, DataSource, Decisions, Method, Policy, hookimpl

BENCH_CONTRACT_VERSION = 1
SECOND = os.environ.get("OMP_NUM_THREADS") == "2"


@dataclass(frozen=True)
class Line(DataSource):
    rows: int = 40
    moved: float = 0.0

    def load(self, context):
        X = np.linspace(-1, 1, self.rows)[:, None] + self.moved * SECOND
        return Dataset("line", "binary", X, ("a",), (X[:, 0] > 0).astype(np.int64), ("no", "yes"))


class Cut(Policy):
    def __init__(self, place, slope):
        self.place, self.slope = place, slope

    def decide(self, rows):
        p = np.clip(0.5 + self.slope * (rows.X[:, 0] - self.place), 0.0, 1.0)
        return Decisions(np.ones((len(rows), 1), dtype=bool), np.stack([1 - p, p], axis=1))


@dataclass(frozen=True)
class Cutting(Method):
    moved: float = 0.0
    steeper: float = 0.0

    def fit(self, problem):
        return [Cut(self.moved * SECOND, 0.5 + self.steeper * SECOND)]


@hookimpl
def bench_register_datasets(register):
    register("line", Line)


@hookimpl
def bench_register_methods(register):
    register("cutting", Cutting)
"""

SUITE = """

[protocol]
seeds = 1
threshold = 0.5

[[datasets]]
use = "line"
name = "same"

[[datasets]]
use = "line"
name = "moved"
parameters = { rows = 44, moved = 1e-15 }

[[methods]]
use = "cutting"
name = "other decisions"
parameters = { moved = 0.9 }

[[methods]]
use = "cutting"
name = "other numbers"
parameters = { steeper = 0.1 }
"""


@pytest.mark.weekly
def test_different_names_fail_and_different_decisions_are_named_with_their_size(tmp_path: Path) -> None:
    install(tmp_path / "plugins", "other_machine", PLUGIN, "other")
    played = Bench(tmp_path, tmp_path / "plugins")
    suite = played.suite(SUITE)
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci/machines.py"), "suites", suite, "--settings", "as-is,two-threads"],
        env=played.environment(), cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = done.stdout
    assert done.returncode == 1, said + done.stderr
    assert "names and data: 4 differ" in said
    assert "trials that decide differently: 1" in said
    assert "same, uniform, other decisions, 0, 0: 1 of 2 policies and parts decide differently on 3 of 20 rows" in said
    assert "accuracy, coverage, MSE or NDCG by up to 0.1" in said
    assert "s.md differs in" in said
