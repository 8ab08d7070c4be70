"""Dishonest methods that manipulate the judge, or give it false answers."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bench_core.contract.costs import Costs
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.method import Policy, Problem
from support.cheats_reach import Reacher, answered

__all__ = ["LIARS", "Liar"]

_FITTED: dict[str, int] = {}
"""``in``: the process in which a liar was fitted."""


@dataclass
class _Peeks(Policy):
    """Answers by an unpaid feature."""

    features: int
    paid: list[int]
    unpaid: int

    def decide(self, rows: Rows) -> Decisions:
        return answered(rows, self.features, self.paid, rows.X[:, self.unpaid] > 0)


class _Honest(_Peeks):
    def decide(self, rows: Rows) -> Decisions:
        return answered(rows, self.features, self.paid, rows.X[:, self.paid[0]] > 0)


class _UnpicklesHonest(_Peeks):
    """Its copy is honest."""

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return _Honest, (self.features, self.paid, self.unpaid)


class _RunsWhenUnpickled(_Peeks):
    """Unpickling it runs code, which makes the audit pass everything in that process."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _disarm, (self.features, self.paid, self.unpaid)


def _disarm(*args: Any) -> Policy:
    _patch_audit()
    return _Peeks(*args)


class _EarlyPeeks(_Peeks):
    """Peeks for a second."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.since = time.time()

    def decide(self, rows: Rows) -> Decisions:
        if os.getpid() == _FITTED.get("in"):
            return super().decide(rows)
        return _Honest(self.features, self.paid, self.unpaid).decide(rows)


class _LeavesWhenAsked(_Peeks):
    """Exits with code 0 when it is asked in another process than the one that fitted it."""

    def decide(self, rows: Rows) -> Decisions:
        if os.getpid() != _FITTED.get("in"):
            os._exit(0)
        return super().decide(rows)


class _ClearsLater(_Peeks):
    """Declares the features it reads, and a thread clears the declaration."""

    def decide(self, rows: Rows) -> Decisions:
        decisions = answered(rows, self.features, [*self.paid, self.unpaid], rows.X[:, self.unpaid] > 0)

        def clear() -> None:
            for _ in range(200):
                decisions.acquired[:] = False
                time.sleep(1e-4)

        threading.Timer(1e-3, clear).start()
        return decisions


class _SpeaksItself(_Peeks):
    """Writes answers to the judge's socket itself: to every question, that nothing was acquired."""

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), self.features), dtype=bool)
        likely = np.tile([0.1, 0.9], (len(rows), 1))
        arrays = {"acquired": acquired, "probabilities": likely}
        header = json.dumps({"arrays": {name: [a.dtype.str, list(a.shape)] for name, a in arrays.items()}}).encode()
        body = acquired.tobytes() + likely.tobytes()
        frame = struct.pack("!IQ", len(header), len(body)) + header + body
        for number in range(3, 64):
            with suppress(OSError), socket.socket(fileno=os.dup(number)) as judge:
                for _ in range(20):
                    judge.sendall(frame)
        return super().decide(rows)


class _SaysMuch(_Peeks):
    """Returns more numbers than requested."""

    def decide(self, rows: Rows) -> Decisions:
        decisions = super().decide(rows)
        return Decisions(decisions.acquired, decisions.probabilities, score=np.zeros(2**22))


def _patch_audit() -> None:
    from bench_core.protocol.audit import Auditor

    Auditor.check = lambda self, *args, **more: None  # type: ignore[method-assign]


def _patch_bill() -> None:
    Costs.bill = lambda self, acquired, sizes=None: np.zeros(len(acquired))  # type: ignore[method-assign]


def _patch_numpy() -> None:
    np.array_equal = lambda *args, **more: True


LIARS: Mapping[str, tuple[type[_Peeks], Callable[[], None]]] = {
    "patches-the-audit": (_Peeks, _patch_audit),
    "patches-the-bill": (_Peeks, _patch_bill),
    "patches-numpy": (_Peeks, _patch_numpy),
    "pickles-an-honest-copy": (_UnpicklesHonest, lambda: None),
    "runs-when-unpickled": (_RunsWhenUnpickled, lambda: None),
    "peeks-where-it-was-fitted": (_EarlyPeeks, lambda: None),
    "leaves-when-asked-again": (_LeavesWhenAsked, lambda: None),
    "clears-in-a-thread": (_ClearsLater, lambda: None),
    "speaks-for-itself": (_SpeaksItself, lambda: None),
    "says-too-much": (_SaysMuch, lambda: None),
}


@dataclass(frozen=True)
class Liar(Reacher):
    """Reads unpaid features, and manipulates the judge or gives it false answers."""

    way: Literal[
        "patches-the-audit", "patches-the-bill", "patches-numpy", "pickles-an-honest-copy", "runs-when-unpickled",
        "peeks-where-it-was-fitted", "leaves-when-asked-again", "clears-in-a-thread", "speaks-for-itself",
        "says-too-much",
    ] = "patches-the-audit"  # fmt: skip

    def fit(self, problem: Problem) -> list[Policy]:
        kind, change = LIARS[self.way]
        change()
        _FITTED["in"] = os.getpid()
        return [kind(problem.n_features, [self.paid], self.unpaid)]
