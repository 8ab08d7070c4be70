"""One thread of linear algebra, from the start: how many there are must not show in data, a record or a page.

The command line says so in the environment before a library is loaded. Where the core is used from Python, libraries
are loaded already, and are told when data is loaded, a trial is run or a page is rendered.
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
"""What the libraries read when they are loaded. Not ``OMP_NUM_THREADS``: methods' own kernels get the other cores."""


def start_with_one_blas_thread() -> None:
    """Tell libraries that are still to be loaded; for the start of a process."""
    os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))


def thread_variables(threads: int) -> dict[str, str]:
    """Environment variables for a process that runs trials: one BLAS thread, and some for methods' own kernels."""
    return {**dict.fromkeys(("OMP_NUM_THREADS", *BLAS_VARIABLES), "1"), "NUMBA_NUM_THREADS": str(threads)}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """One thread within, in the libraries that are loaded by now; what was before, after."""
    with _loaded().limit(limits=1, user_api="blas"):
        yield


_CONTROLLERS: list[tuple[tuple[int, str], ThreadpoolController]] = []


def _loaded() -> ThreadpoolController:
    """The libraries that are loaded by now; looked for again, which takes milliseconds, when a module was imported."""
    from threadpoolctl import ThreadpoolController

    modules = len(sys.modules), next(reversed(sys.modules))
    if not _CONTROLLERS or _CONTROLLERS[0][0] != modules:
        _CONTROLLERS[:] = [(modules, ThreadpoolController())]
    return _CONTROLLERS[0][1]
