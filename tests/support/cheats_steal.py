"""Dishonest methods that buy nothing and look for the test labels, or for a way to the process that has them."""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.method import Family, Policy, Problem
from support.cheats_reach import KEY, LIBC, NAME, Reacher, answered

__all__ = ["THIEVES", "Thief"]


def _ancestors() -> Iterator[int]:
    """The ancestors of this process, and the server process."""
    process = os.getppid()
    while process > 1:
        status = Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
        if process > 1:
            yield process


def _frames(name: str = "prepared") -> Any:
    frame: Any = sys._getframe()
    while frame is not None:
        if name in frame.f_locals:
            return frame.f_locals[name]
        frame = frame.f_back
    return None


def _collector() -> Any:
    return next((thing for thing in gc.get_objects() if type(thing).__name__ == "Prepared"), None)


def _audited(way: str, rows: int) -> Any:
    """The audit's batch of this call."""
    if way == "frames":
        return _frames("batch")
    return next(one for one in gc.get_objects() if type(one).__name__ == "_Batch" and len(one.source) == rows)


def _memory() -> bool:
    for process in _ancestors():
        with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb") as memory:
            memory.seek(int(maps.readline().split("-")[0], 16))
            return bool(memory.read(1))
    return False


def _traced() -> bool:
    return any(LIBC.ptrace(0x4206, process, None, None) == 0 for process in _ancestors())  # PTRACE_SEIZE


def _signalled() -> bool:
    for process in _ancestors():
        os.kill(process, 0)
        return True
    return False


def _stored() -> bool:
    """A record of the store, which is above the process's working directory."""
    return any(path.read_bytes() for folder in Path.cwd().parents[:4] for path in folder.glob("??/*.json"))


def _cached() -> bool:
    """A file of downloaded data."""
    folder = Path(os.environ.get("BUDGETBENCH_CACHE", "~/.cache/budgetbench")).expanduser()
    return any(path.read_bytes() for path in folder.rglob("*.csv"))


def _connected() -> bool:
    with socket.socket():
        return True


def _ringed() -> bool:
    number = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    return int(LIBC.syscall(number, b"user", NAME.encode(), b"1", 1, -4)) >= 0


def _queued() -> bool:
    return int(LIBC.syscall({"x86_64": 68, "aarch64": 186}[os.uname().machine], KEY, 0o1600)) >= 0


THIEVES: Mapping[str, Callable[[], Any]] = {
    "frames": _frames,
    "garbage-collector": _collector,
    "memory": _memory,
    "trace": _traced,
    "signal": _signalled,
    "store": _stored,
    "cache": _cached,
    "network": _connected,
    "keyring": _ringed,
    "message-queue": _queued,
}


@dataclass
class _Steals(Policy):
    features: int
    way: str

    def decide(self, rows: Rows) -> Decisions:
        loot = _steal(self.way)
        answers = np.zeros(len(rows))
        for part, given in _parts(loot):
            shown = loot.shown[part]
            if np.array_equal(rows.X, shown.rows.X):
                answers[shown.place] = given.y
            elif len(given) != len(rows):  # the audit is asking
                batch = _audited(self.way, len(rows))
                if np.array_equal(batch.X, given.X[batch.source]):
                    answers = given.y[batch.source]
        return answered(rows, self.features, [], answers)


def _parts(loot: Any) -> list[tuple[str, Any]]:
    """The parts that policies decide on, with their labels, if they were found."""
    return [("validation", loot.problem.validation), ("test", loot.test)] if hasattr(loot, "test") else []


def _steal(way: str) -> Any:
    try:
        return THIEVES[way]()
    except OSError:
        return None


@dataclass(frozen=True)
class Thief(Reacher):
    """Buys nothing and looks for the labels, or a way to them; ``diagnostics`` say whether it found one."""

    way: Literal[
        "frames", "garbage-collector", "memory", "trace", "signal", "store", "cache", "network", "keyring",
        "message-queue",
    ] = "frames"  # fmt: skip

    def fit(self, problem: Problem) -> Family:
        reached = _steal(self.way) not in (None, False)
        return Family([_Steals(problem.n_features, self.way)], diagnostics={"reached": reached})
