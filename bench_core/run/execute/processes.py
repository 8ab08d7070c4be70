"""The process executor: a pool of fresh processes, with a time and a memory limit per trial."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, TimeoutError, wait
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
from bench_sandbox import adopt_orphans, adopting_orphans, die_with_parent, end_group, end_strays, ending

from bench_core.contract.errors import StoreError
from bench_core.run.execute.markers import marks_of_the_dead
from bench_core.run.execute.schedule import Schedule
from bench_core.run.execute.worker import TrialStatus, Worker, WorkerSettings, fail
from bench_core.run.failures import TrialStopped
from bench_core.run.plan import Planned
from bench_core.run.threads import thread_variables

__all__ = ["run_in_processes"]

_WORKER: Worker | None = None


def run_in_processes(
    schedule: Schedule, settings: WorkerSettings, jobs: int, timeout: float | None, note: Callable[[TrialStatus], None]
) -> None:
    """Run trials in worker processes and store their records; a killed trial becomes a failed record.

    Args:
        schedule: what to run, and in which order.
        settings: for the workers; with the bytes that each may allocate.
        jobs: how many processes.
        timeout: seconds per trial, or None; the process is killed when they are over.
        note: called in this process after every trial.
    """
    with adopting_orphans(), _threads(settings.threads):
        leftovers = _WorkersLeftovers(settings.store)
        try:
            with ExitStack() as open_pools:
                # A pool for each worker: trials of one split are to come to the one that has prepared it.
                pools = [open_pools.enter_context(closing(_Pool(settings, timeout))) for _ in range(jobs)]
                try:
                    _feed(pools, schedule, settings, timeout, note, leftovers)
                except BaseException:
                    for pool in pools:
                        pool.stop()
                    raise
        finally:
            leftovers.end()


class _Pool:
    """A worker process, replaced when it dies: by pebble while it runs a trial, by this class before it runs one.

    Args:
        settings: for the worker.
        timeout: seconds per trial, or None.
    """

    def __init__(self, settings: WorkerSettings, timeout: float | None) -> None:
        self._settings, self._timeout = settings, timeout
        self._pool = self._new()

    def _new(self) -> Any:
        from pebble import ProcessPool

        # A fresh process, not a fork: threads of BLAS and numba do not survive a fork.
        context = multiprocessing.get_context("spawn")
        return ProcessPool(1, initializer=_start, initargs=[self._settings], context=context)

    def schedule(self, planned: Planned) -> Future[Any]:
        """Let the worker run a trial when it is free."""
        try:
            return self._schedule(planned)
        except RuntimeError:  # the worker died with nothing to do
            self.renew()
            return self._schedule(planned)

    def _schedule(self, planned: Planned) -> Future[Any]:
        future: Future[Any] = self._pool.schedule(_run, args=[planned], timeout=self._timeout)
        return future

    @property
    def broken(self) -> bool:
        """Whether its worker died before it ran a trial: what waits for it is never run."""
        return not self._pool.active

    def renew(self) -> None:
        """Start another worker."""
        self.close()
        self._pool = self._new()

    def stop(self) -> None:
        """Run nothing more."""
        self._pool.stop()

    def close(self) -> None:
        """Let what waits be run, and end the worker."""
        self._pool.close()
        self._pool.join()


_PATIENCE = 0.1
"""Seconds without news after which it is looked whether a worker is gone."""
_LOST = TrialStopped("killed", "its process was killed before it began")
_LONG_PATIENCE = 10.0
"""Seconds after which a worker whose exit code is not known counts as one that the pool does not notice."""


def _feed(
    pools: list[_Pool],
    schedule: Schedule,
    settings: WorkerSettings,
    timeout: float | None,
    note: Callable[[TrialStatus], None],
    leftovers: _WorkersLeftovers,
) -> None:
    """Hand each pool a trial, and a second one while there are many, and collect what comes of them."""
    waiting: dict[Future[Any], tuple[Planned, int]] = {}
    handed, again, room = Counter[int](), set[str](), _memory()

    def room_beside() -> float:
        """Bytes that one more trial may need beside the others; what needs more than there is runs alone."""
        taken = sum(schedule.memory.get(planned.name, 0.0) for planned, _ in waiting.values())
        return room - taken if taken else math.inf

    def hand(planned: Planned, place: int) -> None:
        waiting[pools[place].schedule(planned)] = planned, place
        handed[place] += 1

    def end(future: Future[Any], done: TrialStatus | TrialStopped) -> None:
        """Note what came of a trial, or run it once more."""
        planned, place = waiting.pop(future)
        handed[place] -= 1
        if isinstance(done, TrialStopped):
            leftovers.end(planned.name)
            if done.kind == "killed" and planned.name not in again:
                again.add(planned.name)
                hand(planned, place)
                return
            done = fail(planned, settings, done, timeout or 0.0)
        note(done)

    while True:
        for most in (1, 2):
            for place in range(len(pools)):
                if handed[place] < most and (most == 1 or len(schedule) > 2 * len(pools)):
                    planned = schedule.take(place, len(pools), room_beside())
                    if planned is not None:
                        hand(planned, place)
        if not waiting:
            return
        finished, _ = wait(waiting, timeout=_PATIENCE, return_when=FIRST_COMPLETED)
        leftovers.look()
        for future in finished:
            end(future, _collect(future, settings, timeout))
        if not finished:
            for future, message in _vanished(waiting, settings, leftovers):
                end(future, TrialStopped("exit", message))
            for future in [future for future, (_, place) in waiting.items() if pools[place].broken]:
                if not future.done():
                    end(future, _LOST)


def _memory() -> float:
    """Bytes that this machine has to spare now."""
    import psutil

    return float(psutil.virtual_memory().available)


def _collect(future: Future[Any], settings: WorkerSettings, timeout: float | None) -> TrialStatus | TrialStopped:
    """The worker's answer, or how it ended without one."""
    from pebble import ProcessExpired

    try:
        status: TrialStatus = future.result()
    except TimeoutError:
        return TrialStopped("time", f"it took longer than the time limit of {timeout or 0.0:g} s")
    except ProcessExpired as error:
        died = ending(error.exitcode, settings.memory)
        return TrialStopped(died.kind, str(died))
    except BrokenExecutor:
        return _LOST
    except CancelledError:
        raise KeyboardInterrupt from None
    except StoreError:
        raise
    except Exception as error:
        return TrialStopped("error", f"its process could not run it: {type(error).__name__}: {error}")
    return status


