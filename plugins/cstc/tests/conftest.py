"""Random small objectives and trees for the tests."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cstc.objective import Objective, State
from bench_cstc.shape import Shape
from bench_models.penalty import Penalty

from bench_core import Costs, Part, Problem


def random_shape(rng, variant, levels=3):
    """A tree with a random set of nodes, or a cascade."""
    if variant != "cstc":
        return Shape.cascade(int(rng.integers(1, levels + 1)))
    names = {1}
    for name in range(2, 2**levels):
        if name // 2 in names and rng.random() < 0.7:
            names.add(name)
    return Shape(tuple(sorted(names)))


def random_objective(seed, variant="cstc", boosted=False, rows=25, columns=4, **others):
    """Data with some signal, prices (features shared by columns, groups, evaluations), and a random state."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = X @ rng.normal(size=columns) + 0.5 * rng.normal(size=rows)
    features = max(2, columns - 1)
    groups = np.where(rng.random(features) < 0.5, 0, -1)
    costs = Costs(
        rng.uniform(0, 2, features), groups if (groups == 0).any() else None, [1.5] if (groups == 0).any() else None
    )
    if boosted:
        of = [np.flatnonzero(rng.random(features) < 0.5) for _ in range(columns)]
        penalty = Penalty.build(costs, of, evaluation=rng.uniform(0, 0.5, columns))
    else:
        penalty = Penalty.build(costs, [np.array([min(t, features - 1)]) for t in range(columns)])
    settings = {
        "rho": float(rng.uniform(0, 0.05)),
        "lambda_": float(rng.uniform(0, 0.2)),
        "weights": rng.uniform(0.5, 3.0, rows),
        "steep": float(rng.uniform(0.5, 3.0)),
        "variant": variant,
        **others,
    }
    objective = Objective(np.ascontiguousarray(X), y, penalty, **settings)
    shape = random_shape(rng, variant)
    beta = rng.normal(size=(len(shape), columns)) * (rng.random((len(shape), columns)) < 0.7)
    bias = rng.normal(size=len(shape)) if objective.intercept else np.zeros(len(shape))
    return objective, State(shape, beta, bias, rng.normal(size=len(shape)))


@pytest.fixture
def make_objective():
    """``make_objective(seed, variant, boosted)`` → an objective and a random state."""
    return random_objective


@pytest.fixture
def make():
    """A problem from arrays: ``make(X, y, task=…)``; validation is the training part unless given."""

    def build(X, y, *, prices=None, task="regression", validation=None, query=None, classes=None, **others):
        X = np.ascontiguousarray(X, dtype=np.float64)
        train = Part(X, np.asarray(y), None, query)
        if classes is None:
            classes = 0 if task in ("regression", "ranking") else max(2, int(np.max(y)) + 1)
        return Problem(
            train=train,
            validation=train if validation is None else validation,
            costs=Costs(np.ones(X.shape[1]) if prices is None else np.asarray(prices, dtype=float)),
            task=task,
            n_classes=classes,
            feature_names=tuple(f"x{i}" for i in range(X.shape[1])),
            feature_of_column=np.arange(X.shape[1]),
            **others,
        )

    return build
