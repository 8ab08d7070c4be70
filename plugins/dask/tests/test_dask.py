"""Trials on real Dask workers: equal records, refused workers, limits, deaths, and no leaked processes or files."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from support import tiny_plugin
from support.bench import Bench, contents, decisions, install

SUITE = """
[protocol]
seeds = 3
[[datasets]]
use = "blobs"
name = "A"
[[datasets]]
use = "blobs"
name = "B"
parameters = { seed = 1 }
[[methods]]
use = "slopes"
parameters = { noise = 0.2 }
[[methods]]
use = "peeker"
"""
ONE = '[[datasets]]\nuse = "blobs"\n'
SLOPES = '[[methods]]\nuse = "slopes"\n'


def rogue(how: str) -> str:
    return f'[[methods]]\nuse = "rogue"\nname = "{how}"\nparameters = {{ how = "{how}" }}\n'


def slow(seconds: float, name: str = "slow") -> str:
    return f'[[methods]]\nuse = "slopes"\nname = "{name}"\nparameters = {{ seconds = {seconds} }}\n'


def soon(what: Callable[[], Any]) -> Any:
    """Call a function until its result is true, and return the result; fail after two minutes."""
    deadline = time.monotonic() + 120
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def without_traceback(store: Path) -> dict[str, Any]:
    found = contents(store)
    for record in found.values():
        record.get("error", {}).pop("traceback", None)
    return found


def errors(store: Path) -> dict[str, Any]:
    """Return the errors of the records by the method's parameter ``how`` or ``seconds``."""
    found = {}
    for record in contents(store).values():
        parameters = json.loads(record["trial"])["method"]["parameters"]
        found[parameters.get("how", parameters.get("seconds"))] = record.get("error")
    return found


def start(bench: Bench, suite: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench_core.cli.main", "run", suite, *more],
        cwd=bench.folder, env=bench.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


AUDIT = "--audit-seed", "1"
"""A fixed seed, as the record of a failed audit holds it."""


@pytest.mark.slow
@pytest.mark.parametrize("isolation", [pytest.param("none", marks=pytest.mark.weekly), "process"])
def test_workers_give_the_same_records_as_one_process(bench: Bench, two_workers: Any, isolation: str) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite, "--store", "serial", "--out", "serial pages", *AUDIT, expect=1)
    dask = ["--scheduler", two_workers.address, "--isolation", isolation, *AUDIT]
    said = bench("run", suite, "--store", "dask", "--out", "dask pages", *dask, expect=1)
    assert "12 trial(s) computed" in said.stdout
    assert without_traceback(bench.folder / "dask") == without_traceback(bench.folder / "serial")
    assert decisions(bench.folder / "dask") == decisions(bench.folder / "serial")
    assert bench.page(out="dask pages") == bench.page(out="serial pages")
    assert "0 trial(s) computed" in bench("run", suite, "--store", "dask", *dask, expect=1).stdout
    # The run leaves no processes or files with the workers.
    soon(lambda: not two_workers.trials_of("one") and not two_workers.trials_of("two"))
    soon(lambda: not list(two_workers.folder.glob("space */*/worker-*/trials-*")))


@pytest.mark.weekly
def test_pages_are_the_same_through_every_executor_with_and_without_isolation(bench: Bench, two_workers: Any) -> None:
    suite = bench.suite(SUITE.replace('use = "peeker"', 'use = "slopes"\nname = "more"\nparameters = { noise = 0.4 }'))
    executors = {"serial": [], "processes": ["--jobs", "2"], "dask": ["--scheduler", two_workers.address]}
    pages = {}
    for name, options in executors.items():
        for isolation in ("process", "none"):
            key = f"{name} {isolation}"
            places = "--store", key, "--out", f"{key} pages"
            bench("run", suite, *places, *options, "--isolation", isolation, "--private")
            out = bench.folder / f"{key} pages"
            files = {file.relative_to(out) for file in out.rglob("*") if file.is_file()}
            # Without the files on times and machines.
            compared = {
                file: (out / file).read_bytes()
                for file in files
                if file.name != "timings.md" and file.parent.name != "runs"
            }
            pages[key] = compared, contents(bench.folder / key), decisions(bench.folder / key)
    first, *others = pages.values()
    assert Path("s.md") in first[0]
    assert any(file.parent == Path("s/records") for file in first[0])
    assert len(first[1]) == 12
    for other in others:
        assert other == first


