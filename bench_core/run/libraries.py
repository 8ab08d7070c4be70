"""Fix what numerical libraries' results depend on: one thread of linear algebra, and the same kernels everywhere.

The command line sets environment variables before libraries are loaded, and every process that runs trials starts with
them. When the core is used from Python, libraries are loaded already: their threads are limited while data is loaded,
a trial is run or a page is rendered.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile

BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Variables that BLAS libraries read when they are loaded. ``OMP_NUM_THREADS`` is for methods' kernels instead."""

_KERNELS = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
"""Variables that make OpenBLAS and NumPy use AVX2, even on processors with AVX-512, which round differently."""


def start_with_fixed_libraries() -> None:
    """Set the variables for libraries that will be loaded later; call it at the start of a process."""
    os.environ.update({**dict.fromkeys(BLAS_VARIABLES, "1"), **kernel_variables()})


def library_variables(threads: int) -> dict[str, str]:
    """Environment variables for a process that runs trials.

    One BLAS thread, ``threads`` for methods' kernels, and OpenBLAS and NumPy with AVX2 if the processor has it.
    Kernels that the environment names already are kept.
    """
    one = dict.fromkeys(("OMP_NUM_THREADS", *BLAS_VARIABLES), "1")
    return {**one, "NUMBA_NUM_THREADS": str(threads), **kernel_variables()}


def kernel_variables() -> dict[str, str]:
    """Environment variables that make OpenBLAS and NumPy use AVX2; none if the processor lacks it or is not known."""
    # OpenBLAS does not check whether the processor can run the kernels that a variable names.
    usable = {"avx2", "fma"} <= set(first_processor().get("flags", "").split())
    return {name: os.environ.get(name, value) for name, value in _KERNELS.items() if usable}


def first_processor() -> dict[str, str]:
    """The first processor's fields in Linux' list of processors; nothing on other systems."""
    with suppress(OSError), open("/proc/cpuinfo") as listed:  # a line is empty after each processor, of maybe hundreds
        lines = takewhile(str.strip, listed)
        return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return {}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the loaded libraries to one thread within the block, and restore their setting after it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
