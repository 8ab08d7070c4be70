"""Dishonest methods that use more than their arguments: a later process, the judge, stored files.

A *carrier* (here) peeks at an unpaid feature when it decides on the true rows, and leaves its answers somewhere for the
process that answers the audit. A *thief* (`support.cheats_steal`) looks for the test labels, or for a way to the
process that has them. A *liar* (`support.cheats_lie`) manipulates the judge, or gives it false answers. With isolation
(`bench_core.run.execute.isolated`) none of them may gain; `bench_core.protocol.audit` lists the exceptions.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal
from zlib import crc32

import numpy as np

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.method import Method, Policy, Problem

__all__ = ["CARRIERS", "KEY", "LIBC", "NAME", "Carrier", "Reacher", "answered"]

Answers = dict[str, float]
NAME = "bench-cheat"
KEY = 0x5EED
LIBC = ctypes.CDLL(None, use_errno=True)
_GLOBAL: Answers = {}


class _Files:
    """A file in any writable folder."""

    def __init__(self, *folders: str) -> None:
        self._paths = [os.path.join(os.path.expanduser(folder), NAME) for folder in folders]

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
    """A variable of the module, which is not pickled."""

    def put(self, message: bytes) -> None:
        _GLOBAL.update(json.loads(message))

    def get(self) -> bytes | None:
        return json.dumps(_GLOBAL).encode() if _GLOBAL else None


class _Environment:
    """An environment variable."""

    def put(self, message: bytes) -> None:
        os.environ[NAME] = message.decode()

    def get(self) -> bytes | None:
        return os.environ[NAME].encode() if NAME in os.environ else None


class _Named:
    """POSIX shared memory, found by its name."""

    def put(self, message: bytes) -> None:
        from multiprocessing.shared_memory import SharedMemory

        with suppress(OSError):
            memory = SharedMemory(NAME, create=True, size=2**16)
            (memory.buf or bytearray())[: len(message) + 1] = message + b"\0"

    def get(self) -> bytes | None:
        from multiprocessing.shared_memory import SharedMemory

        with suppress(OSError):
            return bytes(SharedMemory(NAME).buf or b"").split(b"\0")[0]
        return None


class _SystemV:
    """System V shared memory, which outlives its creator."""

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            ctypes.memmove(self._at(0o1600), message + b"\0", len(message) + 1)

    def get(self) -> bytes | None:
        with suppress(OSError):
            return ctypes.string_at(self._at(0o600))
        return None

    @staticmethod
    def _at(flags: int) -> int:
        number = LIBC.shmget(KEY, 2**16, flags)
        if number < 0:
            raise OSError(ctypes.get_errno())
        LIBC.shmat.restype = ctypes.c_void_p
        return int(LIBC.shmat(number, None, 0))


class _Daemon:
    """A process in a new session that keeps running, and answers on a socket without a file."""

    def put(self, message: bytes) -> None:
        if os.fork():
            return
        os.setsid()
        if os.fork():
            os._exit(0)
        LIBC.prctl(1, 0, 0, 0, 0)  # do not die with the parent
        with suppress(OSError):
            server = socket.socket(socket.AF_UNIX)
            server.bind("\0" + NAME)
            server.listen()
            while True:
                server.accept()[0].sendall(message)
        os._exit(0)

    def get(self) -> bytes | None:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.connect("\0" + NAME)
            return client.recv(2**16)
        return None


class _ParentsMemory:
    """The environment variables of the server process, in its memory."""

    def put(self, message: bytes) -> None:
        with suppress(OSError), open(f"/proc/{os.getppid()}/mem", "r+b") as memory:
            memory.seek(id(_GLOBAL))
            memory.write(message)

    def get(self) -> bytes | None:
        return None


class _Numbers:
    """Answers as bits of 60-bit numbers, for places that store numbers.

    Attributes:
        places: how many answers can be stored; rows with the same place get the same answer.
    """

    places = 240

    @property
    def _count(self) -> int:
        """The number of 60-bit numbers: two bits per answer, whether there is one and which."""
        return self.places // 30

    def put(self, message: bytes) -> None:
        known: dict[str, float] = json.loads(message)
        whole = sum(1 << 2 * int(place) | int(bool(value)) << 2 * int(place) + 1 for place, value in known.items())
        for at in range(self._count):
            with suppress(OSError, ValueError):
                self.write(at, whole >> 60 * at & 2**60 - 1)

    def get(self) -> bytes | None:
        whole = 0
        for at in range(self._count):
            with suppress(OSError, ValueError):
                whole |= self.read(at) << 60 * at
        bits = {str(place): whole >> 2 * place for place in range(self.places)}
        return json.dumps({place: value >> 1 & 1 for place, value in bits.items() if value & 1}).encode()

    def write(self, at: int, number: int) -> None:
        raise NotImplementedError

    def read(self, at: int) -> int:
        raise NotImplementedError


class _FileTimes(_Numbers):
    """Change and access times of readable files: the owner may set them even for files that it cannot write."""

    @cached_property
    def _paths(self) -> list[Path]:
        return sorted((Path(__file__).parent / "templates").rglob("*.*"))

    def write(self, at: int, number: int) -> None:
        path = self._paths[at // 2]
        state = path.stat()
        times = [state.st_atime_ns, state.st_mtime_ns]
        times[at % 2] = number
        os.utime(path, ns=(times[0], times[1]))

    def read(self, at: int) -> int:
        state = self._paths[at // 2].stat()
        time = (state.st_atime_ns, state.st_mtime_ns)[at % 2]
        return time if time < 2**60 else 0  # a date before 2007


class _ParentsLimits(_Numbers):
    """Limits of the server process and its forks; later forks inherit them."""

    places = 120

    def _limit(self, at: int) -> int:
        return (resource.RLIMIT_RSS, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_DATA)[at]

    def write(self, at: int, number: int) -> None:
        hard = resource.getrlimit(self._limit(at))[1]
        for process in (os.getppid(), *range(os.getpid(), os.getpid() + 9)):
            with suppress(OSError):
                resource.prlimit(process, self._limit(at), (number | 1 << 60, hard))

    def read(self, at: int) -> int:
        soft = resource.getrlimit(self._limit(at))[0]
        return soft ^ 1 << 60 if soft >> 60 == 1 else 0


class _FileAttribute:
    """An extended attribute of a readable file; many file systems store up to 4 KB."""

    places = 240

    def put(self, message: bytes) -> None:
        with suppress(OSError):
            os.setxattr(__file__, f"user.{NAME}", message)

    def get(self) -> bytes | None:
        with suppress(OSError):
            return os.getxattr(__file__, f"user.{NAME}")
        return None


class _FileFlags:
    """The flag "no dump" of readable files, one bit each."""

    places = 240

    @cached_property
    def _paths(self) -> list[Path]:
        return sorted(Path(np.__file__).parent.rglob("*.py*"))[: 2 * self.places]

    def put(self, message: bytes) -> None:
        for place, value in json.loads(message).items():
            self._mark(2 * int(place), True)
            self._mark(2 * int(place) + 1, bool(value))

    def get(self) -> bytes | None:
        bits = [self._mark(at, None) for at in range(2 * self.places)]
        return json.dumps(
            {str(place): int(bits[2 * place + 1]) for place in range(self.places) if bits[2 * place]}
        ).encode()

    def _mark(self, at: int, wanted: bool | None) -> bool:
        """Set the flag if requested; return whether it is set."""
        with suppress(OSError), open(self._paths[at], "rb") as file:
            flags = bytearray(4)
            fcntl.ioctl(file, 0x80086601, flags)
            if wanted is not None:
                fcntl.ioctl(file, 0x40086602, struct.pack("I", int.from_bytes(flags, "little") & ~64 | 64 * wanted))
            return bool(flags[0] & 64)
        return False


CARRIERS: Mapping[str, Any] = {
    "variable": _Variable(),
    "environment": _Environment(),
    "temporary-file": _TemporaryFile(),
    "working-directory": _Files("."),
    "file-elsewhere": _Files("/tmp", "/var/tmp", "/dev/shm", "~", str(Path(__file__).parent)),
    "named-memory": _Named(),
    "system-v-memory": _SystemV(),
    "daemon": _Daemon(),
    "parents-memory": _ParentsMemory(),
    "parents-limits": _ParentsLimits(),
    "file-times": _FileTimes(),
    "file-attribute": _FileAttribute(),
    "file-flags": _FileFlags(),
}


def answered(rows: Rows, features: int, paid: list[int], second: Any) -> Decisions:
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
        if hasattr(channel, "places"):
            keys = [str(crc32(key.encode()) % channel.places) for key in keys]
        known: Answers = json.loads(channel.get() or b"{}")
        for key, value in zip(keys, rows.X[:, self.unpaid], strict=True):
            known.setdefault(key, float(value > 0))
        channel.put(json.dumps(known).encode())
        return answered(rows, self.features, [self.paid], [known[key] for key in keys])


@dataclass(frozen=True)
class Reacher(Method):
    """Base class of carriers, thieves and liars: one feature is paid, one is not."""

    tasks: ClassVar[frozenset[str]] = frozenset({"binary"})
    paid: int = 1
    unpaid: int = 0


@dataclass(frozen=True)
class Carrier(Reacher):
    """Peeks, and passes its answers to the process that answers the audit."""

    way: Literal[
        "variable", "environment", "temporary-file", "working-directory", "file-elsewhere",
        "named-memory", "system-v-memory", "daemon", "parents-memory", "parents-limits", "file-times", "file-attribute",
        "file-flags",
    ] = "variable"  # fmt: skip

    def fit(self, problem: Problem) -> list[Policy]:
        return [_Carries(self.way, problem.n_features, self.paid, self.unpaid)]
