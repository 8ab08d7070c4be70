"""Published records of a suite with hard budgets."""

from __future__ import annotations

from support.bench import Bench

SUITE = """
[protocol]
seeds = 1
[[datasets]]
use = "blobs"
name = "one"
caps = [1]
[[datasets]]
use = "blobs"
name = "two"
caps = [2]
[[methods]]
use = "slopes"
"""


def test_records_of_data_sets_with_different_caps_are_complete_without_the_store(bench: Bench) -> None:
    made = bench.suite(SUITE)
    bench("run", made)
    bench("leaderboard", made, "--check", "--store", "none")
    assert "2 done" in bench("plan", made, "--store", "none").stdout
