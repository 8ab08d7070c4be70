"""A plugin with faults that a run must survive. Importing it needs the tiny plugin."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tiny_plugin import Blobs, FirstFeature

from bench_core import Costs, CostScheme, DataContext, Dataset, DataSource, Family, Metric, Problem, hookimpl
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.method import Method


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class _ExitsWhileDeciding(FirstFeature):
    def decide(self, rows: Rows) -> Decisions:
        sys.exit("decided to leave")


BENCH_CONTRACT_VERSION = 1

SURROGATE = "a lone \udc80 surrogate"


@dataclass(frozen=True)
class Rogue(Method):
    """Misbehaves as its parameter says, then fits like an honest method."""

    how: str = "sys.exit"
    path: str = ""

    def fit(self, problem: Problem) -> Family:
        policy = FirstFeature(1.0, problem.n_features)
        history, diagnostics = {}, {}
        if self.how == "sys.exit":
            sys.exit(0)
        elif self.how == "generator exit":
            raise GeneratorExit
        elif self.how == "own interrupt":
            raise KeyboardInterrupt
        elif self.how == "unprintable":
            raise _Unprintable
        elif self.how == "surrogate":
            raise ValueError(SURROGATE)
        elif self.how == "exit while deciding":
            policy = _ExitsWhileDeciding(1.0, problem.n_features)
        elif self.how == "os._exit":
            os._exit(0)
        elif self.how == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif self.how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.how == "once" and not Path(self.path).exists():
            Path(self.path).touch()
            os._exit(0)
        elif self.how == "chdir":
            os.chdir("/")
        elif self.how == "removed directory":
            gone = tempfile.mkdtemp()
            os.chdir(gone)
            os.rmdir(gone)
        elif self.how == "surrogates kept":
            policy.label, policy.details = SURROGATE, {SURROGATE: SURROGATE}
            history, diagnostics = {SURROGATE: [1.0]}, {SURROGATE: SURROGATE}
        elif self.how == "huge number kept":
            diagnostics = {"huge": 10**5000}
        elif self.how in ("children", "children, then hangs", "children, then dies"):
            self._leave_children()
            if self.how.endswith("hangs"):
                signal.pause()
            if self.how.endswith("dies"):
                os.kill(os.getpid(), signal.SIGKILL)
        return Family([policy], history=history, diagnostics=diagnostics)

    def _leave_children(self) -> None:
        """Start a child, one in a new session, and an orphaned one; write their process ids to a file."""
        sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
        plain = subprocess.Popen(sleep)
        detached = subprocess.Popen(sleep, start_new_session=True)
        code = (
            "import subprocess, sys\n"
            f"print(subprocess.Popen({sleep!r}, stdout=subprocess.DEVNULL, "
            "stderr=subprocess.DEVNULL, start_new_session=True).pid)"
        )
        orphan = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        with open(self.path, "a", encoding="utf-8") as file:
            print(plain.pid, detached.pid, int(orphan.stdout), file=file)


@dataclass(frozen=True)
class ExitsOnLoading(DataSource):
    """Calls sys.exit when it is loaded."""

    def load(self, context: DataContext) -> Dataset:
        sys.exit("loading is over")


@dataclass(frozen=True)
class ExitsOnPricing(CostScheme):
    """Calls sys.exit when it computes prices."""

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        sys.exit("no price")


def _exits(outcome: object) -> float:
    sys.exit("no number")


@hookimpl
def bench_register_datasets(register):  # type: ignore[no-untyped-def]
    register("exits-on-loading", ExitsOnLoading)
    register("more-blobs", type("MoreBlobs", (Blobs,), {"__doc__": "Blobs again."}))


@hookimpl
def bench_register_cost_schemes(register):  # type: ignore[no-untyped-def]
    register("exits-on-pricing", ExitsOnPricing)


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    register("rogue", Rogue)


@hookimpl
def bench_register_metrics(register):  # type: ignore[no-untyped-def]
    register(Metric("exits", _exits, "min", "Exits", tasks=frozenset({"binary"})))
