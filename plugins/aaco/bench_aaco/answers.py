"""LightGBM for any set of known features, trained on rows with random features masked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bench_models.boosting import BoostedModel, fit_boosted
from numpy.typing import NDArray

from bench_core import Part, Problem

__all__ = ["fit_answer", "masked"]


def masked(
    X: NDArray[np.float64], known: NDArray[np.bool_], feature_of_column: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Copy of X with NaN in the columns of unknown features.

    Args:
        X: float64 (rows, columns).
        known: bool (rows, features).
        feature_of_column: int64 (columns,).

    Returns:
        float64 (rows, columns).
    """
    return np.where(known[:, feature_of_column], X, np.nan)


def fit_answer(problem: Problem, copies: int, n_estimators: int) -> BoostedModel:
    """Train LightGBM on the training rows and on masked copies of them.

    Args:
        problem: its training part and seed are used.
        copies: masked copies of each row; each keeps a random number of random features.
        n_estimators: boosting rounds.
    """
    train, n = problem.train, problem.n_features
    words = problem.rng("aaco", "masks").bit_generator.random_raw
    parts = [train.X]
    for _ in range(copies):
        rows = len(train)
        wanted = words(max(rows, 1))[:rows] % np.uint64(n + 1)
        drawn = words(max(rows * n, 1))[: rows * n].reshape(rows, n)
        ranks = np.argsort(np.argsort(drawn, axis=1, kind="stable"), axis=1)
        parts.append(masked(train.X, ranks < wanted[:, None].astype(np.int64), problem.feature_of_column))
    augmented = Part(np.concatenate(parts), np.tile(train.y, copies + 1))
    return fit_boosted(replace(problem, train=augmented), np.arange(train.X.shape[1]), n_estimators)
