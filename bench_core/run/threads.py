"""Limit linear algebra to one thread, so that data, records and pages do not depend on the number of threads.

The command line sets environment variables before libraries are loaded. When the core is used from Python, libraries
are loaded already; they are limited while data is loaded, a trial is run or a page is rendered.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Variables that BLAS libraries read when they are loaded. ``OMP_NUM_THREADS`` is for methods' kernels instead."""


def start_with_one_blas_thread() -> None:
    """Limit libraries that will be loaded later; call it at the start of a process."""
    os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))


def thread_variables(threads: int) -> dict[str, str]:
    """Environment variables for a process that runs trials: one BLAS thread, ``threads`` for methods' kernels."""
    return {**dict.fromkeys(("OMP_NUM_THREADS", *BLAS_VARIABLES), "1"), "NUMBA_NUM_THREADS": str(threads)}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the loaded libraries to one thread within the block, and restore their setting after it."""
    with _loaded().limit(limits=1, user_api="blas"):
        yield


_CONTROLLERS: list[tuple[tuple[int, str], ThreadpoolController]] = []


def _loaded() -> ThreadpoolController:
    """The loaded libraries. The search takes milliseconds and is repeated only after modules were imported."""
    from threadpoolctl import ThreadpoolController

    modules = len(sys.modules), next(reversed(sys.modules))
    if not _CONTROLLERS or _CONTROLLERS[0][0] != modules:
        _CONTROLLERS[:] = [(modules, ThreadpoolController())]
    return _CONTROLLERS[0][1]
