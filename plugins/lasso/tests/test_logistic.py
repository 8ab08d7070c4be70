"""The path solver, checked against the KKT conditions in plain NumPy and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from bench_lasso.kernels import coordinate_descent
from bench_lasso.logistic import L1Logistic
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

Array = NDArray[np.float64]


def table(n_classes: int, seed: int, rows: int = 120, columns: int = 6) -> tuple[Array, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns))
    X = X + rng.normal(size=columns)
    scores = X @ rng.normal(size=(columns, n_classes)) * 0.5 + rng.gumbel(size=(rows, n_classes))
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def plain_probabilities(X: Array, coef: Array, intercept: Array) -> Array:
    scores = X @ coef.T + intercept
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(X)), scores])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Array = weights / weights.sum(axis=1, keepdims=True)
    return shares


def kkt_violation(X: Array, y: NDArray[np.int64], penalty: float, coef: Array, intercept: Array) -> float:
    """Largest violation of the KKT conditions.

    The gradient is −λ sign(β) where β ≠ 0, at most λ in absolute value where β = 0, and 0 for intercepts.
    """
    n_classes = max(2, len(coef))
    error = plain_probabilities(X, coef, intercept) - np.eye(n_classes)[y]
    error = error[:, 1:] if len(coef) == 1 else error
    worst = np.abs(error.mean(axis=0)).max()
    for k in range(coef.shape[0]):
        for j in range(coef.shape[1]):
            slope = float(np.mean(error[:, k] * X[:, j]))
            beta = coef[k, j]
            broken = abs(slope + penalty * np.sign(beta)) if beta != 0 else max(abs(slope) - penalty, 0.0)
            worst = max(worst, broken)
    return float(worst)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_point_of_the_path_satisfies_kkt(n_classes: int, seed: int) -> None:
    X, y = table(n_classes, seed)
    learner = L1Logistic(X, y, n_classes)
    penalties = (learner.penalty_max * np.geomspace(0.99, 1e-3, 9)).tolist()
    for point in learner.path(penalties):
        assert kkt_violation(X, y, point.penalty, point.coef, point.intercept) < 1e-6
        assert point.residual < 1e-6
        assert point.coef.any()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_penalty_max_is_where_the_null_model_stops_being_optimal(n_classes: int) -> None:
    X, y = table(n_classes, 7)
    learner = L1Logistic(X, y, n_classes)
    share = np.bincount(y) / len(y)
    null = np.log(share[1:] / share[0]) if n_classes == 2 else np.log(share)
    zeros = np.zeros((learner.outputs, X.shape[1]))
    top = learner.penalty_max
    assert kkt_violation(X, y, top * (1 + 1e-9), zeros, null) < 1e-12
    assert kkt_violation(X, y, top * (1 - 1e-6), zeros, null) > 1e-8
    [point] = learner.path([top * (1 - 1e-6)])
    assert np.count_nonzero(point.coef) == 1


@pytest.mark.parametrize(("n_classes", "solver"), [(2, "saga"), (3, "saga")])
def test_coefficients_and_supports_equal_scikit_learns(n_classes: int, solver: str) -> None:
    X, y = table(n_classes, 3)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    learner = L1Logistic(X, y, n_classes)
    for point in learner.path([0.1, 0.03, 0.01]):
        reference = LogisticRegression(
            C=1 / (len(X) * point.penalty), l1_ratio=1.0, solver=solver, tol=1e-9, max_iter=20_000, random_state=0
        ).fit(X, y)  # fmt: skip
        np.testing.assert_allclose(point.coef, reference.coef_, atol=1e-5)
        assert ((point.coef != 0) == (np.abs(reference.coef_) > 1e-7)).all()


def test_badly_scaled_columns_are_solved_too() -> None:
    X, y = table(3, 11)
    units = np.array([1e-4, 1.0, 1e4, 1e-2, 1e2, 1.0])
    shifted = X * units + 50 * units
    learner = L1Logistic(shifted, y, 3)
    for point in learner.path((learner.penalty_max * np.geomspace(0.9, 1e-6, 8)).tolist()):
        assert point.residual < 1e-8


def test_separable_classes_are_solved_for_every_positive_penalty() -> None:
    X = np.linspace(-1, 1, 40)[:, None]
    y = (X[:, 0] > 0).astype(np.int64)
    learner = L1Logistic(X, y, 2)
    for point in learner.path([0.1, 1e-3, 1e-6]):
        assert kkt_violation(X, y, point.penalty, point.coef, point.intercept) < 1e-9


def test_more_columns_than_rows_are_solved() -> None:
    X, y = table(2, 5, rows=30, columns=80)
    learner = L1Logistic(X, y, 2)
    for point in learner.path((learner.penalty_max * np.geomspace(0.9, 1e-2, 6)).tolist()):
        assert kkt_violation(X, y, point.penalty, point.coef, point.intercept) < 1e-6 * np.abs(X).max()
        assert 0 < np.count_nonzero(point.coef) <= 31


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), p=st.integers(0, 12))
def test_the_kernel_equals_its_reference_implementation_and_reaches_the_optimum(seed: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p + 3, p))
    H = root.T @ root / (p + 3) + 0.1 * np.eye(p)
    q, penalty = rng.normal(size=p), float(rng.uniform(0, 1))
    compiled = rng.normal(size=p) * rng.integers(0, 2, p)
    plain = compiled.copy()
    sweeps = coordinate_descent(H, q, penalty, compiled, 1e-12, 10_000)
    assert sweeps == coordinate_descent.py_func(H, q, penalty, plain, 1e-12, 10_000)
    np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-12)
    slope = H @ compiled - q
    on = compiled != 0
    assert (np.abs(slope[~on]) <= penalty + 1e-9).all()
    np.testing.assert_allclose(slope[on], -penalty * np.sign(compiled[on]), atol=1e-9)
