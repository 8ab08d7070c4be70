"""``bench recommend`` keeps its time limit whatever a method does, and stops cleanly on an interrupt."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from bench_recommend import recommend

from bench_core.suites import load_registry

ENDLESS = '''
import time
from dataclasses import dataclass
import numpy as np
from bench_core import Decisions, Method, Policy, hookimpl

BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class Endless(Method):
    """Never ends, whatever is raised in it."""

    def fit(self, problem):
        while True:
            try:
                while True:
                    time.sleep(0.01)
            except BaseException:
                pass


class Free(Policy):
    """The first feature's sign."""

    def decide(self, rows):
        acquired = np.zeros(rows.X.shape, dtype=bool)
        acquired[:, 0] = True
        second = np.where(rows.X[:, 0] > 0, 0.9, 0.1)
        return Decisions(acquired, probabilities=np.column_stack([1 - second, second]))


@dataclass(frozen=True)
class Simple(Method):
    """Learns nothing."""

    def fit(self, problem):
        return [Free()]


@hookimpl
def bench_register_methods(register):
    register("endless", Endless)
    register("simple", Simple)


@hookimpl(optionalhook=True)
def bench_policy_types():
    return [Free]
'''


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=["free", "dear", "dearer"])
    table["y"] = np.where(table.free + table.dear > 0, "yes", "no")
    return table


def restricted() -> list[int]:
    """Return the process ids of the running sandboxes that descend from this process."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if child.name() == "sandbox" and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child.pid)
        except psutil.Error:
            continue
    return found


@pytest.mark.slow
def test_a_method_that_never_ends_is_stopped_and_the_others_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "endless_plugin.py").write_text(ENDLESS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    registry = load_registry([("endless", importlib.import_module("endless_plugin"))])
    monkeypatch.setattr("bench_recommend.recommending.load_registry", lambda: registry)
    started = time.monotonic()
    found = recommend(frame(), [0.0, 2.0, 3.0], target="y", methods=("simple", "endless"), splits=1, seconds=40.0)
    assert time.monotonic() - started < 300  # it would be hours
    table = found.table.set_index("method")
    assert table.status["endless"] == "left out"
    assert "longer than" in table.why["endless"]
    assert found.best == "simple"
    assert restricted() == []


@pytest.mark.slow
def test_an_interrupt_ends_every_process_and_writes_nothing(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    info = plugins / "endless-1.0.dist-info"
    info.mkdir(parents=True)
    (plugins / "endless_plugin.py").write_text(ENDLESS, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: endless\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[budgetbench]\nendless = endless_plugin\n")
    frame().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "p.toml").write_text("prices = [0, 2, 3]\n")
    command = ["recommend", "t.csv", "--target", "y", "--prices", "p.toml", "--time", "2h"]
    running = subprocess.Popen(
        [sys.executable, "-m", "bench_core.cli.main", *command, "--method", "endless"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(plugins), "BUDGETBENCH_ISOLATION": "process"},
        stderr=subprocess.PIPE,
        text=True,
        # A process started in the background may ignore SIGINT, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until = time.monotonic() + 300
    while not restricted() and running.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=300)
    assert running.returncode == 130, said
    assert "Traceback" not in said
    assert "nothing was written" in said
    assert not (tmp_path / "recommendation").exists()
    until = time.monotonic() + 60
    while restricted() and time.monotonic() < until:
        time.sleep(0.05)
    assert restricted() == []
