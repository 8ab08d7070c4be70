"""The trusted side: starting restricted processes, calling them, and ending them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bench_sandbox.arrays import Arrays, Blob, checked, packed
from bench_sandbox.available import layers, missing_layers
from bench_sandbox.errors import CallError, EndedError, MalformedError, SandboxError, StoppedError, ending
from bench_sandbox.paths import importable, readable
from bench_sandbox.wire import Message, receive, send, sender

__all__ = ["Process", "Server", "run"]

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[3]); from bench_sandbox.server import main; main()"
_START_SECONDS, _END_SECONDS, _GRACE = 300.0, 60.0, 0.5
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


class Server:
    """Starts restricted processes; to be closed, or used in a ``with`` statement.

    Its own process is started when it is needed, and again if it was killed.

    Args:
        preload: modules that it imports, so that restricted processes find them imported. One that is not installed is
            left out. They must not start threads.
        prepare: ``module:function``, called after that.
        environment: further environment variables.
        strict: refuse to start a process that cannot have all three layers (`layers`).
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

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process(self) -> int:
        """The number of the server's process; 0 where it does not run."""
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
        """A new restricted process; ``target(settings)`` is called in it with the first call.

        Args:
            target: ``module:name`` of what gives an object whose methods can be called.
            settings: plain JSON values.
            read: files and folders that it may read; by default what the system, the interpreter and imports need.
            write: folders that it may write to, beside an empty one of its own, in which it starts.
            environment: further environment variables.
            memory: bytes that each of its processes may allocate, or None.
            disk: bytes that a file, and its own folder, may have.

        Raises:
            SandboxError: no process can be started, or not with the restrictions that ``strict`` demands.
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
            hello = sender(ours)
            with theirs:
                try:
                    number = self._ask(request, [theirs.fileno()]).get("process")
                    break
                except (EndedError, MalformedError, TimeoutError):
                    self.close()
                    ours.close()
                    if is_last:
                        raise SandboxError("the process that starts others cannot be started") from None
        process = Process(self, ours, memory)
        if not isinstance(number, int):
            raise SandboxError("no restricted process can be started")
        process._begin(hello, number)
        return process

    def close(self) -> None:
        """End all processes."""
        server, self._server = self._server, None
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if server is not None:
            with suppress(subprocess.TimeoutExpired):
                server.wait(_END_SECONDS)
            server.kill()
            server.wait()

    def _ask(self, header: Mapping[str, Any], files: Iterable[int] = ()) -> dict[str, Any]:
        """Ask the server.

        Raises:
            EndedError, MalformedError, TimeoutError: it is gone.
            SandboxError: it refuses.
        """
        server = self._socket or self._launch()
        server.settimeout(_END_SECONDS)
        send(server, dict(header), files=list(files))
        answer = receive(server).header
        if isinstance(answer.get("error"), str):
            raise SandboxError(f"no restricted process can be started: {answer['error']}")
        return answer

    def _launch(self) -> socket.socket:
        """Start the server's process; the socket to it."""
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
                # Threads do not survive a fork: libraries must not start any.
                env={**os.environ, **dict.fromkeys(_THREAD_VARIABLES, "1"), **self._environment},
            )
        self._socket = ours
        ours.settimeout(_START_SECONDS)
        if receive(ours).header.get("threads") != 1:
            self.close()
            raise SandboxError(f"importing {', '.join(self._preload)} starts threads, which a fork would not have")
        return ours


