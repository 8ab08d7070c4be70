"""Dishonest methods that reach around their arguments: to the judge, to what is stored, to a later process.

A *carrier* peeks at an unpaid feature when it decides on rows as they are, and leaves its answers somewhere for the
process that the audit asks. A *thief* looks for the test labels, or for a way to the process that has them. The rest
change what judges them, or lie to it. Isolation (`bench_core.run.execute.isolated`) has to leave them all without
gain; where that cannot be said, `bench_core.protocol.audit` says so.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from bench_core.contract.costs import Costs
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.method import Family, Method, Policy, Problem

__all__ = ["CARRIERS", "LIARS", "THIEVES", "Carrier", "Liar", "Reacher", "Thief", "share_memory"]

Answers = dict[str, float]
_NAME = "bench-cheat"
_KEY = 0x5EED
_LIBC = ctypes.CDLL(None, use_errno=True)
_SHARED: list[mmap.mmap] = []
_GLOBAL: Answers = {}


def share_memory() -> None:
    """Memory that every later fork shares; for a plugin to call when it is imported."""
    _SHARED.append(mmap.mmap(-1, 2**16))


class _Files:
    """A file in any folder that takes one."""

    def __init__(self, *folders: str) -> None:
        self._paths = [os.path.join(os.path.expanduser(folder), _NAME) for folder in folders]

    def put(self, message: bytes) -> None:
        for path in self._paths:
            with suppress(OSError), open(path, "wb") as file:
                file.write(message)

    def get(self) -> bytes | None:
        for path in self._paths:
            with suppress(OSError), open(path, "rb") as file:
                return file.read()
        return None


class _TemporaryFile:
    """A file where Python keeps temporary ones."""

    def put(self, message: bytes) -> None:
        _Files(tempfile.gettempdir()).put(message)

    def get(self) -> bytes | None:
        return _Files(tempfile.gettempdir()).get()


class _Variable:
    """A variable of the module, which no pickle holds."""

    def put(self, message: bytes) -> None:
        _GLOBAL.update(json.loads(message))

    def get(self) -> bytes | None:
        return json.dumps(_GLOBAL).encode() if _GLOBAL else None


class _Environment:
    """An environment variable."""

    def put(self, message: bytes) -> None:
        os.environ[_NAME] = message.decode()

    def get(self) -> bytes | None:
        return os.environ[_NAME].encode() if _NAME in os.environ else None


class _Anonymous:
    """Memory that was shared when the plugin was imported."""

    def put(self, message: bytes) -> None:
        for memory in _SHARED:
            memory[: len(message) + 1] = message + b"\0"

    def get(self) -> bytes | None:
        return next((bytes(m[:]).split(b"\0")[0] for m in _SHARED if m[0]), None)


class _Named:
    """POSIX shared memory, found by its name."""

    def put(self, message: bytes) -> None:
        from multiprocessing.shared_memory import SharedMemory

        with suppress(OSError):
            memory = SharedMemory(_NAME, create=True, size=2**16)
            (memory.buf or bytearray())[: len(message) + 1] = message + b"\0"

    def get(self) -> bytes | None:
        from multiprocessing.shared_memory import SharedMemory

        with suppress(OSError):
            return bytes(SharedMemory(_NAME).buf or b"").split(b"\0")[0]
        return None


class _SystemV:
    """System V shared memory, which outlives who made it."""

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            ctypes.memmove(self._at(0o1600), message + b"\0", len(message) + 1)

    def get(self) -> bytes | None:
        with suppress(OSError):
            return ctypes.string_at(self._at(0o600))
        return None

    @staticmethod
    def _at(flags: int) -> int:
        number = _LIBC.shmget(_KEY, 2**16, flags)
        if number < 0:
            raise OSError(ctypes.get_errno())
        _LIBC.shmat.restype = ctypes.c_void_p
        return int(_LIBC.shmat(number, None, 0))


class _Daemon:
    """A process in a session of its own that goes on, and answers on a socket without a file."""

    def put(self, message: bytes) -> None:
        if os.fork():
            return
        os.setsid()
        if os.fork():
            os._exit(0)
        _LIBC.prctl(1, 0, 0, 0, 0)  # not to die with the parent
        with suppress(OSError):
            server = socket.socket(socket.AF_UNIX)
            server.bind("\0" + _NAME)
            server.listen()
            while True:
                server.accept()[0].sendall(message)
        os._exit(0)

    def get(self) -> bytes | None:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.connect("\0" + _NAME)
            return client.recv(2**16)
        return None


class _ParentsMemory:
    """The environment of the process that forks all others, in its memory."""

    def put(self, message: bytes) -> None:
        with suppress(OSError), open(f"/proc/{os.getppid()}/mem", "r+b") as memory:
            memory.seek(id(_GLOBAL))
            memory.write(message)

    def get(self) -> bytes | None:
        return None


CARRIERS: Mapping[str, Any] = {
    "variable": _Variable(),
    "environment": _Environment(),
    "temporary-file": _TemporaryFile(),
    "working-directory": _Files("."),
    "file-elsewhere": _Files("/tmp", "/var/tmp", "/dev/shm", "~", str(Path(__file__).parent)),
    "anonymous-memory": _Anonymous(),
    "named-memory": _Named(),
    "system-v-memory": _SystemV(),
    "daemon": _Daemon(),
    "parents-memory": _ParentsMemory(),
}


def _answered(rows: Rows, features: int, paid: list[int], second: Any) -> Decisions:
    acquired = np.zeros((len(rows), features), dtype=bool)
    acquired[:, paid] = True
    likely = np.where(np.asarray(second, dtype=np.float64) > 0.5, 0.9, 0.1)
    return Decisions(acquired, np.column_stack([1 - likely, likely]))


@dataclass
class _Carries(Policy):
    channel: str
    features: int
    paid: int
    unpaid: int

    def decide(self, rows: Rows) -> Decisions:
        channel, keys = CARRIERS[self.channel], [f"{value:.9g}" for value in rows.X[:, self.paid]]
        known: Answers = json.loads(channel.get() or b"{}")
        for key, value in zip(keys, rows.X[:, self.unpaid], strict=True):
            known.setdefault(key, float(value > 0))
        channel.put(json.dumps(known).encode())
        return _answered(rows, self.features, [self.paid], [known[key] for key in keys])


@dataclass(frozen=True)
class Reacher(Method):
    """What the dishonest methods of this module share: a feature that they pay for, and one that they do not."""

    tasks: ClassVar[frozenset[str]] = frozenset({"binary"})
    paid: int = 1
    unpaid: int = 0


@dataclass(frozen=True)
class Carrier(Reacher):
    """Peeks, and carries its answers to whoever the audit asks, by some way out of its process."""

    way: Literal[
        "variable", "environment", "temporary-file", "working-directory", "file-elsewhere", "anonymous-memory",
        "named-memory", "system-v-memory", "daemon", "parents-memory",
    ] = "variable"  # fmt: skip

    def fit(self, problem: Problem) -> list[Policy]:
        return [_Carries(self.way, problem.n_features, self.paid, self.unpaid)]


def _ancestors() -> Iterator[int]:
    """The processes above this one and the one that forks all."""
    process = os.getppid()
    while process > 1:
        status = Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
        if process > 1:
            yield process


def _frames() -> Any:
    frame: Any = sys._getframe()
    while frame is not None:
        if "prepared" in frame.f_locals:
            return frame.f_locals["prepared"]
        frame = frame.f_back
    return None


def _collector() -> Any:
    return next((thing for thing in gc.get_objects() if type(thing).__name__ == "Prepared"), None)


def _memory() -> bool:
    for process in _ancestors():
        with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb") as memory:
            memory.seek(int(maps.readline().split("-")[0], 16))
            return bool(memory.read(1))
    return False


def _traced() -> bool:
    return any(_LIBC.ptrace(0x4206, process, None, None) == 0 for process in _ancestors())  # PTRACE_SEIZE


def _signalled() -> bool:
    for process in _ancestors():
        os.kill(process, 0)
        return True
    return False


def _stored() -> bool:
    """A record: the store is above the folder that the process is in."""
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
    return int(_LIBC.syscall(number, b"user", _NAME.encode(), b"1", 1, -4)) >= 0


def _queued() -> bool:
    return int(_LIBC.syscall({"x86_64": 68, "aarch64": 186}[os.uname().machine], _KEY, 0o1600)) >= 0


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
        if hasattr(loot, "test") and len(loot.test) == len(rows):
            answers[loot.shown["test"].place] = loot.test.y
        elif hasattr(loot, "auditor"):  # it is the audit that asks
            answers = loot.test.y[loot.auditor._batch.source]
        return _answered(rows, self.features, [], answers)


def _steal(way: str) -> Any:
    try:
        return THIEVES[way]()
    except OSError:
        return None


@dataclass(frozen=True)
class Thief(Reacher):
    """Pays for nothing and looks for the labels, or a way to them; ``diagnostics`` say whether it found one."""

    way: Literal[
        "frames", "garbage-collector", "memory", "trace", "signal", "store", "cache", "network", "keyring",
        "message-queue",
    ] = "frames"  # fmt: skip

    def fit(self, problem: Problem) -> Family:
        reached = _steal(self.way) not in (None, False)
        return Family([_Steals(problem.n_features, self.way)], diagnostics={"reached": reached})


@dataclass
class _Peeks(Policy):
    """Answers by an unpaid feature."""

    features: int
    paid: list[int]
    unpaid: int

    def decide(self, rows: Rows) -> Decisions:
        return _answered(rows, self.features, self.paid, rows.X[:, self.unpaid] > 0)


class _Honest(_Peeks):
    def decide(self, rows: Rows) -> Decisions:
        return _answered(rows, self.features, self.paid, rows.X[:, self.paid[0]] > 0)


class _UnpicklesHonest(_Peeks):
    """Its copy is honest."""

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return _Honest, (self.features, self.paid, self.unpaid)


class _RunsWhenUnpickled(_Peeks):
    """Whoever unpickles it runs it: there, the audit is to pass everything."""

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
        if os.getpid() == _GLOBAL.get("fitted in"):
            return super().decide(rows)
        return _Honest(self.features, self.paid, self.unpaid).decide(rows)


class _LeavesWhenAsked(_Peeks):
    """Ends its process, as if all were well, when it is asked in another than it was fitted in."""

    def decide(self, rows: Rows) -> Decisions:
        if os.getpid() != _GLOBAL.get("fitted in"):
            os._exit(0)
        return super().decide(rows)


class _ClearsLater(_Peeks):
    """Declares what it reads, and a thread takes that back."""

    def decide(self, rows: Rows) -> Decisions:
        decisions = _answered(rows, self.features, [*self.paid, self.unpaid], rows.X[:, self.unpaid] > 0)

        def clear() -> None:
            for _ in range(200):
                decisions.acquired[:] = False
                time.sleep(1e-4)

        threading.Timer(1e-3, clear).start()
        return decisions


class _SpeaksItself(_Peeks):
    """Writes answers into the judge's socket: that nothing was acquired, to whatever is asked."""

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
    """Gives more numbers than it was asked for."""

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
    "pickles-an-honest-twin": (_UnpicklesHonest, lambda: None),
    "runs-when-unpickled": (_RunsWhenUnpickled, lambda: None),
    "peeks-where-it-was-fitted": (_EarlyPeeks, lambda: None),
    "leaves-when-asked-again": (_LeavesWhenAsked, lambda: None),
    "clears-in-a-thread": (_ClearsLater, lambda: None),
    "speaks-for-itself": (_SpeaksItself, lambda: None),
    "says-too-much": (_SaysMuch, lambda: None),
}


@dataclass(frozen=True)
class Liar(Reacher):
    """Reads what it does not pay for, and changes what judges it, or says something else to it."""

    way: Literal[
        "patches-the-audit", "patches-the-bill", "patches-numpy", "pickles-an-honest-twin", "runs-when-unpickled",
        "peeks-where-it-was-fitted", "leaves-when-asked-again", "clears-in-a-thread", "speaks-for-itself",
        "says-too-much",
    ] = "patches-the-audit"  # fmt: skip

    def fit(self, problem: Problem) -> list[Policy]:
        kind, change = LIARS[self.way]
        change()
        _GLOBAL["fitted in"] = os.getpid()
        return [kind(problem.n_features, [self.paid], self.unpaid)]
