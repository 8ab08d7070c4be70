"""``bench compare``: what changed between two stores, paired by data set and seed."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_comparison.stores import Changed, Difference, compare, read_side
from bench_records.exports import write_export
from bench_records.files import write_files
from bench_records.records import tabulate
from click.testing import CliRunner
from scipy import stats
from support import tiny_plugin
from support.bench import Bench
from support.publishing import PUBLISHING
from support.synthetic import labelled, policies_of, record_of, suite_of

from bench_core.cli.main import main
from bench_core.contract.errors import RequestError
from bench_core.plugins.manager import load_registry
from bench_core.run.run_trial import TrialResult
from bench_core.run.store import Store

KNOWN = load_registry([*PUBLISHING, ("tiny", tiny_plugin)], entry_points=False).metrics
BASE = {"coverage": 0.9, "conclusive-accuracy": 0.8, "cost": 10.0, "combined": 2.0}


def store_of(path: Path, records: list[dict[str, Any]]) -> Path:
    """A store with these records."""
    for record in records:
        Store(path).write(TrialResult(record, None, None))
    return path


def record(method: str, seed: int, version: int = 1, dataset: str = "D", **change: float) -> dict[str, Any]:
    return record_of(dataset, method, seed, BASE | {k.replace("_", "-"): v for k, v in change.items()}, version=version)


def both(
    tmp_path: Path, before: list[dict[str, Any]], after: list[dict[str, Any]], **more: Any
) -> tuple[list[Changed], list[Difference]]:
    sides = [read_side(store_of(tmp_path / name, records)) for name, records in (("a", before), ("b", after))]
    return compare(*sides, KNOWN, **more)


def test_a_raised_version_is_compared_seed_by_seed(tmp_path: Path) -> None:
    after = [8.0, 7.0, 8.5, 8.0]
    changed, found = both(
        tmp_path,
        [record("A", seed) for seed in range(4)],
        [record("A", seed, version=2, cost=cost) for seed, cost in enumerate(after)],
    )
    assert [dict(one.counts) for one in changed] == [{"changed": 4}]
    cost = next(one for one in found if one.metric == "cost")
    assert (cost.before, cost.after, cost.verdict) == (10.0, 7.875, "better")
    error = float(np.std(after, ddof=1)) * (1 / 4 + 25 / 75) ** 0.5  # four splits that overlap
    low, high = stats.t.interval(0.95, 3, -2.125, error)
    assert (cost.gap.value - cost.gap.margin, cost.gap.value + cost.gap.margin) == pytest.approx((low, high))
    assert {one.metric: one.verdict for one in found if one.metric != "cost"} == {
        "coverage": "same",
        "conclusive-accuracy": "same",
        "combined": "same",
    }


def test_a_threshold_without_the_reject_option_does_not_change_the_usual_metrics(tmp_path: Path) -> None:
    """Such a threshold only says when a method with early exit stops; no row is refused."""
    records = [record_of("D", "A", seed, BASE | {"error": 0.2}, reject=False) for seed in range(3)]
    _, found = both(tmp_path, records, records)
    assert [one.metric for one in found] == ["error", "cost"]


def test_pairs_are_formed_by_seed_where_each_side_lacks_another_one(tmp_path: Path) -> None:
    before = [record_of("D", "A", 0, None), *(record("A", seed, cost=10.0 * seed) for seed in (1, 2, 3))]
    after = [*(record("A", seed, version=2, cost=10.0 * seed + 1) for seed in (0, 1, 2))]
    after.append(record_of("D", "A", 3, None, version=2))
    _, found = both(tmp_path, before, after, metrics=["cost"])
    [cost] = found
    assert (cost.before, cost.after) == (15.0, 16.0)
    assert (cost.gap.value, cost.gap.margin, cost.gap.count, cost.verdict) == (1.0, 0.0, 2, "worse")


def test_better_and_worse_go_by_the_metrics_goal(tmp_path: Path) -> None:
    _, found = both(
        tmp_path,
        [record("A", seed) for seed in range(3)],
        [record("A", seed, cost=11.0, coverage=0.95, combined=2.0 + (seed - 1)) for seed in range(3)],
    )
    verdicts = {one.metric: one.verdict for one in found}
    assert (verdicts["cost"], verdicts["coverage"], verdicts["combined"]) == ("worse", "better", "unclear")


def test_every_kind_of_change_is_counted(tmp_path: Path) -> None:
    fails = [record_of("D", "A", seed, None) for seed in range(6)]
    changed, found = both(
        tmp_path,
        [record("A", 0), record("A", 1), record("A", 2), fails[3], fails[4], record("A", 5)],
        [record("A", 0), record("A", 1, cost=1.0), fails[2], record("A", 3), fails[4], record("A", 6)],
    )
    [one] = changed
    assert dict(one.counts) == {
        "same": 1, "changed": 1, "now fails": 1, "now works": 1, "fails in both": 1, "only in A": 1, "only in B": 1,
    }  # fmt: skip
    assert {one.gap.count for one in found} == {2}


def test_a_value_that_a_policy_does_not_have_equals_itself(tmp_path: Path) -> None:
    one = record("A", 0)
    one["policies"] = policies_of({"cost": [10.0, None], "combined": [2.0, 2.0]})
    write_files(write_export(tabulate(labelled([one])), tmp_path / "export"))
    sides = read_side(tmp_path / "export"), read_side(store_of(tmp_path / "store", [one]))
    for before, after in product(sides, sides):
        changed, _ = compare(before, after, KNOWN)
        assert [dict(each.counts) for each in changed] == [{"same": 1}]


def test_other_data_is_not_the_same_trial(tmp_path: Path) -> None:
    other = record_of("E", "A", 0, BASE)
    other["provenance"]["dataset"] = "D"
    changed, found = both(tmp_path, [record("A", 0)], [other])
    assert [dict(one.counts) for one in changed] == [{"only in A": 1, "only in B": 1}]
    assert found == []


def test_without_a_suite_labels_have_the_parameters_that_differ(tmp_path: Path) -> None:
    changed, _ = both(tmp_path, [record("A", 0), record("B", 0)], [record("A", 0), record("B", 0)])
    assert [one.method for one in changed] == ['slopes (name="A")', 'slopes (name="B")']


def test_given_metrics_replace_the_usual_ones(tmp_path: Path) -> None:
    _, found = both(tmp_path, [record("A", 0)], [record("A", 0)], metrics=["cost"])
    assert [one.metric for one in found] == ["cost"]
    with pytest.raises(RequestError, match="did you mean 'cost'"):
        both(tmp_path, [record("A", 0)], [record("A", 0)], metrics=["csot"])


def test_a_side_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there is no store"):
        read_side(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RequestError, match="holds no records"):
        read_side(tmp_path / "empty")


SUITE = """
[protocol]
seeds = 3
threshold = 0.7

