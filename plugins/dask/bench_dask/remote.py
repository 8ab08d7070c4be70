"""What a Dask worker does for a run: it keeps processes that run trials, and hands them what it is asked.

No method's code runs in the worker's own process, whatever the isolation: a trial can be ended at any time.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import defaultdict
from pathlib import Path

from bench_core.execution import TrialStopped
from bench_core.records import StoreError
from bench_dask.process import TrialProcess

__all__ = ["check", "leave", "run_trial"]

_IDLE_SECONDS = 20.0
"""Seconds after which a process that nobody asks is ended: its run is over, or was killed."""

_LOCK = threading.Lock()
_IDLE: dict[str, list[tuple[float, TrialProcess]]] = defaultdict(list)
_WATCHING = threading.Event()


def check(key: str, run: str, request: str, beside: int, needs: str) -> str:
    """Why this worker cannot run what needs something, and what it is: JSON of `TrialProcess.check`.

    Args:
        key: of this task.
        run: of which run it is.
        request: JSON of what a `TrialProcess` needs to know.
        beside: how many trials run on this machine at a time.
        needs: JSON of `bench_dask.trials.needs_of`.
    """
    try:
        process = _taken(run, request, beside)
        answer = process.check(json.loads(needs), lambda: _is_cancelled(key))
    except TrialStopped as stopped:
        return json.dumps({"reasons": [f"it cannot start a process for trials: {stopped}"]})
    _put_back(run, process)
    return json.dumps(answer)


def run_trial(key: str, run: str, request: str, beside: int, trial: str) -> tuple[str, bytes, bytes | None]:
    """Run a trial: JSON of how it went, the bytes of its record and of its decisions.

    A process that ended is said as ``stopped``: kind and message; a disk that does not take the record as ``error``.
    """
    try:
        process = _taken(run, request, beside)
        result, record, decisions = process.run(json.loads(trial), lambda: _is_cancelled(key))
    except TrialStopped as stopped:
        return json.dumps({"stopped": [stopped.kind, str(stopped)]}), b"", None
    except StoreError as error:
        process.close()
        return json.dumps({"error": str(error)}), b"", None
    _put_back(run, process)
    return json.dumps(result), record, decisions


def leave(run: str) -> None:
    """A run is over: end its processes."""
    with _LOCK:
        left = _IDLE.pop(run, [])
    for _, process in left:  # not in the thread that answers the scheduler
        threading.Thread(target=process.close, name="bench-leave").start()


def _put_back(run: str, process: TrialProcess) -> None:
    with _LOCK:
        _IDLE[run].append((time.monotonic(), process))


def _taken(run: str, request: str, beside: int) -> TrialProcess:
    """A process of a run that has nothing to do, or a new one, with a folder where Dask removes what is left."""
    from distributed import get_worker

    if not _WATCHING.is_set():
        _WATCHING.set()
        threading.Thread(target=_watch, name="bench-idle", daemon=True).start()
    while True:
        with _LOCK:
            idle = _IDLE[run]
            process = idle.pop()[1] if idle else None
        if process is None:
            threads = max(1, (os.cpu_count() or 1) // max(1, beside))
            return TrialProcess(json.loads(request), threads, Path(get_worker().local_directory))
        if process.is_alive:
            return process
        process.close()


def _watch() -> None:
    """End processes that have had nothing to do for a while."""
    while True:
        time.sleep(1.0)
        before = time.monotonic() - _IDLE_SECONDS
        with _LOCK:
            old = [process for idle in _IDLE.values() for since, process in idle if since < before]
            for run, idle in list(_IDLE.items()):
                _IDLE[run] = [entry for entry in idle if entry[0] >= before]
                if not _IDLE[run]:
                    del _IDLE[run]
        for process in old:
            process.close()


def _is_cancelled(key: str) -> bool:
    """Whether nobody waits for a task any more."""
    from distributed import get_worker

    try:
        task = get_worker().state.tasks.get(key)
    except ValueError:  # the worker is closing
        return True
    return task is None or task.state in ("cancelled", "released", "forgotten")
