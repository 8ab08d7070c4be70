"""A run survives plugins that exit, crash, change the directory, print, or start child processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.bench import Bench, contents, install

BLOBS = '[[datasets]]\nuse = "blobs"\n'
SLOPES = '[[methods]]\nuse = "slopes"\n'
BOTH = pytest.mark.parametrize("more", [(), ("--executor", "processes")], ids=["serial", "processes"])


@pytest.fixture
def rogue(bench: Bench) -> Bench:
    """The command line with the plugin that misbehaves."""
    install(bench.plugins, "rogue_plugin", Path(__file__).parent / "support" / "rogue_plugin.py", "rogue")
    return bench


def method(how: str, path: Path | str = "") -> str:
    return f'[[methods]]\nuse = "rogue"\nname = "{how}"\nparameters = {{ how = "{how}", path = "{path}" }}\n'


def failures(bench: Bench) -> dict[str, Any]:
    """Error by method name, of the failed records."""
    import json

    found = {}
    for record in contents(bench.folder / ".bench-store").values():
        if record["status"] == "failed":
            how = json.loads(record["trial"])["method"]["parameters"].get("how", "slopes")
            found[how] = record["error"]
    return found


@pytest.mark.slow
@BOTH
def test_any_exception_of_a_method_is_a_failure_of_its_trial(rogue: Bench, more: tuple[str, ...]) -> None:
    hows = {
        "sys.exit": "SystemExit was raised: 0",
        "exit while deciding": "SystemExit was raised: decided to leave",
        "generator exit": "GeneratorExit was raised",
        "unprintable": "its message cannot be read",
        "surrogate": r"a lone \udc80 surrogate",
        "huge number kept": "Exceeds the limit",
    }
    suite = rogue.suite(BLOBS + "".join(map(method, hows)) + SLOPES)
    said = rogue("run", suite, *more, expect=1)
    assert f"{len(hows) + 1} trial(s) computed" in said.stdout
    failed = failures(rogue)
    assert set(failed) == set(hows)
    for how, message in hows.items():
        assert message in failed[how]["message"]
        assert f"failed: {how} on blobs, seed 0" in said.stderr
    assert "| slopes " in rogue.page()


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("isolation", ["process", pytest.param("none", marks=pytest.mark.weekly)])
def test_an_interrupt_in_a_method_is_a_failure_of_its_trial_unless_raised_in_the_judge(
    rogue: Bench, isolation: str, more: tuple[str, ...]
) -> None:
    suite = rogue.suite(BLOBS + method("own interrupt") + SLOPES)
    ends = isolation == "none"
    said = rogue("run", suite, "--isolation", isolation, *more, expect=130 if ends else 1)
    assert ("stopped; what was done is kept" in said.stderr) == ends
    if not ends:
        assert failures(rogue)["own interrupt"]["message"] == "KeyboardInterrupt was raised"
        assert len(contents(rogue.folder / ".bench-store")) == 2


@pytest.mark.slow
def test_exits_in_loading_pricing_and_metrics_are_failures(rogue: Bench) -> None:
    suite = rogue.suite(
        'metrics = ["cost"]\n[[datasets]]\nuse = "exits-on-loading"\n'
        '[[datasets]]\nuse = "blobs"\nname = "unpriced"\ncosts = { use = "exits-on-pricing" }\n' + BLOBS + SLOPES
    )
    text = (rogue.folder / suite).read_text().replace('[suite]\nname = "s"\nmetrics = ["cost"]\n', "")
    (rogue.folder / suite).write_text('metrics = ["cost"]\n[suite]\nname = "s"\n' + text)
    said = rogue("run", suite, expect=1)
    assert "data set 'exits-on-loading' cannot be used: SystemExit: loading is over" in said.stderr
    assert "failed: slopes on unpriced, seed 0: SystemExit was raised: no price" in said.stderr
    assert "2 trial(s) computed" in said.stdout
    assert "| slopes " in rogue.page()
    (rogue.folder / suite).write_text(f'metrics = ["exits"]\n[suite]\nname = "s"\n{BLOBS}{SLOPES}')
    said = rogue("run", suite, "--store", "other", "--out", "elsewhere", expect=1)
    assert "failed: slopes on blobs, seed 0: SystemExit was raised: no number" in said.stderr


@pytest.mark.weekly
def test_a_worker_that_exits_or_dies_is_a_failed_trial_in_bounded_time(rogue: Bench) -> None:
    hows = {"os._exit": "its code ended the process", "segfault": "SIGSEGV", "killed": "SIGKILL"}
    suite = rogue.suite(BLOBS + "".join(map(method, hows)) + SLOPES)
    said = rogue("run", suite, "--jobs", "2", expect=1)
    assert "4 trial(s) computed" in said.stdout
    failed = failures(rogue)
    assert {how: message in failed[how]["message"] for how, message in hows.items()} == dict.fromkeys(hows, True)
    assert not list((rogue.folder / ".bench-store" / "running").iterdir())
    assert "an earlier run" not in rogue("run", suite, expect=1).stderr


@pytest.mark.slow
@pytest.mark.parametrize("how", ["os._exit", "segfault"])
def test_the_next_run_names_the_trial_that_a_serial_run_died_in(rogue: Bench, how: str) -> None:
    first = rogue.suite(BLOBS + method(how) + SLOPES)
    rogue("run", first, expect=0 if how == "os._exit" else -signal.SIGSEGV)
    assert not contents(rogue.folder / ".bench-store")
    said = rogue("run", rogue.suite(BLOBS + SLOPES))
    line = f"an earlier run crashed in {how} on blobs, costs uniform, seed 0"
    assert said.stderr.count(line) == 1
    assert "an earlier run" not in rogue("run", "s.toml").stderr


@pytest.mark.slow
def test_a_trial_that_crashed_a_run_is_tried_again(rogue: Bench) -> None:
    suite = rogue.suite(BLOBS + method("once", rogue.folder / "was here") + SLOPES)
    rogue("run", suite)
    said = rogue("run", suite)
    assert "an earlier run crashed in once on blobs" in said.stderr
    assert "2 trial(s) computed" in said.stdout


@pytest.mark.weekly
@BOTH
def test_a_method_may_change_the_working_directory(rogue: Bench, more: tuple[str, ...]) -> None:
    suite = rogue.suite(BLOBS + method("removed directory") + method("chdir") + SLOPES)
    said = rogue("run", suite, *more)
    assert "3 trial(s) computed" in said.stdout
    assert len(contents(rogue.folder / ".bench-store")) == 3
    assert "3 done" in rogue("plan", suite).stdout


@pytest.mark.slow
def test_text_that_utf8_cannot_encode_is_escaped(rogue: Bench) -> None:
    suite = rogue.suite(BLOBS + method("surrogates kept") + SLOPES)
    assert "2 trial(s) computed" in rogue("run", suite).stdout
    labels = [r["policies"]["label"] for r in contents(rogue.folder / ".bench-store").values()]
    assert [r"a lone \udc80 surrogate"] in labels
    rogue("leaderboard", suite, "--check")


def _left(numbers: Path) -> list[int]:
    """The noted processes that are still running a moment later."""
    noted = [int(number) for number in numbers.read_text().split()]
    assert noted
    return [p.pid for p in psutil.wait_procs([psutil.Process(n) for n in noted if psutil.pid_exists(n)], 2)[1]]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="orphans can be found on Linux only")
@pytest.mark.parametrize(
    ("how", "more", "expect"),
    [
        pytest.param("children", (), 0, marks=pytest.mark.weekly),
        ("children", ("--jobs", "2"), 0),
        pytest.param("children, then hangs", ("--timeout", "15"), 0, marks=pytest.mark.weekly),
        pytest.param("children, then dies", ("--jobs", "2"), 1, marks=pytest.mark.weekly),
    ],
)
def test_no_process_that_a_trial_started_survives_it(
    rogue: Bench, how: str, more: tuple[str, ...], expect: int
) -> None:
    numbers = rogue.folder / "numbers"
    suite = rogue.suite(BLOBS + method(how, numbers) + SLOPES)
    said = rogue("run", suite, *more, expect=expect)
    assert "2 trial(s) computed" in said.stdout
    assert _left(numbers) == []


@pytest.mark.weekly
@pytest.mark.skipif(sys.platform != "linux", reason="the worker learns of its parent's end on Linux only")
def test_a_worker_does_not_survive_a_run_that_is_killed(rogue: Bench) -> None:
    suite = rogue.suite(BLOBS + '[[methods]]\nuse = "slopes"\nparameters = { seconds = 600.0 }\n')
    run = subprocess.Popen(
        [sys.executable, "-m", "bench_core.cli.main", "run", suite, "--timeout", "1h"],
        cwd=rogue.folder,
        env=rogue.environment(),
        stderr=subprocess.DEVNULL,
    )
    running = rogue.folder / ".bench-store" / "running"
    deadline = time.monotonic() + 60
    while not (running.is_dir() and any(f.stat().st_size for f in running.iterdir())):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers = psutil.Process(run.pid).children(recursive=True)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert psutil.wait_procs(workers, timeout=10)[1] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "more"), [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGTERM, ("--jobs", "2"))]
)
def test_ctrl_c_and_sigterm_stop_a_run_even_where_a_method_catches_everything(
    rogue: Bench, sent: signal.Signals, more: tuple[str, ...]
) -> None:
    catcher = (
        "from dataclasses import dataclass\nimport time\n"
        "from tiny_plugin import FirstFeature\nfrom bench_core import Method, hookimpl\nBENCH_CONTRACT_VERSION = 1\n"
        "@dataclass(frozen=True)\nclass Catcher(Method):\n    '''Catches everything.'''\n"
        "    def fit(self, problem):\n        try:\n            time.sleep(600)\n"
        "        except BaseException:\n            pass\n"
        "        return [FirstFeature(1.0, problem.n_features)]\n"
        "@hookimpl\ndef bench_register_methods(register): register('catcher', Catcher)\n"
    )
    install(rogue.plugins, "catcher", catcher, "catcher")
    suite = rogue.suite(BLOBS + SLOPES + '[[methods]]\nuse = "catcher"\n' + method("sys.exit"))
    # A new process ignores what its parent ignores, and pytest may have been started in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run = subprocess.Popen(
            [sys.executable, "-m", "bench_core.cli.main", "run", suite, "--isolation", "process", *more],
            cwd=rogue.folder,
            env=rogue.environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    while not any("catcher" in mark.read_text() for mark in rogue.folder.glob(".bench-store/running/*")):
        assert run.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    run.send_signal(sent)
    assert "stopped; what was done is kept" in run.communicate(timeout=60)[1]
    assert run.returncode == 130
    assert more or len(contents(rogue.folder / ".bench-store")) == 1
    assert not [*rogue.folder.glob(".bench-store/running/*")]  # the next run does not take the trial for crashed


TWO_NAMES = '[[datasets]]\nuse = "blobs"\nname = "A"\n[[datasets]]\nuse = "blobs"\nname = "B"\n'
TWO_PRICES = '[[datasets]]\nuse = "blobs"\ncosts = [{ use = "uniform" }, { use = "uniform", name = "again" }]\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("datasets", "headings"),
    [(TWO_NAMES, ["A", "B"]), (TWO_PRICES, ["blobs · uniform", "blobs · again"])],
    ids=["data sets", "costs"],
)
def test_one_trial_under_two_labels_is_shown_under_both(rogue: Bench, datasets: str, headings: list[str]) -> None:
    suite = rogue.suite(datasets + SLOPES + method("surrogate"))
    said = rogue("run", suite, expect=1)
    assert "2 trial(s) computed" in said.stdout
    page = rogue.page()
    sections = {section.partition("\n")[0]: section for section in page.split("\n## ")}
    rows = [
        next(line for line in sections[heading].splitlines() if line.startswith("| slopes ")) for heading in headings
    ]
    assert rows[0] == rows[1]
    assert sections["Failed trials"].count("| surrogate ") == 2
    rogue("leaderboard", suite, "--check", "--store", "nowhere")
