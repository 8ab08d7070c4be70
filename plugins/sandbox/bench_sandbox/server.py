"""The server: a process that has imported the common libraries, and forks a restricted process for every request.

Importing scikit-learn and numba takes seconds, a fork milliseconds. The server runs no untrusted code and sees no
data; it has one thread. It is the parent of whatever the restricted processes leave, and ends it.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from typing import Any

from bench_sandbox import namespaces
from bench_sandbox.child import begin
from bench_sandbox.errors import EndedError
from bench_sandbox.strays import adopt_orphans, end_strays
from bench_sandbox.system import name_process, threads
from bench_sandbox.wire import receive, send

__all__ = ["main"]


def main() -> None:
    """Serve at the socket whose number is the first argument; the second one says what to import, as JSON."""
    client = socket.socket(fileno=int(sys.argv[1]))
    asked = json.loads(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    name_process("sandbox-server")
    for module in asked["preload"]:
        with suppress(ImportError):
            import_module(module)
    if asked["prepare"]:
        module, _, function = asked["prepare"].partition(":")
        getattr(import_module(module), function)()
    with suppress(EndedError):
        send(client, {"threads": threads()})
        _Server(client, asked["namespaces"]).serve()
    end_strays()


class _Server:
    """Answers the client's requests.

    Args:
        client: the socket to the client.
        isolated: whether restricted processes get namespaces.
    """

    def __init__(self, client: socket.socket, isolated: bool) -> None:
        self._client, self._isolated = client, isolated
        self._folders: dict[int, str] = {}

    def serve(self) -> None:
        """Answer until the client is gone."""
        try:
            while True:
                message = receive(self._client, files=True)
                header = message.header
                send(self._client, self._start(header, message.files[0]) if message.files else self._end(**header))
        finally:
            for folder in self._folders.values():
                shutil.rmtree(folder, ignore_errors=True)

    def _start(self, request: dict[str, Any], number: int) -> dict[str, Any]:
        """Fork a restricted process that serves at a socket."""
        folder = tempfile.mkdtemp(prefix="sandbox-")
        request["folder"] = folder
        gc.freeze()
        try:
            process = self._fork(request, number)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            return {"error": str(error)}
        finally:
            os.close(number)
        self._folders[process] = folder
        return {"process": process}

    def _fork(self, request: dict[str, Any], number: int) -> int:
        """The number of the process.

        Where it gets namespaces, a process between the two makes them: a namespace of processes holds the children of
        the one that makes it. That one is gone when this returns, and the restricted process is a child of this one.

        Raises:
            OSError: there can be no such process.
        """
        told, tells = os.pipe()
        waits, goes = os.pipe()
        between = os.fork()
        if not between:
            try:
                os.close(goes)
                if not self._isolated:
                    begin(request, number, waits, isolated=False)
                namespaces.unshare()
                process = os.fork()
                if not process:
                    begin(request, number, waits, isolated=True)
                os.write(tells, str(process).encode())
                os._exit(0)
            except BaseException as error:
                os.write(tells, f"!{error}".encode())
            finally:
                os._exit(1)
        os.close(tells)
        os.close(waits)
        try:
            if not self._isolated:
                return between
            said = os.read(told, 1000).decode(errors="replace")
            os.waitpid(between, 0)
            if not said.isdigit():
                raise OSError(said.removeprefix("!") or "its process died")
            return int(said)
        finally:
            os.write(goes, b"+")  # it is a child of this process from now on, and may ask to die with it
            os.close(goes)
            os.close(told)

    def _end(self, process: int, patience: float | None, kept: list[int]) -> dict[str, Any]:
        """End a process, and everything that it started.

        Args:
            process: its number.
            patience: seconds in which it may end by itself; None, it goes on, and only what it started is ended.
            kept: numbers of its copies that go on.
        """
        code = None
        if patience is not None and process in self._folders:
            code = _exit_code(process, patience)
            shutil.rmtree(self._folders.pop(process), ignore_errors=True)
        others = set(self._folders) - {process}
        end_strays({*others, *kept}, within=[process])
        return {"code": code}


def _exit_code(process: int, patience: float) -> int | None:
    """The exit code of a child that ends within some seconds, or is killed then."""
    until = time.monotonic() + patience
    try:
        while time.monotonic() < until:
            gone, status = os.waitpid(process, os.WNOHANG)
            if gone:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(process, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except OSError:
        return None


if __name__ == "__main__":
    main()
