"""Sharing the compilation of the subset regressions between processes that start at about the same time.

Two such processes would compile the same functions in the same order. Each loads from numba's cache on disk what the
other has compiled. So the second process compiles in reverse order, and each compiles about half.
"""

from __future__ import annotations

from pathlib import Path

from bench_models.subsets.kernels_regression import loss_gradient, loss_hessian
from numba import boolean, float64, int32, int64, uint64
from numba.core import config

from ._kernels_decide import decide_range
from ._kernels_lookup import find_many, insert_many

__all__ = ["compile_after_others", "compile_from_the_end"]


def compile_after_others() -> None:
    """Call `compile_from_the_end` if another process has started to fill numba's cache.

    The sign of this is a compiled function in numba's cache folder. Without a configured folder, nothing is done.
    """
    folder = getattr(config, "CACHE_DIR", "")
    if folder and any(Path(folder).rglob("*.nbc")):
        compile_from_the_end()


def compile_from_the_end() -> None:
    """Compile or load the kernels of a fit, the last used first.

    The signatures are those of the arrays that `SubsetModels` and `SubsetCache` create.
    """
    lines, numbers, matrix = int64[::1], float64[::1], float64[:, ::1]
    flags, sets, places = boolean[:, ::1], uint64[::1], int32[::1]
    insert_many.compile((sets, int64, places, sets, places))
    fits, bits = float64[:, :, ::1], uint64[:, :, ::1]
    decide_range.compile((matrix, int64, int64, lines, flags, fits, numbers, int64, int64, int64, bits, bits))
    find_many.compile((sets, places, sets, places, lines))
    loss_hessian.compile((matrix, lines, int64, matrix, matrix, float64, numbers, matrix, matrix))
    loss_gradient.compile((matrix, lines, int64, numbers, matrix, matrix, matrix, float64, numbers, numbers))