@pytest.mark.weekly
def test_a_trial_that_crashes_or_exceeds_a_limit_does_not_affect_others(bench: Bench, two_workers: Any) -> None:
    suite = bench.suite(
        ONE + rogue("os._exit") + rogue("segfault") + rogue("killed") + slow(600)
        + '[[methods]]\nuse = "fails"\nname = "memory"\nparameters = { how = "memory" }\n' + SLOPES
    )  # fmt: skip
    limits = ["--timeout", "40", "--memory", "3G"]
    said = bench("run", suite, "--scheduler", two_workers.address, *limits, expect=1)
    assert "6 trial(s) computed" in said.stdout
    failed = errors(bench.folder / ".bench-store")
    assert failed.pop(0.0) is None
    kinds = {"os._exit": "exit", "segfault": "crash", "killed": "killed", 600.0: "time", "memory": "memory"}
    assert {how: error["kind"] for how, error in failed.items()} == kinds
    assert all(process.is_running() for name in ("one", "two") for process in two_workers.processes_of(name)[:1])


@pytest.mark.weekly
@pytest.mark.parametrize(("how", "kind"), [("children, then dies", "killed"), ("children, then hangs", "time")])
def test_processes_started_by_a_trial_end_with_its_process(
    bench: Bench, two_workers: Any, tmp_path: Path, how: str, kind: str
) -> None:
    numbers = tmp_path / "numbers"
    entry = f'[[methods]]\nuse = "rogue"\nparameters = {{ how = "{how}", path = "{numbers}" }}\n'
    bench("run", bench.suite(ONE + entry), "--scheduler", two_workers.address, "--timeout", "30", expect=None)
    assert errors(bench.folder / ".bench-store")[how]["kind"] == kind
    started = [int(number) for number in numbers.read_text().split()]
    assert len(started) in (3, 6)  # a killed trial is run twice
    soon(lambda: not any(map(_is_asleep, started)))


def _is_asleep(process: int) -> bool:
    try:
        return "time.sleep(600)" in " ".join(psutil.Process(process).cmdline())
    except psutil.Error:
        return False


@pytest.mark.weekly
def test_methods_do_not_run_in_the_workers_own_process(bench: Bench, two_workers: Any) -> None:
    run = start(bench, bench.suite(ONE + slow(600)), "--scheduler", two_workers.address)
    try:
        soon(lambda: [*two_workers.trials_of("one"), *two_workers.trials_of("two")])
    finally:
        run.kill()
        run.communicate()
    # The run was killed, so the trial is stopped, though it would take ten minutes.
    soon(lambda: not two_workers.trials_of("one") and not two_workers.trials_of("two"))


WATCH = """
import os, sys
from bench_core import Metric, hookimpl
BENCH_CONTRACT_VERSION = 1

def seen(outcome):
    with open(os.path.join(os.environ["BUDGETBENCH_CACHE"], f"seen {os.getpid()}"), "w") as file:
        file.write("\\n".join(sys.modules))
    return 0.0

@hookimpl
def bench_register_metrics(register):
    register(Metric("seen", seen, "min", "Seen"))
"""


@pytest.mark.weekly
def test_a_workers_process_imports_no_methods_plugin(bench: Bench, two_workers: Any, tmp_path: Path) -> None:
    install(two_workers.plugins, "watch_plugin", WATCH, "watch")
    suite = bench.suite(ONE + SLOPES)
    text = (bench.folder / suite).read_text()
    (bench.folder / suite).write_text('metrics = ["seen"]\n' + text)
    bench("run", suite, "--scheduler", two_workers.address, "--isolation", "process", "--private")
    imported = [set(path.read_text().splitlines()) for path in two_workers.folder.glob("cache */seen *")]
    assert imported
    for modules in imported:
        assert "watch_plugin" in modules
        assert not {"rogue_plugin", "bench_emsco", "bench_lasso"} & modules


