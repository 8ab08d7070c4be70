"""LightGBM on some columns: reads only those; answers are the same in any batch, in a copy, and with any threads."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from bench_models.boosting import fit_boosted

from bench_core.testing import make_problem


def answer(model, X):
    return model.probabilities(X) if model.n_classes else model.score(X)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "ranking"])
def test_a_model_reads_only_its_columns_and_rows_are_independent(task):
    problem = make_problem(task)
    model = fit_boosted(problem, np.array([0, 3]), n_estimators=10, min_samples_leaf=5)
    X = np.array(problem.validation.X)
    complete = answer(model, X)
    others = X.copy()
    others[:, [1, 2]] = np.nan
    np.testing.assert_array_equal(answer(model, others), complete)
    np.testing.assert_array_equal(np.concatenate([answer(model, X[i : i + 1]) for i in range(len(X))]), complete)
    np.testing.assert_array_equal(answer(pickle.loads(pickle.dumps(model)), X), complete)
    assert answer(model, X[:0]).shape == (0, *complete.shape[1:])
    two = fit_boosted(replace(problem, threads=2), np.array([0, 3]), n_estimators=10, min_samples_leaf=5)
    np.testing.assert_array_equal(answer(two, X), complete)


def test_more_columns_lower_the_loss():
    problem = make_problem("regression")
    errors = []
    for columns in (np.array([2]), np.arange(problem.train.X.shape[1])):
        model = fit_boosted(problem, columns, n_estimators=50, min_samples_leaf=5)
        errors.append(float(np.mean((model.score(problem.validation.X) - problem.validation.y) ** 2)))
    assert errors[1] < errors[0]
