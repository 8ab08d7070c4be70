"""End to end: a suite run by the command line, resumed, killed, in parallel, with failures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
from bench_records import export_files
from support.bench import Bench, contents, decisions

SMALL = """
[protocol]
seeds = 3
threshold = 0.7

[[datasets]]
use = "blobs"
name = "A"

[[datasets]]
use = "blobs"
name = "B"
parameters = { seed = 1 }
costs = { use = "random" }

[[methods]]
use = "slopes"
grid = { noise = [0.0, 0.5] }
"""


def test_a_suite_becomes_a_page_with_a_row_per_method(bench: Bench) -> None:
    suite = bench.suite(SMALL + '\n[[methods]]\nuse = "slopes"\nname = "no reject"\nreject = false\n')
    said = bench("run", suite)
    assert "18 trial(s) computed, 0 kept" in said.stdout
    page = bench.page()
    sections = {section.partition("\n")[0]: section for section in page.split("\n## ")}
    for dataset in "AB":
        assert sections[dataset].count("\n| slopes ") == 1
        row = next(line for line in sections[dataset].splitlines() if line.startswith("| no reject |"))
        assert row.split("|")[2].strip(" *") == "100.0 ± 0"


@pytest.mark.slow
def test_a_second_run_computes_nothing_and_plan_says_so(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite)
    before = contents(bench.folder / ".bench-store")
    assert "12 done, 0 failed, 0 to compute" in bench("plan", suite).stdout
    assert "0 trial(s) computed, 12 kept" in bench("run", suite).stdout
    assert contents(bench.folder / ".bench-store") == before


@pytest.mark.slow
def test_two_processes_give_the_same_bytes_as_one(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite, "--store", "one", "--out", "page-one")
    bench("run", suite, "--store", "two", "--out", "page-two", "--jobs", "2", fresh=True)
    assert contents(bench.folder / "one") == contents(bench.folder / "two")
    assert decisions(bench.folder / "one") == decisions(bench.folder / "two")
    assert bench.page(out="page-one") == bench.page(out="page-two")
    one, two = (export_files(bench.folder / page / "s") for page in ("page-one", "page-two"))
    assert [(path.name, path.read_bytes()) for path in one] == [(path.name, path.read_bytes()) for path in two] != []


def ends(process: psutil.Process) -> bool:
    """Whether a process that is not a child of this one ends soon; a zombie counts as ended."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
                continue
        return True
    return False


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.weekly), pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_run_is_resumed(bench: Bench, jobs: int) -> None:
    suite = bench.suite(SMALL.replace('use = "slopes"', 'use = "slopes"\nparameters = { seconds = 0.1 }'))
    whole = bench("run", suite, "--store", "whole", "--out", "page-whole")
    assert "12 trial(s) computed" in whole.stdout
    killed = 0
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-m", "bench_core.cli.main", "run", suite, "--jobs", str(jobs)],
            cwd=bench.folder,
            env=bench.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        store = bench.folder / ".bench-store"
        have = len(list(store.glob("??/*.json")))
        while process.poll() is None and time.monotonic() < deadline:
            if len(list(store.glob("??/*.json"))) > have + 1:
                break
            time.sleep(0.01)
        if process.poll() is None:
            workers = psutil.Process(process.pid).children(recursive=True)
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
            # They are in other sessions and end a moment later; one may still be writing.
            assert all(map(ends, workers))
        process.wait()
        if len(list(store.glob("??/*.json"))) >= 8:
            break
    assert killed >= 1
    kept = len(list(store.glob("??/*.json")))
    last = bench("run", suite)
    assert f"{12 - kept} trial(s) computed, {kept} kept" in last.stdout
    assert contents(store) == contents(bench.folder / "whole")
    assert decisions(store) == decisions(bench.folder / "whole")
    assert bench.page() == bench.page(out="page-whole")
    assert not list((store / "tmp").iterdir())


FAILING = """
[[datasets]]
use = "blobs"

[[methods]]
use = "slopes"

[[methods]]
use = "peeker"

[[methods]]
use = "fails"
name = "raises"

[[methods]]
use = "fails"
name = "gives nothing"
parameters = { how = "nothing" }

[[methods]]
use = "fails"
name = "wrong shape"
parameters = { how = "shape" }

[[methods]]
use = "fails"
name = "NaN"
parameters = { how = "nan" }
"""


@pytest.mark.slow
def test_failures_are_named_and_other_trials_are_run(bench: Bench) -> None:
    suite = bench.suite(FAILING)
    said = bench("run", suite, expect=1)
    assert "6 trial(s) computed" in said.stdout
    assert "read without paying: feature 'b' on" in said.stderr
    assert "raises on blobs, seed 0: failed (" in said.stderr
    assert "failed: raises on blobs, seed 0: ZeroDivisionError: no reason | at `all`\n" in said.stderr
    assert "ContractError" not in said.stderr
    assert "AuditError" not in said.stderr
    assert "Fails.fit returned no policy" in said.stderr
    assert "Decisions.acquired must have shape (20, 5), not (20, 6)" in said.stderr
    assert "Decisions.probabilities holds NaN in 20 row(s)" in said.stderr
    page = bench.page()
    assert page.count("slopes") >= 1
    assert "Failed trials" in page
    assert "no reason \\| at \\`all\\`" in page


