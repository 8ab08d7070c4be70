"""Fixtures: small random problems, and plain oracles that share no code with the plugin."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

from bench_core import Costs, Part, Problem


@dataclass
class Plain:
    """A plain recursive regression tree, grown depth first by trying every split."""

    value: float
    column: int = -1
    threshold: float = 0.0
    left: Plain | None = None
    right: Plain | None = None

    @staticmethod
    def grow(X, y, depth, least):
        node = Plain(float(np.mean(y)))
        if depth == 0 or np.ptp(y) < 1e-12:
            return node
        best = 1e-10
        for column in range(X.shape[1]):
            values = np.unique(X[:, column])
            for a, b in itertools.pairwise(values):
                left = X[:, column] <= a
                if min(left.sum(), (~left).sum()) < least:
                    continue
                gain = np.var(y) * len(y) - np.var(y[left]) * left.sum() - np.var(y[~left]) * (~left).sum()
                if gain > best + 1e-9:
                    best, node.column, node.threshold = gain, column, (a + b) / 2
        if node.column >= 0:
            left = X[:, node.column] <= node.threshold
            node.left = Plain.grow(X[left], y[left], depth - 1, least)
            node.right = Plain.grow(X[~left], y[~left], depth - 1, least)
        return node

    def predict(self, X):
        if self.column < 0:
            return np.full(len(X), self.value)
        left = X[:, self.column] <= self.threshold
        return np.where(left, self.left.predict(X), self.right.predict(X))


@pytest.fixture
def plain_tree():
    return Plain


@pytest.fixture
def make():
    """A problem from arrays: ``make(X, y, costs=…, task=…)``; validation is the training part unless given."""

    def build(X, y, *, prices=None, costs=None, task="regression", validation=None, **others):
        X = np.ascontiguousarray(X, dtype=np.float64)
        classes = 0 if task in ("regression", "ranking") else max(2, int(np.max(y)) + 1)
        train = Part(X, np.asarray(y))
        problem = Problem(
            train=train,
            validation=train if validation is None else Part(*validation),
            costs=costs or Costs(np.ones(X.shape[1]) if prices is None else np.asarray(prices, dtype=float)),
            task=task,
            n_classes=classes,
            feature_names=tuple(f"x{i}" for i in range(X.shape[1])),
            feature_of_column=np.arange(X.shape[1]),
        )
        return replace(problem, **others)

    return build
