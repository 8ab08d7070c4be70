"""Sharing the compilation of the subset regressions between processes that start one soon after the other.

Two workers without compiled kernels that both fit subset regressions would compile the same functions in the same
order, side by side. What one of them has compiled the other loads from numba's cache on disk, so it helps when the
second begins with what the first comes to last.
"""

from __future__ import annotations

from pathlib import Path

from numba import boolean, float64, int32, int64, uint64
from numba.core import config

from ._kernels_decide import decide_range
from ._kernels_lookup import find_many, insert_many
from ._kernels_regression import _gradient, _hessian

__all__ = ["compile_after_others", "compile_from_the_end"]


def compile_after_others() -> None:
    """`compile_from_the_end` where another process has begun to fill numba's cache.

    That is told by compiled functions in the folder that the cache was given; without one there is nothing to do.
    """
    folder = getattr(config, "CACHE_DIR", "")
    if folder and any(Path(folder).rglob("*.nbc")):
        compile_from_the_end()


def compile_from_the_end() -> None:
    """Compile, or load, what a fit comes to last, the last first; nothing that fitting would not need.

    With these signatures: those of arrays as `SubsetModels` and `SubsetCache` make them.
    """
    lines, numbers, matrix = int64[::1], float64[::1], float64[:, ::1]
    flags, words, sets, places = boolean[:, ::1], uint64[:, ::1], uint64[::1], int32[::1]
    insert_many.compile((sets, int64, places, sets, places))
    decide_range.compile((matrix, int64, lines, flags, float64[:, :, ::1], float64, int64, int64, words, words))
    find_many.compile((sets, places, sets, places, lines))
    _hessian.compile((matrix, lines, int64, matrix, matrix, float64, numbers, matrix, matrix))
    _gradient.compile((matrix, lines, int64, numbers, matrix, matrix, matrix, float64, numbers, numbers))
