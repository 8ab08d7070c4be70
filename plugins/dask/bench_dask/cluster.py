"""Connect to the cluster that runs the trials: that of a given scheduler, or workers on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core import RequestError
from bench_core.execution import Work

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["connected"]

_CONNECT = "20s"
_IDLE = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}
"""Settings that turn off Dask's profiling, which samples stacks every 10 ms and checks event loops every 20 ms. With
one worker, profiling takes 4 % of a core, and its results are not used."""


@contextmanager
def connected(work: Work) -> Iterator[Client]:
    """Yield a client of the scheduler given by ``--scheduler``, or of a cluster on this machine that ends with the run.

    Raises:
        RequestError: no scheduler answers at the address.
    """
    address = work.options.plugin_options.get("scheduler")
    with _quiet():
        if address:
            with _client(str(address)) as client:
                yield client
        else:
            with _workers_here(work) as scheduler, _client(scheduler) as client:
                yield client


@contextmanager
def _client(address: str) -> Iterator[Client]:
    from distributed import Client
    from distributed.comm.addressing import get_address_host

    try:
        get_address_host(address)  # raises before a partly initialised client exists
        client = Client(address, timeout=_CONNECT, set_as_default=False, name="budgetbench")  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RequestError(f"no Dask scheduler answers at {address}: {reason}") from None
    try:
        yield client
    finally:
        client.close(timeout=5)  # type: ignore[no-untyped-call]


@contextmanager
def _workers_here(work: Work) -> Iterator[str]:
    """Yield the address of a scheduler in this process, with ``--jobs`` workers that run one trial at a time each."""
    import dask
    from distributed import LocalCluster

    context = work.settings.context
    here = {"BUDGETBENCH_CACHE": str(context.cache.absolute()), "BUDGETBENCH_OFFLINE": str(int(context.offline))}
    here["BUDGETBENCH_MIRROR"] = str(Path(context.mirror).absolute()) if context.mirror else ""
    with (
        dask.config.set(_IDLE),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=work.options.jobs,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port; by default it tries 8787, and warns
            memory_limit=0,  # trials run in separate processes
            local_directory=str(context.cache / "dask"),  # Dask removes files of dead workers there
            silence_logs=logging.CRITICAL,
            env=here,
        ) as cluster,
    ):
        yield cluster.scheduler_address


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log messages; the run reports the relevant events itself."""
    names = ("distributed", "tornado.application", "bokeh", "asyncio")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
