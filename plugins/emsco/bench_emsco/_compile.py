"""Sharing the compilation of the subset regressions between processes that start together.

Two workers without compiled kernels that both fit subset regressions would compile the same functions in the same
order, side by side. What one of them has compiled the other loads from numba's cache on disk, so it helps when one
begins with what the fits need last.
"""

from __future__ import annotations

from numba import boolean, float64, int64, uint64

from ._kernels_decide import decide_range
from ._kernels_regression import _gradient, _hessian

__all__ = ["compile_from_the_end"]


def compile_from_the_end() -> None:
    """Compile, or load, what `fit_range` comes to last, and what follows it; nothing that fitting would not need.

    With these signatures: those of arrays as `SubsetModels` and `SubsetCache` make them.
    """
    lines, numbers, matrix = int64[::1], float64[::1], float64[:, ::1]
    flags, words = boolean[:, ::1], uint64[:, ::1]
    _hessian.compile((matrix, lines, int64, matrix, matrix, float64, numbers, matrix, matrix))
    _gradient.compile((matrix, lines, int64, numbers, matrix, matrix, matrix, float64, numbers, numbers))
    decide_range.compile(
        (matrix, int64, lines, flags, float64[:, :, ::1], float64, int64, int64, words, words)
    )
