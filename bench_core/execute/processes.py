"""The process executor: a pool of fresh processes, with a time and a memory limit per trial."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, TimeoutError, wait
from contextlib import contextmanager
from typing import Any

from bench_core.errors import StoreError
from bench_core.execute.worker import Done, Worker, WorkerSettings, environment, start_of_record
from bench_core.plan import Planned
from bench_core.store import Store
from bench_core.threads import BLAS_VARIABLES
from bench_core.trial import failed_record

__all__ = ["run_in_processes"]

_THREAD_VARIABLES = ("OMP_NUM_THREADS", *BLAS_VARIABLES)
_WORKER: Worker | None = None


def run_in_processes(
    todo: list[Planned],
    settings: WorkerSettings,
    jobs: int,
    timeout: float | None,
    memory: int | None,
    note: Callable[[Done], None],
) -> None:
    """Run trials in worker processes and store their records; a killed trial becomes a failed record.

    Args:
        todo: what to run.
        settings: for the workers.
        jobs: how many processes.
        timeout: seconds per trial, or None; the process is killed when they are over.
        memory: bytes a process may allocate, or None.
        note: called in this process after every trial.
    """
    from pebble import ProcessPool

    # Fresh processes, not forks: threads of BLAS and numba do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with (
        _threads(settings.threads),
        ProcessPool(
            max_workers=jobs, initializer=_start, initargs=[settings, memory], context=context
        ) as pool,
    ):
        waiting: dict[Future[Any], Planned] = {}
        queue = iter(todo)
        try:
            while True:
                for planned in queue:
                    waiting[pool.schedule(_run, args=[planned], timeout=timeout)] = planned
                    if len(waiting) >= 4 * jobs:
                        break
                if not waiting:
                    return
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    note(_collect(future, waiting.pop(future), settings, timeout))
        except BaseException:
            pool.stop()  # type: ignore[no-untyped-call]
            raise


def _collect(future: Future[Any], planned: Planned, settings: WorkerSettings, timeout: float | None) -> Done:
    """The worker's answer; when the worker died, a failed record in its place."""
    from pebble import ProcessExpired

    try:
        done: Done = future.result()
        return done
    except TimeoutError:
        said = RuntimeError(f"it took longer than the time limit of {timeout:g} s")
        step = "time limit"
    except ProcessExpired as error:
        said = RuntimeError(f"its process died (exit code {error.exitcode}); out of memory, perhaps")
        step = "process"
    except CancelledError:
        raise KeyboardInterrupt from None
    except StoreError:
        raise
    except Exception as error:
        said = RuntimeError(f"its process could not run it: {type(error).__name__}: {error}")
        step = "process"
    provenance = {**environment(), "dataset": planned.trial.dataset}
    Store(settings.store).write_failure(failed_record(start_of_record(planned, provenance), said, step, {}))
    return Done(planned.name, "failed", str(said), timeout or 0.0)


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


def _start(settings: WorkerSettings, memory: int | None) -> None:
    global _WORKER
    import signal

    # Ctrl-C is for the parent: it stops the pool.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    from bench_core.plugins import load_registry

    _WORKER = Worker(settings, load_registry())


def _run(planned: Planned) -> Done:
    if _WORKER is None:
        raise RuntimeError("the worker was not started")
    return _WORKER.run(planned)
