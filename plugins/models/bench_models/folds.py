"""Folds of the training part, for what is fitted on answers that a model gives to rows it has not seen.

What a method fits on the validation part looks better there than it is, and the validation part selects. So calibration
and the like are fitted on answers out of fold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench_core import Part, Problem

__all__ = ["folds", "taking"]


def folds(problem: Problem, count: int) -> list[NDArray[np.int64]]:
    """Disjoint sets of training rows that together are all of them; their sizes differ by one row per class at most.

    Each class is spread over all folds; rows of one query stay together. The folds depend on the trial's seed.

    Args:
        problem: its training part is divided.
        count: of folds, from 2; fewer where there are fewer rows (or queries).

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


def taking(problem: Problem, rows: NDArray[np.int64]) -> Problem:
    """The problem with these training rows only, and nothing shared with fits on others.

    Args:
        problem: what is taken from.
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
