"""The trusted side: a server that starts restricted processes, and a function for a single call."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bench_sandbox.arrays import Arrays
from bench_sandbox.available import layers, missing_layers
from bench_sandbox.errors import EndedError, MalformedError, SandboxError
from bench_sandbox.paths import importable, readable
from bench_sandbox.process import Process
from bench_sandbox.wire import receive, send, show_sender

__all__ = ["Server", "run"]

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[3]); from bench_sandbox.server import main; main()"
_START_SECONDS, _END_SECONDS = 300.0, 60.0
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_INHERITED = (
    "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV", "CONDA_PREFIX", "GLIBC_TUNABLES",
)  # fmt: skip
_INHERITED_PREFIXES = (
    "LC_", "PYTHON", "LD_", "DYLD_", "MALLOC_",
    "OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "BLIS_", "VECLIB_", "NPY_", "NUMBA_", "JAX_", "XLA_",
    "BUDGETBENCH_",
)  # fmt: skip
"""The variables that restricted processes inherit: those of the system, the interpreter and numerical libraries.

All others stay outside, since many are secret (tokens, passwords).
"""


def _inherited() -> dict[str, str]:
    return {n: v for n, v in os.environ.items() if n in _INHERITED or n.startswith(_INHERITED_PREFIXES)}


class Server:
    """Starts restricted processes. Close it, or use it in a ``with`` statement.

    The server's process is started when it is needed, and again if it was killed.

    Args:
        preload: modules that the server imports, so that restricted processes need not. Modules that are not installed
            are skipped. They must not start threads.
        prepare: ``module:function``, called after the imports; empty: nothing.
        environment: additional environment variables. Of this process's own, only those of the system, the interpreter
            and numerical libraries are passed on.
        strict: refuse to start a process without all three `layers`.
    """

    def __init__(
        self,
        preload: Iterable[str] = (),
        prepare: str = "",
        environment: Mapping[str, str] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self._preload, self._prepare = list(preload), prepare
        self._environment, self._strict = dict(environment or {}), strict
        self._server: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._processes: list[Process] = []

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process(self) -> int:
        """Process id of the server; 0 if it does not run."""
        return 0 if self._server is None else self._server.pid

    def start(
        self,
        target: str,
        settings: Mapping[str, Any] | None = None,
        *,
        read: Iterable[Path] | None = None,
        write: Iterable[Path] = (),
        environment: Mapping[str, str] | None = None,
        memory: int | None = None,
        disk: int = 2**30,
    ) -> Process:
        """Start a restricted process. It calls ``target(settings)`` when it gets its first call.

        Args:
            target: ``module:name`` of a callable that returns an object whose methods can be called.
            settings: plain JSON values.
            read: files and folders that it may read; by default those of the system, the interpreter and imports.
            write: folders that it may write to, in addition to its own working directory, which is empty.
            environment: additional environment variables.
            memory: bytes that each of its processes may allocate; None: no limit.
            disk: largest size of a file and of its own folder, in bytes.

        Raises:
            SandboxError: no process can be started, or ``strict`` is set and a layer is missing.
        """
        if self._strict and missing_layers():
            raise SandboxError(missing_layers())
        request = {
            "target": target,
            "settings": dict(settings or {}),
            "read": [str(path) for path in (readable(importable()) if read is None else read)],
            "write": [str(path) for path in write],
            "environment": dict(environment or {}),
            "memory": memory,
            "disk": min(disk, memory) if memory else disk,
        }
        for is_last in (False, True):
            ours, theirs = socket.socketpair()
            show_sender(ours, True)
            with theirs:
                try:
                    number = self.ask(request, [theirs.fileno()]).get("process")
                    break
                except (EndedError, MalformedError, TimeoutError):
                    self.close()
                    ours.close()
                    if is_last:
                        raise SandboxError("the server's process cannot be started") from None
        process = Process(self, ours, memory)
        if not isinstance(number, int):
            raise SandboxError("no restricted process can be started")
        self._processes = [*(one for one in self._processes if not one.ended), process]
        process.begin(number)
        return process

    def close(self) -> None:
        """End the server and all its processes."""
        server, self._server = self._server, None
        processes, self._processes = self._processes, []
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if server is not None:
            with suppress(subprocess.TimeoutExpired):
                server.wait(_END_SECONDS)
            server.kill()
            server.wait()
        for process in processes:
            if not process.ended:
                process.end_adopted()

    def ask(self, header: Mapping[str, Any], files: Iterable[int] = ()) -> dict[str, Any]:
        """Send a request to the server, and return its answer.

        Raises:
            EndedError, MalformedError, TimeoutError: the server is gone.
            SandboxError: the server refuses.
        """
        server = self._socket or self._launch()
        server.settimeout(_END_SECONDS)
        send(server, dict(header), files=list(files))
        answer = receive(server).header
        if isinstance(answer.get("error"), str):
            raise SandboxError(f"no restricted process can be started: {answer['error']}")
        return answer

    def _launch(self) -> socket.socket:
        """Start the server's process, and return the socket to it.

        Raises:
            EndedError, MalformedError, TimeoutError: it cannot be started.
            SandboxError: preloaded modules start threads.
        """
        ours, theirs = socket.socketpair()
        asked = {"preload": self._preload, "prepare": self._prepare, "namespaces": "namespaces" in layers()}
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, "-c", _START, str(theirs.fileno()), json.dumps(asked), json.dumps(sys.path)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                # Threads do not survive a fork, so libraries must not start any.
                env={**_inherited(), **dict.fromkeys(_THREAD_VARIABLES, "1"), **self._environment},
            )
        self._socket = ours
        ours.settimeout(_START_SECONDS)
        if receive(ours).header.get("threads") != 1:
            self.close()
            raise SandboxError(f"importing {', '.join(self._preload)} starts threads, which a fork would not have")
        return ours


class _Single:
    """The target of `run`: an object with one method."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        from importlib import import_module

        module, _, name = settings["function"].partition(":")
        self.run = getattr(import_module(module), name)


def run(
    function: str,
    values: Mapping[str, Any] | None = None,
    arrays: Arrays | None = None,
    *,
    seconds: float | None = None,
    memory: int | None = None,
    most: int = 2**30,
    read: Iterable[Path] | None = None,
    strict: bool = False,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Call a function in a new, restricted process.

    Args:
        function: ``module:name`` of a function that takes plain values and arrays and returns such a pair.
        values: plain JSON values.
        arrays: numeric arrays by name; the function gets them read-only.
        seconds: time limit of the call, including the import of the function's module.
        memory: bytes that the process may allocate.
        most: largest total size of the returned arrays, in bytes.
        read: files and folders that it may read; by default those of the system, the interpreter and imports.
        strict: refuse to run it without all three `layers`.

    Returns:
        The values and arrays that the function returned, the arrays by name.

    Raises:
        CallError, StoppedError: as `Process.call`.
        SandboxError: as `Server.start`.
    """
    settings = {"function": function}
    with (
        Server(strict=strict) as server,
        server.start("bench_sandbox.client:_Single", settings, read=read, memory=memory) as process,
    ):
        return process.call("run", values, arrays, seconds=seconds, most=most)
