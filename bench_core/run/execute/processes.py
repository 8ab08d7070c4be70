"""The process executor: worker processes that run one trial at a time, with limits of time and memory per trial."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from unittest.mock import patch

import psutil
from bench_sandbox import adopt_orphans, adopting_orphans, children, die_with_parent, end_group, end_strays, ending
from bench_store import left_marks

from bench_core.contract.errors import StoreError
from bench_core.run.execute.schedule import Schedule
from bench_core.run.execute.worker import RUNNING, TrialStatus, Worker, WorkerSettings, fail
from bench_core.run.failures import TrialStopped
from bench_core.run.libraries import library_variables
from bench_core.run.plan import Planned

__all__ = ["run_in_processes"]

_PATIENCE = 0.1
"""Seconds between checks whether a worker has died or exceeded its time limit."""
_GRACE = 5.0
"""Seconds before a worker that does not exit is killed."""


def run_in_processes(
    schedule: Schedule, settings: WorkerSettings, jobs: int, timeout: float | None, note: Callable[[TrialStatus], None]
) -> None:
    """Run trials in worker processes and store their records; a killed trial gets a failed record.

    Args:
        schedule: the trials and their order.
        settings: for the workers, including the bytes that each may allocate.
        jobs: number of processes.
        timeout: seconds per trial, or None; after them the process is killed.
        note: called in this process after every trial.
    """
    with adopting_orphans(), patch.dict(os.environ, library_variables(settings.threads)):
        resource_tracker.ensure_running()  # a permanent child of this process
        workers = _Workers(settings, timeout)
        try:
            _feed(workers, schedule, jobs, note)
        except BaseException:
            workers.end(0.0)
            raise
        workers.end(_GRACE)


def _feed(workers: _Workers, schedule: Schedule, jobs: int, note: Callable[[TrialStatus], None]) -> None:
    """Give each worker trials, and collect the results."""
    again, room = set[str](), float(psutil.virtual_memory().available)
    while True:
        for place in set(range(jobs)) - workers.busy.keys():
            taken = sum(schedule.memory.get(worker.planned.name, 0.0) for worker in workers.busy.values())
            # A trial that needs more memory than is available runs without others.
            if (planned := schedule.take(place, jobs, room - taken if taken else math.inf)) is not None:
                workers.give(place, planned)
        if not workers.busy:
            return
        for place, planned, done in workers.answers():
            if not isinstance(done, TrialStopped):
                note(done)
            elif done.kind == "killed" and planned.name not in again:
                again.add(planned.name)
                workers.give(place, planned)
            else:
                note(fail(planned, workers.settings, done, workers.timeout or 0.0))


class _Process:
    """A worker process and its last trial."""

    def __init__(self, settings: WorkerSettings, timeout: float | None) -> None:
        # A fresh process, not a fork: threads of BLAS and numba do not survive a fork.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        with theirs:
            self._process = context.Process(target=_serve, args=[theirs, settings])
            self._process.start()
        self.number = self._process.pid
        self._timeout, self._memory = timeout, settings.memory

    def give(self, planned: Planned) -> None:
        """Send it a trial to run."""
        self.planned = planned
        self._has_begun, self._until = False, math.inf
        with suppress(OSError):  # it is dead, which answer() will report
            self.connection.send(planned)

    def answer(self) -> TrialStatus | TrialStopped | None:
        """The result of its trial; None while it is running."""
        try:
            while self.connection.poll():
                said: TrialStatus | StoreError | KeyboardInterrupt | str | None = self.connection.recv()
                if isinstance(said, StoreError | KeyboardInterrupt):
                    raise said
                if said is not None:
                    return TrialStopped("error", said) if isinstance(said, str) else said
                self._has_begun = True
                self._until = math.inf if self._timeout is None else time.monotonic() + self._timeout
        except (EOFError, OSError):
            self._process.join(_GRACE)
        if self._process.is_alive():
            if time.monotonic() < self._until:
                return None
            return TrialStopped("time", f"it took longer than the time limit of {self._timeout or 0.0:g} s")
        if not self._has_begun:
            return TrialStopped("killed", "its process was killed before it began")
        died = ending(self._process.exitcode, self._memory)
        return TrialStopped(died.kind, str(died))

    def end(self, grace: float = 0.0) -> None:
        """Wait ``grace`` seconds for the worker to exit, then kill it and its process group."""
        self.connection.close()
        self._process.join(grace)
        self._process.kill()
        self._process.join()
        end_group(self.number or 0)


class _Workers:
    """Worker processes by number, started when they are needed.

    Attributes:
        busy: the workers that run a trial.
    """

    def __init__(self, settings: WorkerSettings, timeout: float | None) -> None:
        self.settings, self.timeout = settings, timeout
        self.busy: dict[int, _Process] = {}
        self._all: dict[int, _Process] = {}
        self._before = children(os.getpid())

    def give(self, place: int, planned: Planned) -> None:
        """Let an idle worker run a trial."""
        if place not in self._all:
            self._all[place] = _Process(self.settings, self.timeout)
        self._all[place].give(planned)
        self.busy[place] = self._all[place]

    def answers(self) -> Iterator[tuple[int, Planned, TrialStatus | TrialStopped]]:
        """Wait a moment; yield number, trial and result for each trial that has ended."""
        wait([worker.connection for worker in self.busy.values()], _PATIENCE)
        for place, worker in list(self.busy.items()):
            if (answer := worker.answer()) is not None:
                del self.busy[place]
                if isinstance(answer, TrialStopped):
                    self._all.pop(place).end()
                    self._tidy()
                yield place, worker.planned, answer

    def end(self, grace: float) -> None:
        """End all of them."""
        while self._all:
            self._all.popitem()[1].end(grace)
        self._tidy()

    def _tidy(self) -> None:
        """End the child processes of dead workers, and remove the workers' marks."""
        end_strays({*self._before, *(worker.number or 0 for worker in self._all.values())})
        for mark in left_marks(self.settings.store / RUNNING):
            if mark.leader == os.getpid():
                mark.remove()


def _serve(connection: Connection, settings: WorkerSettings) -> None:
    """Run the worker's loop: for every trial, send None when it begins, then its result."""
    worker = _started(settings)
    while True:
        try:
            planned = connection.recv()
            connection.send(None)
            connection.send(worker.run(planned))
        except (EOFError, BrokenPipeError):
            return worker.close()
        except StoreError as error:
            connection.send(StoreError(str(error)))
        except KeyboardInterrupt:  # raised by a plugin, without isolation
            connection.send(KeyboardInterrupt())
        except Exception as error:
            connection.send(f"its process could not run it: {type(error).__name__}: {error}")


def _started(settings: WorkerSettings) -> Worker:
    # Ctrl-C is for the parent, which stops the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A new session: the worker's child processes can be distinguished from the parent's, and ended with the worker.
    os.setsid()
    die_with_parent()
    if settings.run is not None and os.getppid() != settings.run:
        os._exit(1)  # the parent died before the call of die_with_parent
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
        registry.close()  # plugins are not asked while trials run
    return Worker(settings, registry)
