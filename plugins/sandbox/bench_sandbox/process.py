"""A restricted process as the trusted side sees it: calling it, copying it, ending it."""

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
from bench_sandbox.wire import Message, receive, send, show_sender

__all__ = ["Process"]

_START_SECONDS, _GRACE = 60.0, 0.5


class Parent(Protocol):
    """What started a process and can end it."""

    def ask(self, header: Mapping[str, Any], files: Iterable[int] = ()) -> dict[str, Any]:
        """Send a request; the answer."""

    def close(self) -> None:
        """End all processes."""


class Process:
    """A restricted process.

    Attributes:
        number: the process's number, as the kernel says; 0 where it does not say.
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
        """Wait until it is restricted.

        Args:
            own: its number, as the process that forked it knows it.
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
        """Call a method that returns bytes; they are kept in read-only memory and not read. Raises as `call`."""
        blob = Blob()
        self._ask({"call": name, "values": dict(values or {}), "table": {}}, [], seconds, most, blob.file)
        blob.seal()
        return blob

    def import_target(self, seconds: float | None = None) -> None:
        """Import the target and call it; a first call does this by itself. Raises as `call`."""
        self._ask({"call": "import"}, seconds=seconds)

    def fork(self, memory: int | None = None) -> Process:
        """A copy of the process, under the same restrictions. It inherits what untrusted code has changed in this one.

        Raises:
            CallError: it runs threads.
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
                    code = parent._ask(header, seconds=patience).header.get("code")
            parent._copies.discard(self)
            request = {"process": parent._own, "patience": None, "kept": [copy.number for copy in parent._copies]}
        try:
            answer = self._server.ask(request)
            code = answer.get("code") if parent is None else code
        except (EndedError, MalformedError, TimeoutError, SandboxError):
            self._server.close()
        return code if type(code) is int else None

    def seconds(self) -> float:
        """Processor's seconds that it has used so far, all threads."""
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