[[datasets]]
use = "blobs"
name = "Data"

[[methods]]
use = "slopes"
name = "Mine"
parameters = { noise = 0.5 }
"""


@pytest.mark.slow
def test_a_store_and_a_committed_export_compare_as_equal(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite)
    said = bench("compare", ".bench-store", "leaderboard/s", "--suite", suite).stdout
    assert "Mine" in said
    assert "No metric differs" in said
    assert "changed" not in said


@pytest.mark.slow
def test_a_plugin_author_sees_what_a_change_did(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite, "--store", "before", "--out", "one")
    module = bench.plugins / "tiny_plugin.py"
    source = module.read_text()
    module.write_text(
        source.replace("    noise: float = 0.0\n", "    noise: float = 0.0\n    version = 2\n").replace(
            "acquired[:, 0] = True", "acquired[:, :2] = True"
        )
    )
    bench("run", suite, "--store", "after", "--out", "two")
    for more in ([], ["--suite", suite]):
        said = bench("compare", "before", "after", *more).stdout
        [line] = [line for line in said.splitlines() if " cost " in line]
        assert line.split()[-6:-4] == ["2.000", "1.000"]
        assert line.split()[-1] == "worse"


def test_a_suite_limits_the_trials_and_names_them(tmp_path: Path) -> None:
    suite = suite_of(["D"], ["A"])
    changed, found = both(tmp_path, [record("A", 0)], [record("A", 0)], suite=suite)
    assert (changed, found) == ([], [])  # its method has other parameters than the records


@pytest.mark.slow
def test_the_command_imports_no_methods_plugin(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store_of(tmp_path / name, [record("A", seed) for seed in range(2)])
    command = [sys.executable, "-X", "importtime", "-m", "bench_core.cli.main", "compare", "a", "b"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    modules = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time")]
    imported = {module.partition(".")[0] for module in modules}
    assert "bench_leaderboard" in imported
    assert not imported & {"bench_single_stage", "bench_cost_ordered", "bench_emsco"}


@pytest.mark.slow
def test_stores_without_a_common_trial_are_not_called_equal(tmp_path: Path) -> None:
    sides = [str(store_of(tmp_path / name, [record(method, 0)])) for name, method in (("a", "A"), ("b", "B"))]
    done = CliRunner().invoke(main, ["compare", *sides])
    assert (done.exit_code, done.stderr) == (1, f"bench: no trial is in both {sides[0]} and {sides[1]}\n")
    assert "only in A" in done.stdout
    assert "No metric differs" not in done.stdout