@pytest.mark.slow
def test_failed_trials_are_kept_until_they_are_to_be_retried(bench: Bench) -> None:
    suite = bench.suite(FAILING)
    bench("run", suite, expect=1)
    again = bench("run", suite, expect=1)
    assert "0 trial(s) computed, 1 kept" in again.stdout
    assert "5 trial(s) failed before" in again.stderr
    retried = bench("run", suite, "--retry-failed", expect=1)
    assert "5 trial(s) computed" in retried.stdout


COSTS = """
[[datasets]]
use = "blobs"
costs = [{ use = "uniform" }, { use = "random", name = "drawn" }]

[[datasets]]
use = "blobs"
name = "B"
parameters = { seed = 1 }

[[methods]]
use = "fails"
"""


@pytest.mark.parametrize("only", [(), ("--only", "costs=drawn")], ids=["all", "some"])
def test_failures_name_the_costs_where_a_data_set_has_several(bench: Bench, only: tuple[str, ...]) -> None:
    said = bench("run", bench.suite(COSTS), "--isolation", "none", *only, expect=1).stderr
    titles = ["fails on blobs, costs drawn, seed 0"]
    if not only:
        titles += ["fails on blobs, costs uniform, seed 0", "fails on B, seed 0"]
    for title in titles:
        assert said.count(f"failed: {title}: ZeroDivisionError: no reason | at `all`\n") == 1
        assert said.count(f" {title}: failed (") == 1


@pytest.mark.parametrize("isolation", ["process", "none"])
def test_the_line_of_a_failure_has_the_type_of_a_foreign_error(bench: Bench, isolation: str) -> None:
    both = ["--only", "method=raises", "--only", "method=gives nothing"]
    said = bench("run", bench.suite(FAILING), "--isolation", isolation, *both, expect=1)
    assert "failed: raises on blobs, seed 0: ZeroDivisionError: no reason | at `all`\n" in said.stderr
    assert "failed: gives nothing on blobs, seed 0: Fails.fit returned no policy\n" in said.stderr


def test_strict_stops_at_the_first_failure(bench: Bench) -> None:
    suite = bench.suite(FAILING)
    said = bench("run", suite, "--strict", expect=1)
    assert "stopped at the first failure: peeker" in said.stderr
    assert len(contents(bench.folder / ".bench-store")) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "limit", "message"),
    [("memory", ["--memory", "2G"], "MemoryError"), ("exit", ["--jobs", "2"], "its process died (exit code 7)")],
)
def test_a_trial_that_breaks_its_limits_fails_alone(bench: Bench, how: str, limit: list[str], message: str) -> None:
    suite = bench.suite(
        f'[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "fails"\nparameters = {{ how = "{how}" }}\n'
        '[[methods]]\nuse = "slopes"\n'
    )
    said = bench("run", suite, *limit, expect=1)
    assert "2 trial(s) computed" in said.stdout
    failed = [r for r in contents(bench.folder / ".bench-store").values() if r["status"] == "failed"]
    assert len(failed) == 1
    assert message in f"{failed[0]['error']['type']} {failed[0]['error']['message']}"


@pytest.mark.weekly
def test_a_trial_over_the_time_limit_is_run_again_on_request_only(bench: Bench) -> None:
    suite = bench.suite(
        '[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "fails"\nparameters = { how = "hang" }\n'
        '[[methods]]\nuse = "slopes"\n'
    )
    limit = "took longer than the time limit of 3 s"
    bench("run", suite, "--only", "method=slopes")
    said = bench("run", suite, "--strict", "--timeout", "3")
    assert "1 trial(s) computed, 1 kept" in said.stdout
    assert f"over the limit: fails on blobs, seed 0: it {limit}" in said.stderr
    assert "2 trials: 1 done, 0 failed, 1 over the limit, 0 to compute" in bench("plan", suite).stdout
    section = bench.page().split("## Over the time limit")[1]
    assert limit in section.split("\n## ")[0]
    assert "Failed trials" not in bench.page()
    # Neither the stored nor the published trial is run again without a request.
    for place in (".bench-store", "nowhere"):
        again = bench("run", suite, "--retry-failed", "--store", place)
        assert "0 trial(s) computed" in again.stdout
        assert "1 trial(s) took longer than the time limit before; --retry-over-limit" in again.stderr
    retried = bench("run", suite, "--retry-over-limit", "--timeout", "4")
    assert "1 trial(s) computed" in retried.stdout
    assert "the time limit of 4 s" in retried.stderr