def _vanished(
    waiting: dict[Future[Any], tuple[Planned, int]], settings: WorkerSettings, leftovers: _WorkersLeftovers
) -> Iterator[tuple[Future[Any], str]]:
    """Trials whose worker ended with exit code 0, which the pool does not notice; it does the others, in its time."""
    gone = {
        mark.trial
        for mark in marks_of_the_dead(settings.store)
        if mark.run == os.getpid() and leftovers.left_in_order(mark.process)
    }
    for future, (planned, _) in list(waiting.items()):
        # Not one that the pool has noticed by now: cancelling fails when there is a result.
        if planned.name in gone and not future.done() and future.cancel():
            yield (future, "its process died: something in it called for the process to exit, as if all were well")


class _WorkersLeftovers:
    """Ends what dead workers left: their process groups, what they were the parents of, and their marks."""

    def __init__(self, store: Path) -> None:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()
        self._store = store
        self._workers: set[int] = set()
        self._processes: dict[int, Any] = {}
        self._dead_since: dict[int, float] = {}
        self._before = {child.pid for child in psutil.Process().children()}

    def look(self) -> None:
        """Learn which workers there are."""
        self._processes |= _workers()
        self._workers |= set(_workers())

    def left_in_order(self, worker: int) -> bool:
        """Whether a dead worker ended with exit code 0; one that was never seen alive, after a while."""
        if worker in self._processes:
            return bool(self._processes[worker].exitcode == 0)
        since = self._dead_since.setdefault(worker, time.monotonic())
        return time.monotonic() - since > _LONG_PATIENCE

    def end(self, trial: str | None = None) -> None:
        """End what is left of workers that are gone, and remove the marks of a trial (of all trials when None)."""
        dead = self._workers - set(_workers())
        self._workers -= dead
        for worker in dead:
            end_group(worker)
        end_strays({*self._before, *filter(self._spared, (c.pid for c in psutil.Process().children()))})
        for mark in marks_of_the_dead(self._store):
            # The mark of a trial that is still waited for is all that tells of its worker's end.
            if mark.run == os.getpid() and trial in (None, mark.trial):
                mark.remove()

    @staticmethod
    def _spared(process: int) -> bool:
        """A worker; one that starts now has not left the session of this process yet."""
        try:
            return process in _workers() or os.getsid(process) == os.getsid(0)
        except OSError:
            return False


def _workers() -> dict[int, Any]:
    return {process.pid: process for process in multiprocessing.active_children() if process.pid is not None}


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Environment variables for the workers: one BLAS thread, ``count`` for numba."""
    variables = thread_variables(count)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
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
    if settings.memory is not None and settings.isolation == "none":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (settings.memory, settings.memory))
    from bench_core.plugins.described import described_registry
    from bench_core.plugins.manager import load_registry

    if settings.isolation == "none":
        registry = load_registry()
    else:
        closed = [settings.store, *([settings.context.mirror] if settings.context.mirror else [])]
        registry = described_registry(cache=settings.context.cache, closed=closed, acting=False)
        registry.close()  # nothing is asked while trials run
    _WORKER = Worker(settings, registry)


def _run(planned: Planned) -> TrialStatus:
    if _WORKER is None:
        raise RuntimeError("the worker was not started")
    return _WORKER.run(planned)
