"""Linear models: fitted like scikit-learn's to a harder tolerance, and evaluated row by row."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench_models.linear import ClassModel, ScoreModel, constant_model, fit_logistic, fit_ridge, refuse_missing
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from bench_core import Part, Problem

MakeProblem = Callable[..., Problem]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_probabilities_are_scikit_learns(make_problem: MakeProblem, n_classes: int, C: float) -> None:
    problem = make_problem(n_classes)
    columns = np.array([0, 1, 3])
    model = fit_logistic(problem, columns, C)
    reference = LogisticRegression(C=C, tol=1e-12, max_iter=10_000).fit(problem.train.X[:, columns], problem.train.y)
    X = problem.validation.X
    np.testing.assert_allclose(model.probabilities(X), reference.predict_proba(X[:, columns]), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_vanishes_at_the_fit(make_problem: MakeProblem, n_classes: int) -> None:
    problem = make_problem(n_classes)
    model = fit_logistic(problem, np.arange(5), C=0.5)
    X, n = problem.train.X, len(problem.train)
    error = model.probabilities(X) - np.eye(n_classes)[problem.train.y]
    error = error[:, 1:] if n_classes == 2 else error
    assert np.abs(error.T @ X / n + model.coef / (0.5 * n)).max() < 1e-9
    assert np.abs(error.mean(axis=0)).max() < 1e-9
    assert model.converged


@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 70))
def test_a_rows_answer_is_the_same_bits_in_any_batch(n_classes: int, seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    outputs = 1 if n_classes == 2 else n_classes
    columns = np.sort(rng.choice(40, size=int(rng.integers(1, 40)), replace=False))
    model = ClassModel(
        columns,
        rng.normal(size=(outputs, len(columns))),
        rng.normal(size=outputs),
        np.arange(n_classes),
        n_classes,
        ("f",) * len(columns),
    )
    X = rng.normal(size=(rows, 40))
    complete = model.probabilities(X)
    order = rng.permutation(rows)
    assert (model.probabilities(X[order]) == complete[order]).all()
    assert (model.probabilities(np.asfortranarray(X)) == complete).all()
    for i in range(rows):
        assert (model.probabilities(X[i : i + 1]) == complete[i]).all()


def test_no_rows_give_an_empty_table(make_problem: MakeProblem) -> None:
    model = fit_logistic(make_problem(3), np.arange(5))
    assert model.probabilities(np.zeros((0, 5))).shape == (0, 3)
    assert fit_ridge(make_problem(0), np.arange(5)).score(np.zeros((0, 5))).shape == (0,)


def test_extreme_scores_stay_probabilities() -> None:
    for classes in (2, 3):
        outputs = 1 if classes == 2 else classes
        coef = 1e5 * np.arange(1.0, outputs + 1)[:, None]
        model = ClassModel(np.array([0]), coef, np.zeros(outputs), np.arange(classes), classes, ("f",))
        table = model.probabilities(np.array([[-1.0], [0.0], [1.0]]))
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        assert table.min() >= 0


def test_a_class_missing_from_training_gets_probability_zero(make_problem: MakeProblem) -> None:
    problem = make_problem(3)
    seen = problem.train.y != 1
    part = Part(problem.train.X[seen], problem.train.y[seen])
    table = fit_logistic(replace(problem, train=part), np.arange(5)).probabilities(problem.validation.X)
    assert table.shape[1] == 3
    assert (table[:, 1] == 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    two = LogisticRegression(tol=1e-12, max_iter=10_000).fit(part.X, part.y)
    np.testing.assert_allclose(table[:, [0, 2]], two.predict_proba(problem.validation.X), atol=1e-6)


def test_one_class_in_training_gets_probability_one(make_problem: MakeProblem) -> None:
    problem = make_problem(3)
    part = Part(problem.train.X, np.full(len(problem.train), 2))
    table = fit_logistic(replace(problem, train=part), np.arange(5)).probabilities(problem.validation.X)
    assert (table == [0.0, 0.0, 1.0]).all()


def test_no_columns_give_the_class_frequencies_exactly(make_problem: MakeProblem) -> None:
    problem = make_problem(2)
    part = Part(problem.train.X, np.repeat([0, 1], [75, 25]))
    model = fit_logistic(replace(problem, train=part), np.zeros(0, dtype=np.int64))
    assert (model.probabilities(problem.validation.X) == [0.75, 0.25]).all()
    assert (constant_model(np.zeros(0), 4).probabilities(np.zeros((1, 0))) == 0.25).all()


def test_ridge_satisfies_the_normal_equations(make_problem: MakeProblem) -> None:
    problem = make_problem(0)
    model = fit_ridge(problem, np.array([0, 2, 4]), C=0.25)
    X, y = problem.train.X[:, [0, 2, 4]], problem.train.y
    error = model.score(problem.train.X) - y
    np.testing.assert_allclose(X.T @ error + 4.0 * model.coef, 0, atol=1e-9)
    assert abs(error.sum()) < 1e-9


def test_missing_values_are_refused_by_feature_name(make_problem: MakeProblem) -> None:
    problem = make_problem(2)
    X = np.array(problem.validation.X)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"'f2' hold NaN.*encode"):
        refuse_missing(replace(problem, validation=Part(X, problem.validation.y)))
    model = fit_logistic(problem, np.arange(5))
    with pytest.raises(ValueError, match="'f2'"):
        model.probabilities(X)
    assert fit_logistic(problem, np.array([0, 1])).probabilities(X).shape == (len(X), 2)
    broken = np.array(problem.train.X)
    broken[0, 4] = np.nan
    holed = replace(problem, train=Part(broken, problem.train.y))
    for fit in (fit_logistic, fit_ridge):
        with pytest.raises(ValueError, match="'f4'"):
            fit(holed, np.arange(5))


def test_a_problem_too_wide_for_newton_is_fitted_too(
    make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bench_models.linear.fit as module

    problem = make_problem(3)
    exact = fit_logistic(problem, np.arange(5)).probabilities(problem.validation.X)
    monkeypatch.setattr(module, "_NEWTON_PARAMETERS", 0)
    wide = fit_logistic(problem, np.arange(5)).probabilities(problem.validation.X)
    np.testing.assert_allclose(wide, exact, atol=1e-5)


def test_a_score_model_reads_only_its_columns() -> None:
    model = ScoreModel(np.array([1, 3]), np.array([2.0, -1.0]), 0.5, ("a", "b"))
    X = np.array([[np.nan, 1.0, np.nan, 4.0]])
    assert model.score(X).tolist() == [0.5 + 2.0 - 4.0]


def test_importing_stays_light() -> None:
    code = "import bench_models.linear, sys; sys.exit(any(m in sys.modules for m in ('sklearn', 'pandas', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
