"""Training LightGBM, deterministically."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

if TYPE_CHECKING:
    import lightgbm

__all__ = ["objective_of", "train"]

_GREATEST_GRADE = 30
_WORTH_THREADS = 10_000_000
"""Number of values below which one thread is used: on a busy machine, synchronising threads costs far more."""


def objective_of(problem: Problem, ranking: str) -> dict[str, Any]:
    """LightGBM's objective for a task.

    Raises:
        ValueError: ``ranking`` is ``lambdarank`` and the grades are not integers from 0 to 30.
    """
    if problem.task == "ranking" and ranking == "lambdarank":
        y = problem.train.y
        if (y != np.round(y)).any() or y.min(initial=0) < 0 or y.max(initial=0) > _GREATEST_GRADE:
            raise ValueError(
                f"lambdarank needs grades that are whole numbers from 0 to {_GREATEST_GRADE}; "
                "set ranking = 'pointwise' for others"
            )
        return {"objective": "lambdarank"}
    if not problem.n_classes:
        return {"objective": "regression"}
    if problem.n_classes == 2:
        return {"objective": "binary"}
    return {"objective": "multiclass", "num_class": problem.n_classes}


def train(
    problem: Problem, rounds: int, parameters: dict[str, Any], columns: NDArray[np.int64] | None = None
) -> lightgbm.Booster:
    """Train on the training part; the same booster for any number of threads.

    Args:
        problem: the rows of a query need not be contiguous.
        rounds: boosting rounds.
        parameters: LightGBM's parameters with the objective; they override the settings made here.
        columns: int64: the columns to train on, in this order; all when None.
    """
    import lightgbm

    part = problem.train
    X, y, group = part.X if columns is None else part.X[:, columns], np.asarray(part.y, dtype=np.float64), None
    threads = problem.threads if X.size >= _WORTH_THREADS else 1
    if parameters["objective"] == "lambdarank" and part.query is not None:
        order = np.argsort(part.query, kind="stable")
        X, y = X[order], y[order]
        group = np.unique(part.query, return_counts=True)[1]
    settings = {
        "verbosity": -1,
        "seed": problem.seed,
        "deterministic": True,
        "force_row_wise": True,
        "feature_pre_filter": False,
        "num_threads": threads,
        **parameters,
    }
    data = lightgbm.Dataset(np.ascontiguousarray(X), y, group=group, params=settings)
    return lightgbm.train(settings, data, num_boost_round=rounds)
