"""A process that runs trials for a Dask worker, and can be killed at any time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import psutil
from bench_sandbox import ending

from bench_core.execution import TrialStopped, library_variables
from bench_core.records import StoreError

__all__ = ["TrialProcess"]

_MARK = "BUDGETBENCH_TRIALS"
"""Environment variable with the process's folder, inherited by all processes that it starts."""
_START_SECONDS, _GRACE, _POLL = 300.0, 5.0, 0.5


class TrialProcess:
    """A process that runs trials one after another, as a worker on the run's machine does.

    Args:
        request: ``metrics``, ``memory`` in bytes or None, ``isolation``, ``timeout`` in seconds or None,
            ``audit_seed``, ``judge`` and ``offline``.
        threads: number of threads that a method may use.
        folder: directory for the process's temporary folder. If this process is killed, the caller must delete it.

    Raises:
        TrialStopped: the process cannot be started.
    """

    def __init__(self, request: Mapping[str, Any], threads: int, folder: Path) -> None:
        self._memory = request["memory"]
        # With isolation, the process itself stops a method at the time limit.
        self._timeout = request["timeout"] if request["isolation"] == "none" else None
        self._folder = tempfile.mkdtemp(prefix="trials-", dir=folder)
        self._connection, theirs = Pipe()
        self._is_idle = True
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "bench_dask.serve", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **library_variables(threads), _MARK: self._folder},
                start_new_session=True,
            )
        self._ask({**request, "folder": self._folder, "threads": threads}, _START_SECONDS)

    def check(self, needs: Mapping[str, Any], gone: Callable[[], bool]) -> dict[str, Any]:
        """Check whether the process can run trials with the given needs.

        Args:
            needs: from `bench_dask.trials.needs_of`.
            gone: returns True once the answer is no longer needed; the process is then killed.

        Returns:
            ``reasons`` why it cannot (empty if it can), and its ``environment``.

        Raises:
            TrialStopped: the process died or was killed.
        """
        return self._ask({"needs": needs}, None, gone)[0]

    def run(self, trial: Mapping[str, Any], gone: Callable[[], bool]) -> tuple[dict[str, Any], bytes, bytes | None]:
        """Run a trial.

        Args:
            trial: from `bench_dask.trials.planned_to_plain`.
            gone: returns True once the result is no longer needed; the process is then killed.

        Returns:
            ``status``, ``message`` and ``seconds``; the bytes of the record, and those of its decisions if there are
            any.

        Raises:
            TrialStopped: the process died, took too long or was killed; it cannot be used again.
            StoreError: the record cannot be stored temporarily on this machine.
        """
        answer, parts = self._ask({"trial": trial}, self._timeout, gone)
        if "error" in answer:
            raise StoreError(answer["error"])
        return answer, parts[0], parts[1] if len(parts) > 1 else None

    def _ask(
        self, asked: Mapping[str, Any], seconds: float | None, gone: Callable[[], bool] = lambda: False
    ) -> tuple[dict[str, Any], list[bytes]]:
        until = None if seconds is None else time.monotonic() + seconds
        self._is_idle = False
        try:
            self._connection.send_bytes(json.dumps(asked).encode())
            while not self._connection.poll(_POLL if until is None else max(0.0, min(_POLL, until - time.monotonic()))):
                if not self.is_alive:
                    raise EOFError
                if gone():
                    self.close()
                    raise TrialStopped("killed", "its result was no longer needed")
                if until is not None and time.monotonic() >= until:
                    self.close()
                    raise TrialStopped("time", f"it took longer than the time limit of {seconds:g} s")
            answer = json.loads(self._connection.recv_bytes())
            parts = [self._connection.recv_bytes() for _ in range(answer["parts"])]
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
            stopped = ending(self._process.poll(), self._memory)
            self.close()
            raise TrialStopped(stopped.kind, str(stopped)) from None
        self._is_idle = True
        return answer, parts

    @property
    def is_alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process and all processes that it started; an idle one gets a few seconds to exit."""
        self._connection.close()
        if self._is_idle:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        _kill_marked(self._folder)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _kill_marked(folder: str) -> None:
    """Kill all processes whose environment names a folder, including orphaned processes."""
    until = time.monotonic() + _GRACE
    # A process may start another one before it is killed, so repeat until none is left.
    while (left := [process for process in psutil.process_iter() if _is_marked(process, folder)]) and (
        time.monotonic() < until
    ):
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=_POLL)


def _is_marked(process: psutil.Process, folder: str) -> bool:
    try:
        return bool(process.environ().get(_MARK) == folder)
    except (psutil.Error, OSError):  # another user's process, or one that ended
        return False
