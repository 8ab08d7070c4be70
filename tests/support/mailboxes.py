"""Channels by which a hostile plugin could pass information from its solver to its witness, or to a later trial.

Each channel is a mailbox: ``put`` in the solver, ``get`` in the witness. `set_up` runs when the plugin is imported,
before it gets any data. Everything that it opens, patches or starts also exists in forks of that process.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.method import Method, Policy, Problem
from support.cheats_reach import Reacher, answered

__all__ = ["MAILBOXES", "THROUGH_TEMPLATE", "Carrying", "Remembering", "set_up"]

_STATE: dict[str, Any] = {"pipe": (), "memory": -1, "copied": {}, "seen": {}, "known": {}}
_FILE = "mailbox"


def set_up() -> None:
    """Patch the functions that restrict later forks, open shared files, and start a thread that copies files."""
    from bench_sandbox import child

    child._empty = lambda folder: None
    child._keep_one_file = lambda number: None
    child.threads = lambda: 1
    with suppress(OSError):
        _STATE["pipe"] = os.pipe2(os.O_NONBLOCK)
        _STATE["memory"] = os.memfd_create(_FILE)
    threading.Thread(target=_copy_files, args=(os.getcwd(),), daemon=True).start()
    os.register_at_fork(after_in_child=lambda: threading.Thread(target=_watch, daemon=True).start())


def _copy_files(folder: str) -> None:
    """Copy the files that any fork writes into the shared folder."""
    while True:
        with suppress(OSError):
            for path in Path(folder).iterdir():
                if path.name.startswith("copied"):
                    _STATE["copied"][path.name] = path.read_bytes()
        time.sleep(0.001)


def _watch() -> None:
    """Record the names of other processes' threads, and the locks on readable files."""
    until = time.monotonic() + 3
    while time.monotonic() < until:
        with suppress(OSError):
            for name in os.listdir("/proc"):
                if name.isdigit() and int(name) != os.getpid():
                    for task in os.listdir(f"/proc/{name}/task"):
                        text = Path(f"/proc/{name}/task/{task}/comm").read_text().strip()
                        if text.startswith("m:"):
                            _STATE["seen"][text[2:-1]] = float(text[-1])
        for place, path in enumerate(_lockable()):
            with suppress(OSError), open(path) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    _STATE["seen"][f"lock{place}"] = 1.0
        time.sleep(0.001)


def _lockable() -> list[Path]:
    return sorted(Path(np.__file__).parent.glob("*.py"))[:20]


class _File:
    """A file in some folder."""

    def __init__(self, folder: Callable[[], str], name: str = _FILE) -> None:
        self._folder, self._name = folder, name

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            os.makedirs(self._folder(), exist_ok=True)
            Path(self._folder(), self._name).write_bytes(message)

    def get(self) -> bytes | None:
        with suppress(OSError):
            return Path(self._folder(), self._name).read_bytes()
        return None


class _Copied(_File):
    """A file that is copied by a thread of the forking process."""

    def put(self, message: bytes) -> None:
        super().put(message)
        time.sleep(0.05)

    def get(self) -> bytes | None:
        return _STATE["copied"].get(self._name)


class _Pipe:
    def put(self, message: bytes) -> None:
        with suppress(OSError, IndexError):
            os.write(_STATE["pipe"][1], message)

    def get(self) -> bytes | None:
        with suppress(OSError, IndexError):
            return os.read(_STATE["pipe"][0], 2**16)
        return None


class _Memory:
    """An anonymous file in memory."""

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            os.pwrite(_STATE["memory"], message, 0)

    def get(self) -> bytes | None:
        with suppress(OSError):
            return os.pread(_STATE["memory"], 2**16, 0) or None
        return None


class _Environment:
    def put(self, message: bytes) -> None:
        os.environ[_FILE] = message.decode()

    def get(self) -> bytes | None:
        return os.environ[_FILE].encode() if _FILE in os.environ else None


class _ThreadNames:
    """One thread per message, which lives as long as its process."""

    def put(self, message: bytes) -> None:
        libc = ctypes.CDLL(None)

        def named(name: str) -> None:
            libc.prctl(15, name.encode(), 0, 0, 0)
            time.sleep(1.0)

        for key, value in list(json.loads(message).items())[:60]:
            threading.Thread(target=named, args=(f"m:{key}{int(value)}",), daemon=True).start()
        time.sleep(0.3)

    def get(self) -> bytes | None:
        return json.dumps({k: v for k, v in _STATE["seen"].items() if not k.startswith("lock")}).encode()