class Process:
    """A restricted process.

    Attributes:
        number: the process's number, as the kernel says; 0 where it does not say.
    """

    def __init__(self, server: Server, its: socket.socket, memory: int | None, parent: Process | None = None) -> None:
        self._server, self._socket, self._memory, self._parent = server, its, memory, parent
        self._own = 0
        self._copies: set[Process] = set()
        self.number = 0
        self.ended = False

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _begin(self, hello: Any, own: int) -> None:
        """Wait until it is restricted.

        Args:
            hello: receives its first message.
            own: its number, as the process that forked it knows it.
        """
        self._own = own
        self._socket.settimeout(_END_SECONDS)
        try:
            message: Message = hello()
        except (EndedError, MalformedError, TimeoutError):
            raise self._stopped() from None
        self.number = message.process
        if "refused" in message.header:
            self.end()
            raise SandboxError(f"a process cannot be restricted: {message.header['refused']}")

    def call(
        self,
        name: str,
        values: Mapping[str, Any] | None = None,
        arrays: Mapping[str, NDArray[Any] | None] | Blob | None = None,
        *,
        seconds: float | None = None,
        most: int = 2**24,
        blob: Blob | None = None,
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Call a method of the target's object: ``method(values, arrays)``, with ``blob=bytes`` where one is given.

        Args:
            name: the method.
            values: plain JSON values.
            arrays: given read-only and without a copy; a `Blob` from `packed` where they are given more than once.
            seconds: the most that it may take; then the process is ended.
            most: bytes that the arrays it returns may have.
            blob: bytes from `call_bytes`.

        Returns:
            What it returned: a JSON object and arrays, unchecked but for their form.

        Raises:
            CallError: the method raised an error.
            StoppedError: the process ended, took too long, or broke the protocol; it is ended.
        """
        message = self._call(name, values, arrays, seconds, most, blob, None)
        try:
            returned = message.header.get("values")
            if not isinstance(returned, dict):
                raise MalformedError("it returned no object")
            return returned, checked(message.header.get("table"), message.body)
        except MalformedError as error:
            raise self._stopped(error) from None

    def call_bytes(
        self, name: str, values: Mapping[str, Any] | None = None, *, seconds: float | None = None, most: int = 2**32
    ) -> Blob:
        """Call a method that returns bytes; they are kept in read-only memory and not read. Raises as `call`."""
        blob = Blob()
        self._call(name, values, None, seconds, most, None, blob.file)
        blob.seal()
        return blob

    def import_target(self, seconds: float | None = None) -> None:
        """Import the target and call it; a first call does this by itself. Raises as `call`."""
        self._call("import", None, None, seconds, 0, None, None)

    def fork(self, memory: int | None = None) -> Process:
        """A copy of the process, under the same restrictions. It inherits what untrusted code has changed in this one.

        Raises:
            CallError: it runs threads.
            StoppedError: as `call`.
        """
        ours, theirs = socket.socketpair()
        hello = sender(ours)
        with theirs:
            header = {"call": "fork", "memory": memory}
            answer = self._ask(header, [theirs.fileno()], _END_SECONDS, 0, None).header
        copy = Process(self._server, ours, memory, self)
        number = answer.get("process")
        copy._begin(hello, number if type(number) is int else 0)
        self._copies.add(copy)
        return copy

    def end(self, *, patience: float = 0.0) -> int | None:
        """End it, and everything that it started; its exit code where that can be told.

        Args:
            patience: seconds in which it may end by itself.
        """
        if self.ended:
            return None
        self.ended = True
        self._socket.close()
        code, parent = None, self._parent
        if parent is None:
            request = {"process": self._own, "patience": patience, "kept": []}
        else:
            if patience and not parent.ended:
                with suppress(StoppedError, CallError):
                    header = {"call": "code", "process": self._own}
                    code = parent._ask(header, [], patience, 0, None).header.get("code")
            parent._copies.discard(self)
            request = {"process": parent._own, "patience": None, "kept": [copy.number for copy in parent._copies]}
        try:
            answer = self._server._ask(request)
            code = answer.get("code") if parent is None else code
        except (EndedError, MalformedError, TimeoutError, SandboxError):
            self._server.close()
        return code if type(code) is int else None

    def seconds(self) -> float:
        """Processor's seconds that it has used so far, all threads."""
        with suppress(OSError):  # clock_getcpuclockid(3)
            return time.clock_gettime(~self.number << 3 | 2) if sys.platform == "linux" else time.perf_counter()
        return 0.0

    def _call(
        self,
        name: str,
        values: Mapping[str, Any] | None,
        arrays: Mapping[str, NDArray[Any] | None] | Blob | None,
        seconds: float | None,
        most: int,
        blob: Blob | None,
        into: int | None,
    ) -> Message:
        held = arrays if isinstance(arrays, Blob) else packed(arrays) if arrays else None
        table = {} if held is None else held.table
        files = [part.file for part in (held, blob) if part is not None]
        header = {"call": name, "values": dict(values or {}), "table": table}
        return self._ask(header, files, seconds, most, into)

    def _ask(
        self, header: dict[str, Any], files: list[int], seconds: float | None, most: int, into: int | None
    ) -> Message:
        if self.ended:
            raise ending(None, None)
        try:
            if seconds is not None and seconds <= 0:
                raise TimeoutError
            self._socket.settimeout(seconds)
            send(self._socket, header, files=files)
            message = receive(self._socket, most, into=into)
            if "error" in message.header:
                raise _error(message.header["error"])
        except (EndedError, MalformedError, TimeoutError) as error:
            raise self._stopped(error, seconds) from None
        return message

    def _stopped(self, error: Exception | None = None, seconds: float | None = None) -> StoppedError:
        """End the process; the error that says how it ended."""
        if isinstance(error, TimeoutError):
            self.end()
            return StoppedError("time", f"it took longer than the time limit of {seconds or 0.0:g} s")
        if isinstance(error, MalformedError):
            self.end()
            return StoppedError("malformed", f"its process does not keep to the protocol: {error}")
        return ending(self.end(patience=_GRACE), self._memory)


def _error(value: Any) -> CallError:
    """An error that a restricted process described.

    Raises:
        MalformedError: it is described in another way.
    """
    texts = [value.get(key) for key in ("type", "message", "trace")] if isinstance(value, dict) else [None]
    bases = value.get("bases") if isinstance(value, dict) else None
    if not all(isinstance(text, str) for text in texts) or not isinstance(bases, list):
        raise MalformedError("it described no error")
    kind, message, trace = (text.replace("\0", "") for text in texts if isinstance(text, str))
    return CallError(kind[:200] or "Error", message, tuple(map(str, bases[:20])), trace)


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
    """Call a function in a fresh, restricted process.

    Args:
        function: ``module:name`` of a function of plain values and arrays that returns such a pair.
        values: plain JSON values.
        arrays: numeric arrays by name; given read-only.
        seconds: the most that the call may take, the import of its module included.
        memory: bytes that the process may allocate.
        most: bytes that the returned arrays may have.
        read: files and folders that it may read; by default what the system, the interpreter and imports need.
        strict: refuse to run it with less than all three `layers`.

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
