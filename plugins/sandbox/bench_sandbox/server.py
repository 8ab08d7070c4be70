"""The server: a process that has imported common libraries, and forks a restricted process for every request.

Importing scikit-learn and numba takes seconds, a fork milliseconds. The server has one thread, runs no untrusted code
and gets no data. It adopts the orphaned processes of restricted processes, and ends them.
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
    """Serve at the socket whose file descriptor is the first argument; the second one is the settings as JSON."""
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
        """Fork a restricted process that answers calls at a socket, and return its process id, or an error."""
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
        """Fork the restricted process, and return its process id.

        If it gets namespaces, an intermediate process creates them, as a new process namespace holds only children of
        its creator. The intermediate process exits, and the server adopts the restricted process.

        Raises:
            OSError: the process cannot be created.
        """
        result, report = os.pipe()
        waits, starts = os.pipe()
        intermediate = os.fork()
        if not intermediate:
            try:
                os.close(starts)
                if not self._isolated:
                    begin(request, number, waits, isolated=False)
                namespaces.unshare()
                process = os.fork()
                if not process:
                    begin(request, number, waits, isolated=True)
                os.write(report, str(process).encode())
                os._exit(0)
            except BaseException as error:
                os.write(report, f"!{error}".encode())
            finally:
                os._exit(1)
        os.close(report)
        os.close(waits)
        try:
            if not self._isolated:
                return intermediate
            text = os.read(result, 1000).decode(errors="replace")
            os.waitpid(intermediate, 0)
            if not text.isdigit():
                raise OSError(text.removeprefix("!") or "its process died")
            return int(text)
        finally:
            os.write(starts, b"+")  # it is now a child of this process, so it can ask to die with its parent
            os.close(starts)
            os.close(result)

    def _end(self, process: int, patience: float | None, kept: list[int]) -> dict[str, Any]:
        """End a process, and all processes that it started.

        Args:
            process: its process id.
            patience: seconds that it may take to exit by itself; None: it continues, and only processes that it
                started are ended.
            kept: process ids of its copies that continue.
        """
        code = None
        if patience is not None and process in self._folders:
            code = _exit_code(process, patience)
            shutil.rmtree(self._folders.pop(process), ignore_errors=True)
        others = set(self._folders) - {process}
        end_strays({*others, *kept}, within=[process])
        return {"code": code}


def _exit_code(process: int, patience: float) -> int | None:
    """Wait some seconds for a child to exit, then kill it; return its exit code, None if it is unknown."""
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
