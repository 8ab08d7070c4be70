"""The features that rows need next on their paths through trees, given those that are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_models.trees.flat import FlatTrees, checked_rows

__all__ = ["checked_known", "next_units"]


def next_units(
    trees: FlatTrees, X: NDArray[np.float64], known: NDArray[np.bool_], last: int | None = None
) -> NDArray[np.bool_]:
    """For every tree, the first unknown unit on the row's path; a row needs these units of all trees.

    Args:
        trees: the trees.
        X: float64 (rows, columns); values of unknown units are not read.
        known: bool (rows, units).
        last: number of trees to use, from the first; all if None.

    Returns:
        bool (rows, units): only unknown units; none for a row that reaches a leaf in every tree.

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
    """The known units in the form that kernels are compiled for: C-contiguous and read-only."""
    held = np.ascontiguousarray(known, dtype=np.bool_).view()
    held.flags.writeable = False
    return held
