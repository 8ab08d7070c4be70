"""What rows need next on their ways through trees, while some of their features are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_models.trees.flat import FlatTrees, checked_rows

__all__ = ["checked_known", "next_units"]


def next_units(
    trees: FlatTrees, X: NDArray[np.float64], known: NDArray[np.bool_], last: int | None = None
) -> NDArray[np.bool_]:
    """In every tree the first unit on a row's way that is not known: a row that passes all trees needs them all.

    Args:
        trees: the trees.
        X: float64 (rows, columns); values of unknown units are not read.
        known: bool (rows, units).
        last: the first so many trees; all when None.

    Returns:
        bool (rows, units): none of them known; nothing for a row that reaches a leaf in every tree.

    Raises:
        ValueError: the rows have other columns than the trees were grown on.
    """
    from bench_models.trees.kernels import mark_blocked

    rows = checked_rows(trees, X)
    wanted = np.zeros(known.shape, dtype=np.bool_)
    if len(rows):
        mark_blocked(trees, rows, checked_known(known), trees.trees if last is None else last, wanted)
    return wanted


def checked_known(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What is known as compiled walks read it: C-contiguous and read-only, one type for the kernels."""
    held = np.ascontiguousarray(known, dtype=np.bool_).view()
    held.flags.writeable = False
    return held
