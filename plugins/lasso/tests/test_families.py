"""Models along a grid of λ: which λ share a model, and λ = 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from bench_lasso.families import fit_classifiers, fit_regressions, penalty_max
from bench_models.linear import ClassModel, ScoreModel
from sklearn.linear_model import LinearRegression, LogisticRegression

from bench_core import Part, Problem

MakeProblem = Callable[..., Problem]


def test_penalties_above_the_largest_useful_one_share_the_null_model(make_problem: MakeProblem) -> None:
    problem = make_problem(3)
    top = penalty_max(problem)
    fitted = fit_classifiers(problem, [0.0, top / 2, top, top + 1, top + 2], 1e-6)
    assert [one.penalty for one in fitted] == [0.0, top / 2, top]
    assert [one.stands_for for one in fitted] == [1, 1, 3]
    null = fitted[-1].model
    assert isinstance(null, ClassModel)
    frequencies = np.bincount(problem.train.y) / len(problem.train)
    assert (null.probabilities(problem.validation.X) == frequencies).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_smaller_penalties_have_distinct_models(make_problem: MakeProblem, n_classes: int) -> None:
    problem = make_problem(n_classes)
    fitted = fit_classifiers(problem, (penalty_max(problem) * np.linspace(0, 0.999, 40)).tolist(), 1e-6)
    models = [one.model for one in fitted if isinstance(one.model, ClassModel)]
    answers = [model.probabilities(problem.validation.X) for model in models]
    assert len(answers) == 40
    assert all(np.abs(a - b).max() > 1e-9 for a, b in pairwise(answers))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_penalty_of_zero_is_unpenalised(make_problem: MakeProblem, n_classes: int) -> None:
    problem = make_problem(n_classes)
    X = np.array(problem.train.X) * np.array([1.0, 1e3, 1e-3, 1.0, 1.0]) + 3.0
    problem = replace(problem, train=Part(X, problem.train.y))
    [one] = fit_classifiers(problem, [0.0], 1e-6)
    assert isinstance(one.model, ClassModel)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(Z, problem.train.y)
    np.testing.assert_allclose(one.model.probabilities(X), reference.predict_proba(Z), atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_penalty_of_zero_is_finite_on_separable_classes(make_problem: MakeProblem, n_classes: int) -> None:
    problem = make_problem(n_classes)
    signal = problem.train.X[:, 0]
    y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    problem = replace(problem, train=Part(problem.train.X, y))
    [one] = fit_classifiers(problem, [0.0], 1e-6)
    assert isinstance(one.model, ClassModel)
    assert np.isfinite(one.model.coef).all()
    assert (one.model.probabilities(problem.train.X).argmax(axis=1) == y).all()


def test_constant_columns_are_never_read(make_problem: MakeProblem) -> None:
    for n_classes in (0, 2, 3):
        problem = make_problem(n_classes)
        X = np.array(problem.train.X)
        X[:, [0, 3]] = 7.25, 0.1
        problem = replace(problem, train=Part(X, problem.train.y))
        grid = [0.0, penalty_max(problem) / 3]
        fitted = fit_classifiers(problem, grid, 1e-6) if n_classes else fit_regressions(problem, grid)
        for one in fitted:
            assert not {0, 3} & set(one.model.columns.tolist())


def test_one_class_leaves_one_model_for_every_penalty(make_problem: MakeProblem) -> None:
    problem = make_problem(3)
    problem = replace(problem, train=Part(problem.train.X, np.ones(len(problem.train), dtype=np.int64)))
    [one] = fit_classifiers(problem, [0.0, 0.1, 5.0], 1e-6)
    assert one.stands_for == 3
    assert isinstance(one.model, ClassModel)
    assert (one.model.probabilities(problem.validation.X) == [0.0, 1.0, 0.0]).all()


def test_a_class_missing_from_training_gets_probability_zero(make_problem: MakeProblem) -> None:
    problem = make_problem(4)
    seen = problem.train.y != 2
    problem = replace(problem, train=Part(problem.train.X[seen], problem.train.y[seen]))
    for one in fit_classifiers(problem, [0.0, 0.02, 9.0], 1e-6):
        assert isinstance(one.model, ClassModel)
        table = one.model.probabilities(problem.validation.X)
        assert table.shape == (50, 4)
        assert (table[:, 2] == 0).all()
        np.testing.assert_allclose(table.sum(axis=1), 1)


def test_the_regression_path_satisfies_kkt(make_problem: MakeProblem) -> None:
    problem = make_problem(0, features=8)
    X, y = problem.train.X, problem.train.y
    top = penalty_max(problem)
    fitted = fit_regressions(problem, [*(top * np.geomspace(1e-4, 1.5, 12)), 0.0])
    assert sum(one.stands_for for one in fitted) == 13
    for one in fitted:
        assert isinstance(one.model, ScoreModel)
        beta = np.zeros(8)
        beta[one.model.columns] = one.model.coef
        error = one.model.score(X) - y
        assert abs(error.mean()) < 1e-9
        slope = X.T @ error / len(X)
        assert (np.abs(slope) <= one.penalty + 1e-6).all()
        on = beta != 0
        np.testing.assert_allclose(slope[on], -one.penalty * np.sign(beta[on]), atol=1e-6)
    assert not len(fitted[-1].model.columns)
    least_squares = LinearRegression().fit(X, y)
    first = fitted[0].model
    assert isinstance(first, ScoreModel)
    np.testing.assert_allclose(first.coef, least_squares.coef_, atol=1e-9)
