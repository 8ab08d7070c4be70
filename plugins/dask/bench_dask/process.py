"""A process of a Dask worker that runs trials, and can be killed at any time."""

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

from bench_core.execution import TrialStopped, thread_variables
from bench_core.records import StoreError

__all__ = ["TrialProcess"]

_MARK = "BUDGETBENCH_TRIALS"
"""An environment variable of the process and of all that it starts: its folder."""
_START_SECONDS, _GRACE, _LOOK = 300.0, 5.0, 0.5


class TrialProcess:
    """Runs trials, one after another, as a worker on the run's own machine would.

    Args:
        request: ``metrics``, ``memory`` in bytes or None, ``isolation``, ``timeout`` in seconds or None, ``offline``.
        threads: how many threads a method may use.
        folder: where it may keep a folder of its own; the caller sees to what is left there when it is killed itself.

    Raises:
        TrialStopped: it cannot be started.
    """

    def __init__(self, request: Mapping[str, Any], threads: int, folder: Path) -> None:
        self._memory = request["memory"]
        # Else the process itself ends a method that takes too long.
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
                env={**os.environ, **thread_variables(threads), _MARK: self._folder},
                start_new_session=True,
            )
        self._ask({**request, "folder": self._folder, "threads": threads}, _START_SECONDS)

    def check(self, needs: Mapping[str, Any], gone: Callable[[], bool]) -> dict[str, Any]:
        """Why it cannot run what needs something (`bench_dask.trials.needs_of`), and where it runs.

        Returns:
            ``reasons`` (sentences; none when it can) and ``environment``.

        Raises:
            TrialStopped: it died, or was killed since ``gone()`` said that nobody waits for the answer.
        """
        return self._ask({"needs": needs}, None, gone)[0]

    def run(self, trial: Mapping[str, Any], gone: Callable[[], bool]) -> tuple[dict[str, Any], bytes, bytes | None]:
        """Run a trial.

        Args:
            trial: from `bench_dask.trials.planned_to_plain`.
            gone: asked now and then whether nobody waits for it any more; the process is then killed.

        Returns:
            ``status``, ``message`` and ``seconds``; the bytes of the record, and those of its decisions.

        Raises:
            TrialStopped: it died, took too long or was killed, and is gone.
            StoreError: this machine cannot keep what it makes.
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
            while not self._connection.poll(_LOOK if until is None else max(0.0, min(_LOOK, until - time.monotonic()))):
                if not self.is_alive:
                    raise EOFError
                if gone():
                    self.close()
                    raise TrialStopped("killed", "nobody waited for it any more")
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
        """Whether it can be asked something."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it and whatever it started: at once, where it is at work."""
        self._connection.close()
        if self._is_idle:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        _kill_marked(self._folder)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _kill_marked(folder: str) -> None:
    """Kill the processes that were started with a folder as their mark, whoever is their parent by now."""
    until = time.monotonic() + _GRACE
    # One may start another while it is being killed: look again until there is none.
    while (left := [process for process in psutil.process_iter() if _is_marked(process, folder)]) and (
        time.monotonic() < until
    ):
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=_LOOK)


def _is_marked(process: psutil.Process, folder: str) -> bool:
    try:
        return bool(process.environ().get(_MARK) == folder)
    except (psutil.Error, OSError):  # another user's, or gone
        return False