@pytest.mark.weekly
def test_a_trials_process_that_is_killed_from_outside_is_replaced(bench: Bench, two_workers: Any) -> None:
    suite = bench.suite(ONE + slow(3))
    run = start(bench, suite, "--scheduler", two_workers.address)
    running = Path(two_workers.folder)
    soon(lambda: [mark for mark in running.glob("space */*/worker-*/trials-*/store/running/*") if _is_running(mark)])
    for process in [*two_workers.trials_of("one"), *two_workers.trials_of("two")]:
        with suppress(psutil.Error):
            process.kill()
    assert "1 trial(s) computed" in run.communicate(timeout=300)[0]
    assert run.returncode == 0


def _is_running(mark: Path, trial: bytes = b"") -> bool:
    try:
        there = psutil.pid_exists(int(mark.name.rsplit("-", 2)[1]))
        text = mark.read_bytes() if there and mark.is_file() else b""
        return text.startswith(b"+") and trial in text
    except OSError:
        return False


@pytest.mark.weekly
def test_the_trials_of_a_worker_that_dies_run_on_another_worker(bench: Bench, two_workers: Any) -> None:
    suite = bench.suite("[protocol]\nseeds = 8\n" + ONE + slow(0.5))
    bench("run", suite, "--store", "calm", "--out", "calm pages")  # records in the default --out count as done
    run = start(bench, suite, "--scheduler", two_workers.address)
    soon(lambda: len(contents(bench.folder / ".bench-store")) >= 1)
    nanny, *below = two_workers.processes_of("one")
    worker = next(process for process in below if "spawn_main" in " ".join(process.cmdline()))
    worker.kill()
    said = run.communicate(timeout=300)[0]
    assert run.returncode == 0, said
    assert contents(bench.folder / ".bench-store") == contents(bench.folder / "calm")
    assert nanny.is_running()


@pytest.mark.weekly
def test_a_trial_whose_workers_die_twice_is_failed(bench: Bench, two_workers: Any) -> None:
    run = start(bench, bench.suite(ONE + slow(600) + SLOPES), "--scheduler", two_workers.address)
    for death in range(2):
        # Kill the worker that runs the slow trial, and not the one that runs the other trial.
        marks = soon(
            lambda: [
                mark
                for mark in two_workers.folder.glob("space */*/worker-*/trials-*/store/running/*")
                if _is_running(mark, b"slow on blobs")
            ]
        )
        process = int(marks[0].name.rsplit("-", 2)[1])
        with suppress(psutil.Error):
            worker = psutil.Process(process).parent()
            assert worker is not None
            worker.kill()
        if death == 0:
            soon(lambda process=process: not psutil.pid_exists(process))
    said = run.communicate(timeout=300)[0]
    assert run.returncode == 1, said
    error = errors(bench.folder / ".bench-store")[600.0]
    assert error["kind"] == "killed"
    assert "the workers that ran it died" in error["message"]
    assert errors(bench.folder / ".bench-store")[0.0] is None


@pytest.mark.weekly
def test_workers_with_other_plugins_or_data_are_refused_before_any_trial(
    bench: Bench, two_workers: Any, tmp_path: Path
) -> None:
    from bench_dask_cluster import Cluster

    made = Cluster(tmp_path, two_workers.plugins)
    try:
        other = tmp_path / "other code"
        install(other, "tiny_plugin", Path(tiny_plugin.__file__).read_text() + "\n# edited\n", "tiny")
        lacks = tmp_path / "lacks"
        lacks.mkdir()
        old = tmp_path / "old"
        text = (
            Path(tiny_plugin.__file__).read_text().replace("BENCH_CONTRACT_VERSION = 1", "BENCH_CONTRACT_VERSION = 0")
        )
        install(old, "tiny_plugin", text, "tiny")
        made.worker("edited", plugins=other)
        made.worker("lacking", plugins=lacks)
        made.worker("old", plugins=old)
        made.worker("remote", TINY_SEED="5")
        made.worker("without", TINY_GONE="1")
        made.wait_for(5)
        lent = bench.suite('[[datasets]]\nuse = "lent"\n' + SLOPES)
        said = bench("run", lent, "--scheduler", made.address, expect=2)
        refused = {
            "edited": "its plugin 'tiny' differs",
            "lacking": "it has no plugin 'tiny' (version 1.0)",
            "old": "built for contract 0",
            "remote": "its data set 'lent' differs: its content hash is",
            "without": "its data set 'lent' cannot be used: the blobs are out on loan",
        }
        for name, why in refused.items():
            line = next(line for line in said.stderr.splitlines() if line.startswith(f"Dask worker refused: {name} ("))
            assert why in line
        assert "no Dask worker can run these trials" in said.stderr
        assert contents(bench.folder / ".bench-store") == {}
        made.worker("good")
        made.wait_for(6)
        said = bench("run", lent, "--scheduler", made.address)
        assert said.stderr.count("Dask worker refused") == 5
        assert "1 trial(s) computed" in said.stdout
    finally:
        made.close()


