"""Running a plan: in this process, or in worker processes with hard limits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from bench_sandbox import adopting_orphans
from bench_store import work_under_way

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.plugins.distributions import imported_distributions
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.execute.schedule import Schedule, expected_memory, expected_seconds
from bench_core.run.execute.worker import KEPT, LEFT, RUNNING, TrialStatus, Worker, WorkerSettings, fail
from bench_core.run.failures import TrialStopped
from bench_core.run.libraries import one_blas_thread
from bench_core.run.plan import OVER_LIMIT, Plan, Planned
from bench_core.run.store import Store

__all__ = ["Executor", "Options", "Schedule", "Summary", "TrialStatus", "Work", "Worker", "execute"]


@dataclass(frozen=True)
class Options:
    """How to run.

    Attributes:
        jobs: number of worker processes.
        executor: ``serial``, ``processes``, the name of a plugin's executor, or ``auto``: processes if there are
            several jobs, or a limit without isolation.
        timeout: seconds that a trial's method may take (without isolation: the complete trial), or None.
        memory: bytes that a method's process may allocate, or None.
        retry_failed: run trials again that failed before, except those over the time limit.
        isolation: ``strict`` or ``process``: methods run in separate processes (`bench_core.run.execute.isolated`);
            ``none``: they run in the judge's process, for debuggers. Records name the level.
        skip_crashed: record trials during which an earlier run crashed as failed, instead of running them again.
        retry_over_limit: run trials again that took longer than the time limit before.
        audit_seed: the seed of a failed audit, to repeat it; None: every audit draws a secret one.
        skipped: names of trials that are recorded as failed without being run.
        plugin_options: options that plugins added to ``bench run``, by name.
    """

    jobs: int = 1
    executor: str = "auto"
    timeout: float | None = None
    memory: int | None = None
    retry_failed: bool = False
    isolation: str = "process"
    skip_crashed: bool = False
    retry_over_limit: bool = False
    audit_seed: int | None = None
    skipped: Collection[str] = ()
    plugin_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def resolved(self) -> str:
        """The executor's name."""
        if self.executor != "auto":
            return self.executor
        limited = self.isolation == "none" and (self.timeout is not None or self.memory is not None)
        return "processes" if self.jobs > 1 or limited else "serial"


@dataclass(frozen=True)
class Work:
    """The argument of an executor.

    Attributes:
        todo: the trials to run, each once.
        settings: the settings of each `Worker`, if ``options.jobs`` workers share this machine.
        options: how to run.
        note: the executor calls it in this process when a trial is done and stored.
        cache: this process's data sets, with its plugins (``cache.registry``).
        notice: the executor calls it with a line that users should see at once.
        seconds, memory: name → the expected seconds of a trial, and the bytes it may need, if its method declares them;
            see `Schedule`.
    """

    todo: list[Planned]
    settings: WorkerSettings
    options: Options
    note: Callable[[TrialStatus], None]
    cache: DatasetCache
    notice: Callable[[str], None] = lambda line: None
    seconds: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)


Executor = Callable[[Work], None]


@dataclass
class Summary:
    """The trials that a run computed.

    Attributes:
        computed: number of computed trials.
        kept: number of trials that another run on the same store computed meanwhile.
        failures: (planned trial, message) of those that failed.
        over_limit: (planned trial, message) of those that took longer than the time limit.
    """

    computed: int = 0
    kept: int = 0
    failures: list[tuple[Planned, str]] = field(default_factory=list)
    over_limit: list[tuple[Planned, str]] = field(default_factory=list)


def execute(
    plan: Plan,
    cache: DatasetCache,
    metrics: tuple[str, ...],
    options: Options,
    progress: Callable[[Planned, TrialStatus], None] = lambda planned, done: None,
    notice: Callable[[str], None] = lambda line: None,
) -> Summary:
    """Run the missing trials of a plan. Wait for those that another run on the same store is computing.

    Args:
        plan: from `bench_core.run.plan.make_plan`.
        cache: the data sets that were loaded while planning, with the plugins and the store.
        metrics: names of the suite's metrics.
        options: how to run.
        progress: called after every trial.
        notice: called with a line that users should see at once.

    Raises:
        RequestError: there is no such executor.
    """
    own: dict[str, Executor] = {"serial": _serial, "processes": _processes}
    registry, name = cache.registry, options.resolved
    if name not in own and name not in registry.executors:
        raise RequestError(f"there is no executor {name!r}; {did_you_mean(name, [*registry.executors, *own])}")
    executor = own.get(name) or registry.executors[name]
    todo = plan.to_run(options.retry_failed, options.retry_over_limit)
    summary = Summary()
    if not todo:
        return summary
    by_name, left = {planned.name: planned for planned in todo}, list[Planned]()

    def note(done: TrialStatus) -> None:
        planned = by_name[done.name]
        if done.status == LEFT:
            left.append(planned)
            return
        summary.computed += done.status != KEPT
        summary.kept += done.status == KEPT
        noted = {"failed": summary.failures, OVER_LIMIT: summary.over_limit}
        noted.get(done.status, []).append((planned, done.message))
        progress(planned, done)

    settings = WorkerSettings(
        cache.store.absolute(), cache.context, metrics, threads=max(1, (os.cpu_count() or 1) // options.jobs),
        memory=options.memory, run=os.getpid(), isolation=options.isolation, timeout=options.timeout,
        audit_seed=options.audit_seed, judge=tuple(imported_distributions()),
    )  # fmt: skip
    for planned in [planned for planned in todo if planned.name in options.skipped]:
        todo.remove(planned)
        note(fail(planned, settings, TrialStopped("crash", "an earlier run crashed in this trial; it was skipped")))
    seconds, memory = dict[str, float](), dict[str, float]()
    if name != "serial" and len(todo) > 1:
        done = (planned for planned in plan.planned if planned.state == "done")
        seconds, memory = expected_seconds(todo, done, Store(cache.store), cache), expected_memory(todo, cache)
    work = Work(todo, settings, options, note, cache, notice, seconds, memory)
    registry.close()  # plugins are not asked while trials run
    executor(work)
    while left:  # until the other run has computed them, or has died
        busy = {work[0] for work in work_under_way(cache.store / RUNNING) if isinstance(work, list)}
        free, left[:] = [one for one in left if one.name not in busy], [one for one in left if one.name in busy]
        executor(replace(work, todo=free)) if free else time.sleep(1.0)
    return summary


def _serial(work: Work) -> None:
    """Run trials in this process, one after another."""
    worker = Worker(work.settings, work.cache.registry, work.cache)
    # Orphaned processes are adopted until the worker is closed, so that those of plugins can be ended.
    with adopting_orphans(), closing(worker), one_blas_thread():
        for planned in work.todo:
            work.note(worker.run(planned))


def _processes(work: Work) -> None:
    """Run trials in worker processes."""
    from bench_core.run.execute.processes import run_in_processes

    # With isolation, the worker ends a method that takes too long. Without it, the worker must be ended.
    timeout = work.options.timeout if work.options.isolation == "none" else None
    schedule = Schedule(work.todo, work.seconds, work.memory)
    run_in_processes(schedule, work.settings, work.options.jobs, timeout, work.note)