class _Locks:
    """Locks on world-readable files, one bit each."""

    held: list[Any]

    def put(self, message: bytes) -> None:
        self.held = []
        for key, value in json.loads(message).items():
            if value:
                with suppress(OSError, IndexError):
                    file = open(_lockable()[int(key) % 20])  # noqa: SIM115
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self.held.append(file)
        time.sleep(0.3)

    def get(self) -> bytes | None:
        return json.dumps({k[4:]: v for k, v in _STATE["seen"].items() if k.startswith("lock")}).encode()


class _SleepingChild:
    """A process in a new session that keeps running, with the message as an argument."""

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            code = "import time; time.sleep(60)"
            subprocess.Popen([sys.executable, "-c", code, _FILE, message.decode()], start_new_session=True)

    def get(self) -> bytes | None:
        for name in os.listdir("/proc"):
            with suppress(OSError):
                arguments = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0") if name.isdigit() else []
                if _FILE.encode() in arguments:
                    return arguments[arguments.index(_FILE.encode()) + 1]
        return None


class _SharedMemory:
    """POSIX shared memory, found by its name."""

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            Path("/dev/shm", _FILE).write_bytes(message)

    def get(self) -> bytes | None:
        with suppress(OSError):
            return Path("/dev/shm", _FILE).read_bytes()
        return None


class _AbstractSocket:
    """A datagram socket without a file."""

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            _STATE["socket"] = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            _STATE["socket"].bind("\0" + _FILE)

    def get(self) -> bytes | None:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
            client.connect("\0" + _FILE)
            return b"{}"
        return None


MAILBOXES: Mapping[str, Any] = {
    "patched-confinement": _File(os.getcwd),
    "copying-thread": _Copied(os.getcwd, "copied"),
    "pipe-opened-at-import": _Pipe(),
    "memfd-opened-at-import": _Memory(),
    "kernel-folder": _File(lambda: os.environ.get("NUMBA_CACHE_DIR", "")),
    "pycache": _File(lambda: str(Path(__file__).parent / "__pycache__"), "mailbox.cpython-311.pyc"),
    "environment": _Environment(),
    "thread-names": _ThreadNames(),
    "file-locks": _Locks(),
    "sleeping-child": _SleepingChild(),
    "shared-memory": _SharedMemory(),
    "abstract-socket": _AbstractSocket(),
}

THROUGH_TEMPLATE = frozenset(
    {"patched-confinement", "copying-thread", "pipe-opened-at-import", "memfd-opened-at-import"}
)
"""Channels that work if solver and witness are forked from a process that has run the plugin's code."""

_Way = Literal[
    "patched-confinement", "copying-thread", "pipe-opened-at-import", "memfd-opened-at-import", "kernel-folder",
    "pycache", "environment", "thread-names", "file-locks", "sleeping-child", "shared-memory", "abstract-socket",
]  # fmt: skip


def _known(way: str) -> dict[str, float]:
    with suppress(ValueError):
        return dict(json.loads(MAILBOXES[way].get() or b"{}"))
    return {}


@dataclass
class _Carries(Policy):
    """Peeks at an unpaid feature, and repeats its answers by the paid value of a row."""

    way: str
    features: int
    paid: int
    unpaid: int

    def decide(self, rows: Rows) -> Decisions:
        keys = [f"{crc % 997}" for crc in (np.abs(rows.X[:, self.paid] * 1e4).astype(int))]
        known = _STATE["known"] = {**_STATE["known"], **_known(self.way)}
        new = {key: float(v > 0) for key, v in zip(keys, rows.X[:, self.unpaid], strict=True) if key not in known}
        if new:
            known |= new
            MAILBOXES[self.way].put(json.dumps(known).encode())
        return answered(rows, self.features, [self.paid], [known.get(key, 0.0) for key in keys])


@dataclass(frozen=True)
class Carrying(Reacher):
    """Carries answers from the solver to the witness."""

    way: _Way = "patched-confinement"

    def fit(self, problem: Problem) -> list[Policy]:
        return [_Carries(self.way, problem.n_features, self.paid, self.unpaid)]


@dataclass
class _Recalls(Policy):
    """Answers from the labels that it remembers, and buys the features that identify rows."""

    features: int
    labels: dict[str, int] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        known = [self.labels.get(row.tobytes().hex()[:64], 0) for row in np.ascontiguousarray(rows.X)]
        return answered(rows, self.features, list(range(self.features)), known)


@dataclass(frozen=True)
class Remembering(Method):
    """Learns nothing, but keeps the labels of every training part that it gets."""

    way: _Way = "patched-confinement"

    def fit(self, problem: Problem) -> list[Policy]:
        known: dict[str, int] = {key: int(value) for key, value in _known(self.way).items()}
        for part in (problem.train, problem.validation):
            for row, label in zip(np.ascontiguousarray(part.X), part.y, strict=True):
                known[row.tobytes().hex()[:64]] = int(label)
        MAILBOXES[self.way].put(json.dumps(known).encode())
        return [_Recalls(problem.n_features, known)]