@pytest.mark.weekly
def test_without_a_scheduler_workers_are_started_here_and_leave_nothing_behind(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    said = bench("run", suite, "--executor", "dask", "--jobs", "2", "--store", "dask", *AUDIT, expect=1, fresh=True)
    assert "12 trial(s) computed" in said.stdout
    assert "distributed" not in said.stderr
    bench("run", suite, "--store", "serial", "--out", "serial pages", *AUDIT, expect=1)
    assert without_traceback(bench.folder / "dask") == without_traceback(bench.folder / "serial")
    assert list((bench.folder / "cache" / "dask").rglob("worker-*/")) == []
    here = str(bench.folder)
    assert [
        p for p in psutil.process_iter(["environ"]) if here in str((p.info["environ"] or {}).get("BUDGETBENCH_CACHE"))
    ] == []


LONG = pytest.mark.skipif("BUDGETBENCH_KILLS" not in os.environ, reason="takes a long time; the weekly run has it")


@pytest.mark.weekly
@pytest.mark.parametrize("count", [8, pytest.param(200, marks=LONG)])
def test_random_kills_of_coordinator_workers_and_trials_do_not_change_the_final_store(
    bench: Bench, two_workers: Any, count: int
) -> None:
    suite = bench.suite("[protocol]\nseeds = 10\n" + ONE + slow(0.3))
    bench("run", suite, "--store", "calm", "--out", "calm pages")  # records in the default --out count as done
    rng, kills, rounds = random.Random(3), 0, 0
    while kills < count:
        rounds += 1
        store = f"killed {rounds}"
        for _ in range(400):
            run = start(
                bench, suite, "--store", store, "--out", f"{store} pages", "--scheduler", two_workers.address,
                "--isolation", "process", "--retry-failed",
            )  # fmt: skip
            while run.poll() is None and kills < count:
                time.sleep(rng.uniform(0.2, 2.0))
                trials = [*two_workers.trials_of("one"), *two_workers.trials_of("two")]
                below = [process for name in ("one", "two") for process in two_workers.processes_of(name)[1:]]
                workers = [process for process in below if process not in trials and _is_worker(process)]
                chosen = rng.choice([[psutil.Process(run.pid)], workers, below, trials])
                if chosen and trials:
                    with suppress(psutil.Error):
                        rng.choice(chosen).kill()
                        kills += 1
            said = run.communicate(timeout=600)[0]
            if run.returncode == 0:
                break
        assert run.returncode == 0, said
        assert contents(bench.folder / store) == contents(bench.folder / "calm")
        assert list((bench.folder / store / "tmp").iterdir()) == []
    soon(lambda: not two_workers.trials_of("one") and not two_workers.trials_of("two"))


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:
        return False


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers at tcp://127.0.0.1:1"),
        (["--scheduler", "nonsense://x"], "no Dask scheduler answers at nonsense://x"),
        (["--scheduler", "tcp://127.0.0.1:1", "--executor", "serial"], "--scheduler needs --executor dask"),
    ],
)
def test_a_wrong_scheduler_is_reported_in_one_line(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    done = bench("run", bench.suite(ONE + SLOPES), *arguments, expect=2, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="2s")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
