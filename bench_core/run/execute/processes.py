"""The process executor: a pool of fresh processes, with a time and a memory limit per trial."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, TimeoutError, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_core.contract.errors import StoreError
from bench_core.run.execute.leftovers import (
    Leftovers,
    adopt_orphans,
    adopting_orphans,
    die_with_parent,
    end_group,
)
from bench_core.run.execute.markers import marks_of_the_dead
from bench_core.run.execute.worker import TrialStatus, Worker, WorkerSettings, environment, start_of_record
from bench_core.run.plan import Planned
from bench_core.run.run_trial import failed_record
from bench_core.run.store import Store
from bench_core.run.threads import BLAS_VARIABLES

__all__ = ["run_in_processes"]

_THREAD_VARIABLES = ("OMP_NUM_THREADS", *BLAS_VARIABLES)
_WORKER: Worker | None = None


def run_in_processes(
    todo: list[Planned],
    settings: WorkerSettings,
    jobs: int,
    timeout: float | None,
    note: Callable[[TrialStatus], None],
) -> None:
    """Run trials in worker processes and store their records; a killed trial becomes a failed record.

    Args:
        todo: what to run.
        settings: for the workers; with the bytes that each may allocate.
        jobs: how many processes.
        timeout: seconds per trial, or None; the process is killed when they are over.
        note: called in this process after every trial.
    """
    from pebble import ProcessPool

    # Fresh processes, not forks: threads of BLAS and numba do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with adopting_orphans(), _threads(settings.threads):
        leftovers = _WorkersLeftovers(settings.store)
        try:
            with ProcessPool(
                max_workers=jobs, initializer=_start, initargs=[settings], context=context
            ) as pool:
                try:
                    _feed(pool, todo, settings, jobs, timeout, note, leftovers)
                except BaseException:
                    pool.stop()  # type: ignore[no-untyped-call]
                    raise
        finally:
            leftovers.end()


_PATIENCE = 1.0
"""Seconds without news after which it is looked whether a worker is gone."""


def _feed(
    pool: Any,
    todo: list[Planned],
    settings: WorkerSettings,
    jobs: int,
    timeout: float | None,
    note: Callable[[TrialStatus], None],
    leftovers: _WorkersLeftovers,
) -> None:
    """Hand the pool a few trials at a time, and collect what comes of them."""
    waiting: dict[Future[Any], Planned] = {}
    queue = iter(todo)
    while True:
        for planned in queue:
            waiting[pool.schedule(_run, args=[planned], timeout=timeout)] = planned
            if len(waiting) >= 4 * jobs:
                break
        if not waiting:
            return
        finished, _ = wait(waiting, timeout=_PATIENCE, return_when=FIRST_COMPLETED)
        leftovers.look()
        for future in finished:
            done = _collect(future, waiting[future], settings, timeout)
            del waiting[future]
            if done.died:
                leftovers.end(done.done.name)
            note(done.done)
        if not finished:
            for future, said in _vanished(waiting, settings):
                planned = waiting.pop(future)
                leftovers.end(planned.name)
                note(_fail(planned, settings, said, "process", 0.0))


@dataclass(frozen=True)
class _Collected:
    done: TrialStatus
    died: bool


def _collect(
    future: Future[Any], planned: Planned, settings: WorkerSettings, timeout: float | None
) -> _Collected:
    """The worker's answer; when the worker died, a failed record in its place."""
    from pebble import ProcessExpired

    try:
        return _Collected(future.result(), died=False)
    except TimeoutError:
        seconds = timeout or 0.0
        said, step = f"it took longer than the time limit of {seconds:g} s", "time limit"
    except ProcessExpired as error:
        said, step = _how_it_died(error.exitcode, settings.memory), "process"
    except CancelledError:
        raise KeyboardInterrupt from None
    except StoreError:
        raise
    except Exception as error:
        said, step = f"its process could not run it: {type(error).__name__}: {error}", "process"
    return _Collected(_fail(planned, settings, said, step, timeout or 0.0), died=True)


def _fail(planned: Planned, settings: WorkerSettings, said: str, step: str, seconds: float) -> TrialStatus:
    """A failed record in place of a dead worker's."""
    provenance = {**environment(), "dataset": planned.trial.dataset}
    record = failed_record(start_of_record(planned, provenance), RuntimeError(said), step, {})
    Store(settings.store).write_failure(record)
    return TrialStatus(planned.name, "failed", record["error"]["message"], seconds)


def _how_it_died(code: int | None, memory: int | None) -> str:
    """A dead process's exit code in words: it left by itself, or which signal ended it."""
    if code is None:
        return "its process is gone"
    if code >= 0:
        return f"its process died (exit code {code}): something in it called for the process to exit"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGKILL":
        return f"its process died ({name}): killed from outside, when the machine is out of memory, perhaps"
    limit = "" if memory is None else f"; memory was limited to {memory / 2**20:.0f} MiB"
    return f"its process died ({name}): it crashed{limit}"


def _vanished(
    waiting: dict[Future[Any], Planned], settings: WorkerSettings
) -> Iterator[tuple[Future[Any], str]]:
    """Trials whose worker ended without a word: the pool does not notice one that exits with code 0."""
    gone = {mark.trial for mark in marks_of_the_dead(settings.store) if mark.run == os.getpid()}
    for future, planned in list(waiting.items()):
        # Not one that the pool has noticed by now: cancelling fails when there is a result.
        if planned.name in gone and not future.done() and future.cancel():
            yield (
                future,
                "its process died: something in it called for the process to exit, as if all were well",
            )


class _WorkersLeftovers:
    """Ends what dead workers left: their process groups, what they were the parents of, and their marks."""

    def __init__(self, store: Path) -> None:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()
        self._store = store
        self._workers: set[int] = set()
        self._leftovers = Leftovers(self._spared)

    def look(self) -> None:
        """Learn the numbers of the workers that there are."""
        self._workers |= _workers()

    def end(self, trial: str | None = None) -> None:
        """End what is left of workers that are gone, and remove the marks of a trial (of all trials when None)."""
        dead = self._workers - _workers()
        self._workers -= dead
        for worker in dead:
            end_group(worker)
        self._leftovers.end()
        for mark in marks_of_the_dead(self._store):
            # The mark of a trial that is still waited for is all that tells of its worker's end.
            if mark.run == os.getpid() and trial in (None, mark.trial):
                mark.path.unlink(missing_ok=True)

    @staticmethod
    def _spared(process: int) -> bool:
        """A worker; one that starts now has not left the session of this process yet."""
        try:
            return process in _workers() or os.getsid(process) == os.getsid(0)
        except OSError:
            return False


def _workers() -> set[int]:
    return {process.pid for process in multiprocessing.active_children() if process.pid is not None}


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Environment variables for the workers: one BLAS thread, ``count`` for numba."""
    wanted = dict.fromkeys(_THREAD_VARIABLES, "1") | {"NUMBA_NUM_THREADS": str(count)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start(settings: WorkerSettings) -> None:
    global _WORKER
    # Ctrl-C is for the parent: it stops the pool.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A session of its own: what it starts can be told from the parent's, and ended with it.
    os.setsid()
    die_with_parent()
    if settings.run is not None and os.getppid() != settings.run:
        os._exit(1)  # it was killed before this process could ask to be told
    adopt_orphans()
    if settings.memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (settings.memory, settings.memory))
    from bench_core.plugins.manager import load_registry

    _WORKER = Worker(settings, load_registry())


def _run(planned: Planned) -> TrialStatus:
    if _WORKER is None:
        raise RuntimeError("the worker was not started")
    return _WORKER.run(planned)
