"""Functions and methods that the tests call in restricted processes."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def double(values: dict[str, Any], arrays: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    writable = [name for name, array in arrays.items() if array.flags.writeable]
    types = {name: str(array.dtype) for name, array in arrays.items()}
    doubled = {name: array if array.dtype == bool else array * 2 for name, array in arrays.items()}
    return {"given": values, "writable": writable, "types": types}, doubled


def variables(values: dict[str, Any], arrays: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The environment variables that this process has, and those that it was started with."""
    started_with = Path("/proc/self/environ").read_text().split("\0")
    return {"now": dict(os.environ), "at start": started_with}, {}


class Target:
    """A target whose methods mostly try something that is not allowed."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings, self.calls = settings, 0

    def count(self, values: dict[str, Any], arrays: Mapping[str, Any]) -> Any:
        self.calls += 1
        processes = sorted(name for name in os.listdir("/proc") if name.isdigit())
        here = {"calls": self.calls, "files": os.listdir("."), "processes": processes, "settings": dict(self.settings)}
        Path("left").write_text("behind")
        return here, {}

    def dumps(self, values: dict[str, Any], arrays: Mapping[str, Any]) -> bytes:
        return b"bytes" * values["times"]

    def loads(self, values: dict[str, Any], arrays: Mapping[str, Any], blob: memoryview) -> Any:
        return {"length": len(blob), "start": bytes(blob[:5]).decode()}, {}

    def fail(self, values: dict[str, Any], arrays: Mapping[str, Any]) -> Any:
        raise LookupError("a message")

    def end(self, values: dict[str, Any], arrays: Mapping[str, Any]) -> Any:
        how = values["how"]
        if how == "exit":
            os._exit(3)
        if how == "crash":
            ctypes.string_at(0)
        if how == "hang":
            subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
            time.sleep(600)
        return {}, {"many": np.zeros(1000)}

    def trickle(self, values: dict[str, Any], arrays: Mapping[str, Any]) -> Any:
        """Send single bytes forever."""
        for number in range(3, 20):
            try:
                client = socket.socket(fileno=os.dup(number))
                client.getpeername()
            except OSError:
                continue
            while True:
                client.send(b"\0")
                time.sleep(0.05)
        return {}, {}

    def lie(self, values: dict[str, Any], arrays: Mapping[str, Any]) -> Any:
        return {}, {"objects": np.array(["text"])}

    def attempt(self, values: dict[str, Any], arrays: Mapping[str, Any]) -> Any:
        """Return the names of the actions that succeed."""
        file, folder, parent = values["file"], os.path.dirname(values["file"]), os.getppid()
        soft, hard = resource.getrlimit(resource.RLIMIT_RSS)
        readable = os.open("/etc/passwd", os.O_RDONLY)
        tries: dict[str, Callable[[], Any]] = {
            "read": lambda: Path(file).read_text(),
            "list": lambda: os.listdir(folder),
            "write": lambda: Path(folder, "new").touch(),
            "times": lambda: os.utime("/etc/passwd"),
            "mode": lambda: os.chmod("/etc/passwd", 0o644),
            "owner": lambda: os.chown("/etc/passwd", 0, 0),
            "attribute": lambda: os.setxattr("/etc/passwd", "user.x", b"x"),
            "limit": lambda: resource.prlimit(parent or 1, resource.RLIMIT_RSS, (soft, hard)),
            "socket": lambda: socket.socket(),
            "lock": lambda: fcntl.flock(readable, fcntl.LOCK_SH),
            "record lock": lambda: fcntl.lockf(readable, fcntl.LOCK_SH | fcntl.LOCK_NB),
            "in memory": lambda: os.preadv(readable, [bytearray(1)], 0),
            "namespace": lambda: os.unshare(0x10000000) if hasattr(os, "unshare") else _unshare(),
            "signal": lambda: os.kill(values["outside"], signal.SIGCONT),
            "own folder": lambda: Path("small").write_bytes(b"x"),
            "memory": lambda: bytearray(2**31),
            "disk": lambda: Path("large").write_bytes(bytes(2**26)),
            "own thread": lambda: threading.Thread(target=list).start(),
            "own process": lambda: subprocess.run(["/bin/true"], check=True),
            "own limit": lambda: resource.setrlimit(resource.RLIMIT_RSS, (soft, hard)),
            "own pipe": lambda: socket.socketpair(),
        }
        done = []
        for name, step in tries.items():
            try:
                step()
            except (OSError, MemoryError):
                continue
            done.append(name)
        return {"done": done}, {}


def _unshare() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        raise PermissionError
