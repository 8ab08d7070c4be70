"""Running a plan: in this process, or in worker processes with hard limits."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from bench_core.contract.dataset import DataContext
from bench_core.plugins.registry import Registry
from bench_core.run.execute.interrupts import Interrupts
from bench_core.run.execute.leftovers import adopting_orphans
from bench_core.run.execute.worker import TrialStatus, Worker, WorkerSettings
from bench_core.run.plan import DatasetCache, Plan, Planned
from bench_core.run.threads import one_blas_thread

__all__ = ["Options", "Summary", "TrialStatus", "execute"]


@dataclass(frozen=True)
class Options:
    """How to run.

    Attributes:
        jobs: worker processes.
        executor: ``serial``, ``processes``, or ``auto``: processes when several jobs or a limit are asked for.
        timeout: seconds a trial may take, or None.
        memory: bytes a worker may allocate, or None.
        retry_failed: run trials again that failed before.
    """

    jobs: int = 1
    executor: str = "auto"
    timeout: float | None = None
    memory: int | None = None
    retry_failed: bool = False

    @property
    def resolved(self) -> str:
        """``serial`` or ``processes``."""
        if self.executor != "auto":
            return self.executor
        limited = self.timeout is not None or self.memory is not None
        return "processes" if self.jobs > 1 or limited else "serial"


@dataclass
class Summary:
    """What a run did.

    Attributes:
        computed: trials computed now.
        failures: (planned trial, message) of those that failed now.
    """

    computed: int = 0
    failures: list[tuple[Planned, str]] = field(default_factory=list)


def execute(
    plan: Plan,
    registry: Registry,
    store: Path,
    context: DataContext,
    metrics: tuple[str, ...],
    options: Options,
    cache: DatasetCache | None = None,
    progress: Callable[[Planned, TrialStatus], None] = lambda planned, done: None,
) -> Summary:
    """Run what the plan says is missing.

    Args:
        plan: from `bench_core.run.plan.make_plan`.
        registry: the loaded plugins.
        store: the store's directory.
        context: where data comes from.
        metrics: names of the suite's metrics.
        options: how.
        cache: data sets that were loaded while planning.
        progress: called after every trial.
    """
    todo = plan.to_run(options.retry_failed)
    summary = Summary()
    if not todo:
        return summary
    by_name = {planned.name: planned for planned in todo}

    def note(done: TrialStatus) -> None:
        summary.computed += 1
        planned = by_name[done.name]
        if done.status == "failed":
            summary.failures.append((planned, done.message))
        progress(planned, done)

    cores = os.cpu_count() or 1
    if options.resolved == "serial":
        settings = WorkerSettings(store, context, metrics, threads=cores)
        interrupts = Interrupts()
        with closing(Worker(settings, registry, cache, interrupts)) as worker:
            _run_here(todo, worker, interrupts, note)
    else:
        from bench_core.run.execute.processes import run_in_processes

        threads = max(1, cores // options.jobs)
        settings = WorkerSettings(store.absolute(), context, metrics, threads, options.memory, os.getpid())
        run_in_processes(todo, settings, options.jobs, options.timeout, note)
    return summary


def _run_here(
    todo: list[Planned], worker: Worker, interrupts: Interrupts, note: Callable[[TrialStatus], None]
) -> None:
    """Run trials in this process, one after another."""
    with one_blas_thread(), adopting_orphans(), interrupts:
        for planned in todo:
            note(worker.run(planned))
            if interrupts.seen:  # a method that catches everything caught this, too
                raise KeyboardInterrupt
