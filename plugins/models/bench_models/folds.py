"""Folds of the training part, for fitting on a model's answers for rows that it has not seen.

The validation part selects among policies, and anything fitted on it looks better there than it is. So calibration and
similar steps are fitted on out-of-fold answers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench_core import Part, Problem

__all__ = ["folds", "others", "taking"]


def folds(problem: Problem, count: int) -> list[NDArray[np.int64]]:
    """A partition of the training rows; sizes differ by at most one row per class.

    Each class is spread over all folds; rows of one query stay together. The folds depend on the trial's seed.

    Args:
        problem: its training part is divided.
        count: number of folds, at least 2; fewer if there are fewer rows (or queries).

    Returns:
        int64 positions in the training part, ascending, of each fold that is not empty.
    """
    train = problem.train
    groups, group = np.unique(train.query, return_inverse=True) if train.query is not None else (train.y, None)
    units = len(groups) if group is not None else len(train)
    order = problem.rng("folds").permutation(units)
    if problem.n_classes and group is None:
        order = order[np.argsort(np.asarray(train.y)[order], kind="stable")]
    fold = np.empty(units, dtype=np.int64)
    fold[order] = np.arange(units) % count
    of_row = fold if group is None else fold[group.reshape(-1)]
    return [rows for number in range(count) if len(rows := np.flatnonzero(of_row == number))]


def others(problem: Problem, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The training rows that are not among these: int64 positions, ascending."""
    return np.setdiff1d(np.arange(len(problem.train)), rows)


def taking(problem: Problem, rows: NDArray[np.int64]) -> Problem:
    """The problem with only these training rows, sharing no cache with fits on other rows.

    Args:
        problem: the original problem.
        rows: int64: positions in the training part.
    """
    train = problem.train
    part = Part(
        train.X[rows],
        train.y[rows],
        None if train.sizes is None else train.sizes[rows],
        None if train.query is None else train.query[rows],
    )
    return replace(problem, train=part, work=type(problem.work)())