@pytest.mark.weekly
def test_a_suite_may_set_the_time_limit_and_the_command_another(bench: Bench) -> None:
    hangs = '[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "fails"\nparameters = { how = "hang" }\n'
    suite = bench.suite(hangs)
    with open(bench.folder / suite, "a") as file:
        file.write("[protocol]\ntimeout = 3.0\n")
    assert "the time limit of 3 s" in bench("run", suite).stderr
    assert "the time limit of 2 s" in bench("run", suite, "--timeout", "2", "--retry-over-limit").stderr


@pytest.mark.slow
def test_a_method_that_only_exits_at_a_threshold_is_selected_like_those_without_one(bench: Bench) -> None:
    suite = bench.suite('[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\nexit_threshold = 0.9\n')
    bench("run", suite)
    row = next(line for line in bench.page().splitlines() if line.startswith("| slopes "))
    assert "error" in [cell.strip() for cell in row.split("|")]


@pytest.mark.slow
def test_missing_data_is_reported_with_its_remedy_and_other_trials_are_run(bench: Bench) -> None:
    names = ["gone", "one-class", "broken", "blobs"]
    quiet = '[[datasets]]\nuse = "broken"\nname = "quiet"\nparameters = { quiet = true }\n'
    sources = "".join(f'[[datasets]]\nuse = "{n}"\n' for n in names) + quiet
    suite = bench.suite(sources + '[[methods]]\nuse = "slopes"\n')
    said = bench("run", suite, expect=1)
    nothing = "the data source 'broken' returned NoneType, not a Dataset"
    assert f"data set 'quiet' cannot be used: {nothing}" in said.stderr
    assert "data set 'gone' is missing: the table is on another planet; run: bench data fetch gone" in said.stderr
    assert "classification needs at least two classes" in said.stderr
    assert "data set 'broken' cannot be used: column 'x' is rotten" in said.stderr
    assert "1 trial(s) computed" in said.stdout


@pytest.mark.weekly
def test_a_metric_added_later_comes_from_the_stored_decisions(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite)
    bench.suite('metrics = ["max-cost", "accuracy-under@3", "ndcg@3", "cost"]\n' + SMALL)
    text = (bench.folder / "s.toml").read_text().replace('[suite]\nname = "s"\n', "")
    (bench.folder / "s.toml").write_text(text.replace("[protocol]", '[suite]\nname = "s"\n[protocol]', 1))
    said = bench("run", suite)
    assert "0 trial(s) computed, 12 kept" in said.stdout
    page = bench.page()
    assert "Dearest row" in page
    assert "Accuracy, cost ≤ @3" in page
    assert "No table has a column for NDCG@3: no data set here has values of it." in page
    fresh = bench("run", suite, "--store", "fresh", "--out", "page-fresh")
    assert "12 trial(s) computed" in fresh.stdout
    assert bench.page(out="page-fresh") == page


@pytest.mark.slow
def test_metrics_on_request_are_computed_only_where_a_suite_names_them(bench: Bench) -> None:
    import pandas as pd

    bench("run", bench.suite(SMALL))
    folder = bench.folder / "leaderboard" / "s"
    plain = {column for path in export_files(folder) for column in pd.read_parquet(path).columns}
    bench.suite('metrics = ["accuracy", "auc", "log-loss", "cost"]\n' + SMALL)
    text = (bench.folder / "s.toml").read_text().replace('[suite]\nname = "s"\n', "")
    (bench.folder / "s.toml").write_text(text.replace("[protocol]", '[suite]\nname = "s"\n[protocol]', 1))
    bench("run", "s.toml")
    columns = {column for path in export_files(folder) for column in pd.read_parquet(path).columns}
    assert columns - plain >= {"test.auc", "test.log-loss"}
    assert not {"test.auc", "test.brier", "test.log-loss"} & plain


@pytest.mark.slow
def test_a_filter_runs_a_part_and_the_page_counts_the_rest(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    said = bench("run", suite, "--only", "dataset=A", "--seeds", "2")
    assert "4 trial(s) computed" in said.stdout
    assert "2 of 3" in bench.page()


@pytest.mark.slow
def test_two_stores_merge_by_copying(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite, "--only", "dataset=A", "--store", "a", "--out", "x")
    bench("run", suite, "--only", "dataset=B", "--store", "b", "--out", "x")
    import shutil

    shutil.copytree(bench.folder / "b", bench.folder / "a", dirs_exist_ok=True)
    assert "0 trial(s) computed, 12 kept" in bench("run", suite, "--store", "a").stdout


@pytest.mark.weekly
def test_two_runs_may_share_a_store(bench: Bench) -> None:
    suite = bench.suite(SMALL.replace('use = "slopes"', 'use = "slopes"\nparameters = { seconds = 0.05 }'))
    command = [sys.executable, "-m", "bench_core.cli.main", "run", suite]
    both = [
        subprocess.Popen(
            command, cwd=bench.folder, env=bench.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert len(contents(bench.folder / ".bench-store")) == 12
