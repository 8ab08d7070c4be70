"""The trusted side's handle of a restricted process: call it, fork it, end it."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from numpy.typing import NDArray

from bench_sandbox.arrays import Blob, checked, packed
from bench_sandbox.errors import CallError, EndedError, MalformedError, SandboxError, StoppedError, ending
from bench_sandbox.strays import end_child
from bench_sandbox.wire import Message, receive, send, show_sender

__all__ = ["Process"]

_START_SECONDS, _GRACE = 60.0, 0.5


class Parent(Protocol):
    """The interface of the server that starts and ends processes."""

    def ask(self, header: Mapping[str, Any], files: Iterable[int] = ()) -> dict[str, Any]:
        """Send a request, and return the answer."""

    def close(self) -> None:
        """End all processes."""


class Process:
    """A restricted process.

    Attributes:
        number: its process id, as the kernel reports it; 0 if it is unknown.
        ended: whether it was ended.
    """

    def __init__(self, server: Parent, its: socket.socket, memory: int | None, parent: Process | None = None) -> None:
        self._server, self._socket, self._memory, self._parent = server, its, memory, parent
        self._own = 0
        self._copies: set[Process] = set()
        self.number = 0
        self.ended = False

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, own: int) -> None:
        """Wait until the process is restricted.

        Args:
            own: its process id in the namespace of the process that forked it.

        Raises:
            SandboxError: the kernel refuses a restriction.
            StoppedError: the process ended.
        """
        self._own = own
        self._socket.settimeout(_START_SECONDS)
        try:
            message = receive(self._socket, files=True)
        except (EndedError, MalformedError, TimeoutError):
            raise self._stopped() from None
        show_sender(self._socket, False)
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
        """Call a method of the target's object: ``method(values, arrays)``, with ``blob=bytes`` if ``blob`` is given.

        Args:
            name: name of the method.
            values: plain JSON values.
            arrays: arrays by name, which the method gets read-only and without a copy; or a `Blob` from `packed`, to
                send the same arrays several times.
            seconds: time limit of the call, at which the process is ended.
            most: largest total size of the returned arrays, in bytes.
            blob: bytes from `call_bytes`.

        Returns:
            The returned JSON object and arrays. Only their form is validated.

        Raises:
            CallError: the method raised an error.
            StoppedError: the process ended, exceeded the time limit, or sent an invalid message; it is ended.
        """
        held = arrays if isinstance(arrays, Blob) else packed(arrays) if arrays else None
        files = [part.file for part in (held, blob) if part is not None]
        header = {"call": name, "values": dict(values or {}), "table": {} if held is None else held.table}
        message = self._ask(header, files, seconds, most)
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
        """Call a method that returns bytes, and keep them unread in read-only memory. Raises as `call`."""
        blob = Blob()
        self._ask({"call": name, "values": dict(values or {}), "table": {}}, [], seconds, most, blob.file)
        blob.seal()
        return blob

    def import_target(self, seconds: float | None = None) -> None:
        """Import the target and call it now, instead of with the first call. Raises as `call`."""
        self._ask({"call": "import"}, seconds=seconds)

    def fork(self, memory: int | None = None) -> Process:
        """Fork a copy of the process with the same restrictions and state, including changes by untrusted code.

        Args:
            memory: bytes that the copy may allocate; None: the limit of this process.

        Raises:
            CallError: the process runs threads.
            StoppedError: as `call`.
        """
        ours, theirs = socket.socketpair()
        show_sender(ours, True)
        with theirs:
            header = {"call": "fork", "memory": memory}
            answer = self._ask(header, [theirs.fileno()], _START_SECONDS).header
        copy = Process(self._server, ours, memory, self)
        number = answer.get("process")
        copy.begin(number if type(number) is int else 0)
        self._copies.add(copy)
        return copy

    def end(self, *, patience: float = 0.0) -> int | None:
        """End the process and all processes that it started.

        Args:
            patience: seconds that it may take to exit by itself before it is killed.

        Returns:
            Its exit code, negative for a signal; None if it is unknown or the process was ended before.
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
                    code = parent._ask(header, seconds=patience).header.get("code")
            parent._copies.discard(self)
            request = {"process": parent._own, "patience": None, "kept": [copy.number for copy in parent._copies]}
        try:
            answer = self._server.ask(request)
            code = answer.get("code") if parent is None else code
        except (EndedError, MalformedError, TimeoutError, SandboxError):
            self._server.close()
            self.end_adopted()
        return code if type(code) is int else None

    def end_adopted(self) -> None:
        """End the process and its copies if this process has adopted them, because their server was killed."""
        for process in (self, *self._copies):
            end_child(process.number)

    def seconds(self) -> float:
        """Return the CPU time of all threads of the process so far, in seconds; 0 if it has ended.

        On other systems than Linux, the time is that of a wall clock with an arbitrary start.
        """
        with suppress(OSError):  # clock_getcpuclockid(3)
            return time.clock_gettime(~self.number << 3 | 2) if sys.platform == "linux" else time.perf_counter()
        return 0.0

    def _ask(
        self,
        header: dict[str, Any],
        files: Iterable[int] = (),
        seconds: float | None = None,
        most: int = 0,
        into: int | None = None,
    ) -> Message:
        if self.ended:
            raise ending(None, None)
        try:
            if seconds is not None and seconds <= 0:
                raise TimeoutError
            self._socket.settimeout(seconds)
            send(self._socket, header, files=list(files))
            message = receive(self._socket, most, into=into)
            if "error" in message.header:
                raise _error(message.header["error"])
        except (EndedError, MalformedError, TimeoutError) as error:
            raise self._stopped(error, seconds) from None
        return message

    def _stopped(self, error: Exception | None = None, seconds: float | None = None) -> StoppedError:
        """End the process, and return the error that describes how it ended."""
        if isinstance(error, TimeoutError):
            self.end()
            return StoppedError("time", f"it took longer than the time limit of {seconds or 0.0:g} s")
        if isinstance(error, MalformedError):
            self.end()
            return StoppedError("malformed", f"its process broke the protocol: {error}")
        return ending(self.end(patience=_GRACE), self._memory)


def _error(value: Any) -> CallError:
    """Build a `CallError` from the description sent by a restricted process.

    Raises:
        MalformedError: the description is malformed.
    """
    texts = [value.get(key) for key in ("type", "message", "trace")] if isinstance(value, dict) else [None]
    bases = value.get("bases") if isinstance(value, dict) else None
    if not all(isinstance(text, str) for text in texts) or not isinstance(bases, list):
        raise MalformedError("it sent a malformed error")
    kind, message, trace = (text.replace("\0", "") for text in texts if isinstance(text, str))
    return CallError(kind[:200] or "Error", message, tuple(map(str, bases[:20])), trace)
