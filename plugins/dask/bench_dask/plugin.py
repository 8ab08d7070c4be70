"""The plugin's entry point, which registers the executor ``dask``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_core import hookimpl
from bench_core.execution import RegisterExecutor

if TYPE_CHECKING:
    from bench_core.execution import Work

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_executors(register: RegisterExecutor) -> None:
    """Register the executor."""
    register("dask", _run)


def _run(work: Work) -> None:
    from bench_dask.executor import run_on_dask

    run_on_dask(work)
