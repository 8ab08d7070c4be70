"""A method's processes as the judge sees them: how they are started, asked and ended, and what it believes of them.

The judge takes numbers and short texts from them, nothing else: it never unpickles what they wrote.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.canonical import plain, writable
from bench_core.contract.costs import PRICE_ARRAYS
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Policy, Problem
from bench_core.plugins.shelf import Plugin
from bench_core.run.execute.bases import Base
from bench_core.run.execute.sandbox import shared_memory
from bench_core.run.execute.wire import EndedError, MalformedError, Packed, ask, pack, receive, send
from bench_core.run.failures import RemoteError, TrialStopped

__all__ = [
    "Nursery",
    "Party",
    "RemoteAsked",
    "RemotePolicy",
    "how_it_died",
    "made_up_problem",
    "packed_problem",
    "table_of",
]

_IMPORT_SECONDS, _ANSWER_SECONDS = 300.0, 20.0


class Nursery:
    """The process that has imported one plugin, and the fork of it that is at work."""

    def __init__(self, plugin: Plugin, base: Base, read: list[Path], write: list[Path]) -> None:
        self.plugin, self.rehearsed, self._base = plugin, set[tuple[Any, ...]](), base
        self.awaited: deque[Answer] = deque()
        self.heard, self.process = base.fork({"do": "nursery"})
        asked = {
            "plugin": [plugin.name, plugin.module],
            "read": list(map(str, read)),
            "write": list(map(str, write)),
            "environment": {"NUMBA_CACHE_DIR": str(write[0])},
        }
        refused = f"plugin {plugin.name!r} cannot be loaded in a process of its own"
        try:
            answer = self.ask(asked, _IMPORT_SECONDS)
        except TimeoutError:
            self.kill()
            raise TrialStopped("time", f"{refused}: it takes too long") from None
        except (EndedError, MalformedError):
            kind, how = how_it_died(self.kill(), None)
            raise TrialStopped(kind, f"{refused}: {how}") from None
        if "error" in answer:
            self.kill()
            raise ContractError(f"{refused}: {_error(answer['error'])}")

    def ask(self, header: dict[str, Any], seconds: float, fds: Iterable[int] = ()) -> dict[str, Any]:
        """Tell it something and hear its answer.

        Raises:
            EndedError, MalformedError, TimeoutError: it is gone, talks nonsense, or is silent.
        """
        return self.tell(header, fds).heard(seconds)

    def tell(self, header: dict[str, Any], fds: Iterable[int] = ()) -> Answer:
        """Tell it something; its answer is to be heard later. It does what it is told one after the other.

        Raises:
            EndedError, TimeoutError: it is gone, or does not listen.
        """
        if self.heard.fileno() < 0:  # it was killed
            raise EndedError
        self.heard.settimeout(_ANSWER_SECONDS)
        send(self.heard, header, fds=list(fds))
        answer = Answer(self)
        self.awaited.append(answer)
        return answer

    def kill(self) -> int | None:
        """End it; what it forked dies with it, or is found by who adopts orphans. Its exit code."""
        self.heard.close()
        return self._base.end(self.process)


class Answer:
    """What a nursery answers, in the order in which it was told."""

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery
        self._header: dict[str, Any] | None = None

    def heard(self, seconds: float) -> dict[str, Any]:
        """The answer.

        Raises:
            EndedError, MalformedError, TimeoutError: it is gone, talks nonsense, or is silent for so long.
        """
        while self._header is None:
            if self._nursery.heard.fileno() < 0:  # it was killed
                raise EndedError
            self._nursery.heard.settimeout(seconds)
            first = self._nursery.awaited[0]
            first._header = receive(self._nursery.heard, 0)[0]
            self._nursery.awaited.popleft()
        return self._header


class Party:
    """A fork of the nursery, at the other end of a socket.

    Attributes:
        asked: what the nursery was told: the method, the fork's folder and its limits.
        process: its number, when it is `ready`.
    """

    def __init__(self, nursery: Nursery, asked: dict[str, Any]) -> None:
        self.nursery, self.asked, self.ended, self.process = nursery, asked, False, 0
        self.heard, theirs = socket.socketpair()
        with theirs:
            self._forked = nursery.tell({"do": "fork", **asked}, [theirs.fileno()])

    def ready(self) -> None:
        """Wait until it is there.

        Raises:
            EndedError, MalformedError, TimeoutError: as `Nursery.ask`.
        """
        process = self._forked.heard(_ANSWER_SECONDS).get("process")
        if type(process) is not int or process < 2:
            raise MalformedError("it gave no process")
        self.process = process

    def check_memory(self) -> None:
        """Refuse memory that it has from the nursery and that other forks have, too.

        Raises:
            TrialStopped: there is some.
        """
        if shared_memory(self.process) != []:
            raise TrialStopped("error", f"plugin {self.nursery.plugin.name!r} makes memory that its processes share")

    def ask(
        self, header: dict[str, Any], deadline: float | None, most: int, fds: Iterable[int] = ()
    ) -> tuple[dict[str, Any], bytearray]:
        """Tell it something and hear its answer.

        Args:
            deadline: on the monotonic clock.
            most: bytes that the answer may have beside its header.

        Raises:
            RemoteError: what was asked raised an error there.
            EndedError, MalformedError, TimeoutError: as `Nursery.ask`.
        """
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        answer, body = ask(self.heard, header, left, fds, most)
        if "error" in answer:
            raise _error(answer["error"])
        return answer, body

    def end(self, *, wait: bool = False) -> Callable[[], int | None]:
        """Have it ended with what it started, or wait a moment for its own end; what waits for that: its exit code."""
        self.ended = True
        self.heard.close()
        process = self.process or self._forked.heard(_ANSWER_SECONDS).get("process")
        answer = self.nursery.tell({"do": "end", "process": process, "wait": wait})

        def code() -> int | None:
            code = answer.heard(_ANSWER_SECONDS).get("code")
            return code if type(code) is int else None

        return code

    def seconds(self) -> float:
        """Processor's seconds of it so far, all threads."""
        with suppress(OSError):  # clock_getcpuclockid(3)
            return time.clock_gettime(~self.process << 3 | 2) if sys.platform == "linux" else time.perf_counter()
        return 0.0


