"""The tasks of a Dask worker, which manages processes that run trials.

At every isolation level, methods run outside of the worker's own process, so a trial can be stopped at any time.
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
"""Seconds after which an idle process is ended, as its run is over or was killed."""

_LOCK = threading.Lock()
_IDLE: dict[str, list[tuple[float, TrialProcess]]] = defaultdict(list)
_WATCHING = threading.Event()


def check(key: str, run: str, request: str, concurrent: int, needs: str) -> str:
    """Check whether this worker can run trials with the given needs; return the JSON of `TrialProcess.check`.

    Args:
        key: key of this task.
        run: id of the run.
        request: JSON of the settings of a `TrialProcess`.
        concurrent: number of trials that run on this machine at a time.
        needs: JSON of `bench_dask.trials.needs_of`.
    """
    try:
        process = _taken(run, request, concurrent)
        answer = process.check(json.loads(needs), lambda: _is_cancelled(key))
    except TrialStopped as stopped:
        return json.dumps({"reasons": [f"it cannot start a process for trials: {stopped}"]})
    _put_back(run, process)
    return json.dumps(answer)


def run_trial(key: str, run: str, request: str, concurrent: int, trial: str) -> tuple[str, bytes, bytes | None]:
    """Run a trial.

    Args:
        key, run, request, concurrent: as for `check`.
        trial: JSON of `bench_dask.trials.planned_to_plain`.

    Returns:
        JSON of the trial's status, message and seconds; the bytes of its record, and those of its decisions. If the
        process ended, the JSON holds kind and message under ``stopped``; if the record could not be stored, the message
        under ``error``.
    """
    try:
        process = _taken(run, request, concurrent)
        result, record, decisions = process.run(json.loads(trial), lambda: _is_cancelled(key))
    except TrialStopped as stopped:
        return json.dumps({"stopped": [stopped.kind, str(stopped)]}), b"", None
    except StoreError as error:
        process.close()
        return json.dumps({"error": str(error)}), b"", None
    _put_back(run, process)
    return json.dumps(result), record, decisions


def leave(run: str) -> None:
    """End the processes of a run that is over."""
    with _LOCK:
        left = _IDLE.pop(run, [])
    for _, process in left:  # in new threads, because closing would block the worker's event loop
        threading.Thread(target=process.close, name="bench-leave").start()


def _put_back(run: str, process: TrialProcess) -> None:
    with _LOCK:
        _IDLE[run].append((time.monotonic(), process))


def _taken(run: str, request: str, concurrent: int) -> TrialProcess:
    """Return an idle process of a run, or a new one, whose folder Dask deletes with the worker's directory."""
    from distributed import get_worker

    if not _WATCHING.is_set():
        _WATCHING.set()
        threading.Thread(target=_watch, name="bench-idle", daemon=True).start()
    while True:
        with _LOCK:
            idle = _IDLE[run]
            process = idle.pop()[1] if idle else None
        if process is None:
            threads = max(1, (os.cpu_count() or 1) // max(1, concurrent))
            return TrialProcess(json.loads(request), threads, Path(get_worker().local_directory))
        if process.is_alive:
            return process
        process.close()


def _watch() -> None:
    """Repeatedly end processes that have been idle for `_IDLE_SECONDS`; runs in a separate thread and never returns."""
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
    """Return whether a task's result is no longer needed."""
    from distributed import get_worker

    try:
        task = get_worker().state.tasks.get(key)
    except ValueError:  # the worker is closing
        return True
    return task is None or task.state in ("cancelled", "released", "forgotten")
