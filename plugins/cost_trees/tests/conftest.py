"""Fixtures: small random tables, and problems made from arrays."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cost_trees.induction import Grower
from bench_cost_trees.prices import Prices

from bench_core import Costs, Part, Problem


@pytest.fixture(scope="session")
def make():
    """A problem from arrays: ``make(X, y, costs=…)``; validation is the training part unless given."""

    def build(X, y, *, prices=None, costs=None, validation=None, **others) -> Problem:
        X = np.ascontiguousarray(X, dtype=np.float64)
        train = Part(X, np.asarray(y, dtype=np.int64))
        fields = {
            "task": "binary" if np.max(y) < 2 else "multiclass",
            "n_classes": max(2, int(np.max(y)) + 1),
            "feature_names": tuple(f"x{i}" for i in range(X.shape[1])),
            "feature_of_column": np.arange(X.shape[1]),
        }
        return Problem(
            train=train,
            validation=train if validation is None else Part(*validation),
            costs=costs or Costs(np.ones(X.shape[1]) if prices is None else np.asarray(prices, dtype=float)),
            **{**fields, **others},
        )

    return build


@pytest.fixture(scope="session")
def table():
    """A random table and prices: ``table(seed)`` gives a grower and the prices of its features."""

    def build(seed: int) -> tuple[Grower, Prices]:
        rng = np.random.default_rng(seed)
        rows, features, classes = int(rng.integers(2, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
        feature_of_column = np.repeat(np.arange(features), rng.integers(1, 3, features))
        X = rng.integers(0, int(rng.integers(2, 60)), (rows, len(feature_of_column))) / 4.0
        X[rng.random(X.shape) < rng.choice([0.0, 0.2])] = np.nan
        y = rng.integers(0, classes, rows)
        y[X[:, 0] > 1] = 0
        group = rng.integers(-1, 2, features)
        later = rng.integers(0, 4, features).astype(float)
        first = later + np.where(group >= 0, np.array([1.0, 2.5, 0.0])[group], 0.0)
        return Grower.of(X, y, classes, feature_of_column), Prices(first, later, group)

    return build