class RemotePolicy(Policy):
    """A policy in another process: what it said of itself, and how to ask it."""

    def __init__(self, number: int, description: dict[str, Any], ask: Callable[[int, Rows], Any]) -> None:
        self.number, self._ask = number, ask
        self.label, self.details = (
            writable(_text(description.get("label", ""))),
            plain(table_of(description.get("details", {}))),
        )
        budget = description.get("budget")
        self.budget = _Odd(budget) if isinstance(budget, list) else None if budget is None else float(budget)  # type: ignore[assignment]
        scope: Literal["row", "query"] = "query" if description.get("scope") == "query" else "row"
        self.decision_scope = scope

    def decide(self, rows: Rows) -> Decisions:
        decisions: Decisions = self._ask(self.number, rows)
        return decisions


class RemoteAsked(RemotePolicy):
    """A policy in another process that says what it wants next."""

    def __init__(
        self,
        number: int,
        description: dict[str, Any],
        ask: Callable[[int, Rows], Any],
        want: Callable[..., NDArray[np.bool_]],
    ) -> None:
        super().__init__(number, description, ask)
        self._want = want

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return self._want(self.number, rows, known)


class _Odd:
    """What was given as a budget and is none."""

    def __init__(self, texts: list[Any]) -> None:
        self._text = str(texts[0] if texts else "")[:200]

    def __repr__(self) -> str:
        return self._text


def packed_problem(problem: Problem) -> Packed:
    values = {
        "task": problem.task,
        "n_classes": problem.n_classes,
        "feature_names": problem.feature_names,
        "categorical": [int(feature) for feature in problem.categorical],
        "seed": problem.seed,
        "evaluation": float(problem.costs.evaluation),
    }
    arrays: dict[str, Any] = {"feature_of_column": problem.feature_of_column}
    for name, part in (("train", problem.train), ("validation", problem.validation)):
        arrays |= {f"{name}.{field}": getattr(part, field) for field in ("X", "y", "sizes", "query")}
    arrays |= {f"costs.{name}": getattr(problem.costs, name) for name in PRICE_ARRAYS}
    return pack(values, arrays)


def made_up_problem(problem: Problem, rows: int = 60) -> Problem:
    """A problem of the same kind that says nothing of the data: zeros and ones, labels in turn, prices of 1."""
    from dataclasses import replace

    count = np.arange(rows)
    y = (count % max(problem.n_classes, 2)).astype(problem.train.y.dtype)
    X = np.random.default_rng(0).integers(0, 2, (rows, problem.train.X.shape[1])).astype(np.float64)
    part = replace(
        problem.train,
        X=X,
        y=y,
        sizes=None if problem.train.sizes is None else np.ones(rows),
        query=None if problem.train.query is None else count // 10,
    )
    prices = replace(problem.costs, prices=np.ones_like(problem.costs.prices))
    return replace(problem, train=part, validation=part, costs=prices, seed=0)


def _error(value: Any) -> RemoteError:
    """An error that a process told of."""
    table = table_of(value)
    name = _text(table.get("type", "")).replace("\0", "")[:200] or "Error"
    kind: type[RemoteError] = type(writable(name), (RemoteError,), {})
    return kind(_text(table.get("message", "")), table.get("known") is True, _text(table.get("traceback", "")))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise MalformedError("it gave no text where one is needed")
    return value


def table_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedError("it gave no table where one is needed")
    return value


def how_it_died(code: int | None, memory: int | None) -> tuple[str, str]:
    """Kind and words for a dead process's exit code: it left by itself, or which signal ended it."""
    if code is None:
        return "killed", "its process is gone"
    if code >= 0:
        return "exit", f"its process died (exit code {code}): something in it called for the process to exit"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGKILL":
        return "killed", f"its process died ({name}): killed from outside, when the machine is out of memory, perhaps"
    limit = "" if memory is None else f"; memory was limited to {memory / 2**20:.0f} MiB"
    return "crash", f"its process died ({name}): it crashed{limit}"
