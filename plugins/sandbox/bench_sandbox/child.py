"""The restricted process: it drops its permissions, imports the untrusted code, and answers calls."""

from __future__ import annotations

import gc
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from bench_sandbox import landlock, namespaces, seccomp
from bench_sandbox.arrays import mapped, table_of, unpacked
from bench_sandbox.errors import EndedError
from bench_sandbox.strays import adopt_orphans
from bench_sandbox.system import die_with_parent, name_process, threads
from bench_sandbox.wire import receive, send

__all__ = ["begin"]

_MOST_TEXT = 20_000


def begin(request: dict[str, Any], number: int, waits: int, *, isolated: bool) -> None:
    """Restrict this process, then answer calls at a socket until it is closed; never returns.

    Args:
        request: see `bench_sandbox.client.Server.start`.
        number: file descriptor of the socket.
        waits: read end of a pipe, which gets a byte as soon as this process is a child of the server.
        isolated: whether this process is in namespaces of its own.
    """
    code = 1
    try:
        if not os.read(waits, 1):
            os._exit(1)  # the server is gone
        die_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with suppress(OSError):
            os.setsid()
        name_process("sandbox")
        adopt_orphans()
        _keep_one_file(number)
        client = socket.socket(fileno=number)
        try:
            _restrict(request, isolated)
        except OSError as error:
            return send(client, {"refused": str(error)})
        send(client, {"folder": request["folder"]})
        _Service(client, request).serve()
        code = 0
    except EndedError:
        code = 0
    finally:
        os._exit(code)


def _restrict(request: Mapping[str, Any], isolated: bool) -> None:
    """Restrict this process and all processes that it starts.

    Raises:
        OSError: the kernel refuses a restriction.
    """
    folder, write = request["folder"], request["write"]
    if isolated:
        namespaces.mount_all(folder, write, request["disk"])
    os.chdir(folder)
    os.environ.update(request["environment"])
    os.environ["TMPDIR"], tempfile.tempdir = folder, None
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (request["disk"], request["disk"]))
    _limit_memory(request["memory"])
    seccomp.drop_capabilities()
    landlock.allow_only(request["read"], [folder, *write])
    seccomp.refuse_calls()


def _limit_memory(memory: int | None) -> None:
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _keep_one_file(file: int) -> None:
    """Close every open file except one, and redirect standard input and output to /dev/null."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, file)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(file + 1, most if file < most < 2**20 else 2**20)  # -1: there is no limit
    sys.stdin, sys.stdout, sys.stderr = (open(n, mode, closefd=False) for n, mode in enumerate("rww"))  # noqa: SIM115


def _reseed() -> None:
    """Reseed the global random states, so that forks do not draw the same numbers."""
    random.seed()
    if "numpy" in sys.modules:
        from numpy import random as numpy_random

        numpy_random.seed(int.from_bytes(os.urandom(4), "big"))  # noqa: NPY002


class _Service:
    """Answers calls with the methods of the object that the target returned."""

    def __init__(self, client: socket.socket, request: Mapping[str, Any]) -> None:
        self._client, self._request = client, request
        self._target: Any = None

    def serve(self) -> None:
        """Answer calls until the socket is closed."""
        _reseed()
        while True:
            message = receive(self._client, files=True)
            header: dict[str, Any] = {}
            parts: Any = []
            try:
                if header := message.header:
                    header, parts = self._answer(header, message.files)
            except BaseException as error:
                header, parts = {"error": _described(error)}, []
            try:
                send(self._client, header, parts)
            except (TypeError, ValueError) as error:  # the header is not JSON; nothing was sent
                send(self._client, {"error": _described(error)})

    def _answer(self, header: dict[str, Any], files: list[int]) -> tuple[dict[str, Any], Any]:
        call = header["call"]
        if call == "fork":
            return {"process": self._fork(files[0], header["memory"])}, []
        if call == "code":
            return {"code": os.waitstatus_to_exitcode(os.waitpid(header["process"], 0)[1])}, []
        if self._target is None:
            module, _, name = self._request["target"].partition(":")
            self._target = getattr(import_module(module), name)(self._request["settings"])
        if call == "import":
            return {}, []
        arrays = unpacked(files.pop(0), header["table"]) if header["table"] else {}
        more = {"blob": mapped(files.pop(0))} if files else {}
        answer = getattr(self._target, call)(header["values"], arrays, **more)
        if isinstance(answer, bytes):
            return {}, [answer]
        values, answered = answer
        table, parts = table_of(answered)
        return {"values": values, "table": table}, parts

    def _fork(self, number: int, memory: int | None) -> int:
        """Fork a copy of this process that answers calls at a socket; return its process id in this namespace.

        Raises:
            RuntimeError: this process runs threads.
        """
        while True:  # reap copies that have ended
            try:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    break
            except ChildProcessError:
                break
        if threads() > 1:
            raise RuntimeError("it runs threads, which a copy of its process would not have")
        gc.freeze()
        process = os.fork()
        if process:
            os.close(number)
            return process
        self._client.detach()
        try:
            die_with_parent()
            os.setsid()
            _keep_one_file(number)
            self._client = socket.socket(fileno=number)
            _limit_memory(memory)
            _empty(self._request["folder"])
            send(self._client, {"folder": self._request["folder"]})
            self.serve()
        finally:
            os._exit(0)


def _empty(folder: str) -> None:
    """Remove files of an earlier copy from the folder."""
    for entry in list(os.scandir(folder)):
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def _described(error: BaseException) -> dict[str, Any]:
    """Return an error as plain values of limited length."""
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be read"
    trace = "".join(traceback.format_exception(error)[-12:])
    return {
        "type": type(error).__name__[:200],
        "message": _text(message),
        "bases": [f"{base.__module__}.{base.__qualname__}"[:200] for base in type(error).__mro__][:20],
        "trace": _text(trace),
    }


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()[:_MOST_TEXT]
