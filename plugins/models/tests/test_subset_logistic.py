"""Binary subset regressions agree with scikit-learn, with their NumPy reference implementation, and with themselves."""

from __future__ import annotations

import numpy as np
import pytest
from bench_models.subsets.models import SubsetModels, stage_probabilities, subset_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression


def make_rows(seed, rows=120, columns=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = (X @ rng.normal(size=columns) + rng.normal(size=rows) > 0).astype(int)
    y[:2] = [0, 1]
    return X, y


def fit(X, y, masks, *, C=1.0, column_of_feature=None, threads=None):
    return SubsetModels(X, y, 2, C=C, column_of_feature=column_of_feature).fit(masks, threads=threads)


def logistic_reference(least, X, y, *, C=1.0):
    """Coefficients float64 (1, 1 + d) of the fit on all d columns of X.

    The solver takes damped Newton steps from zero.
    """
    data = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=np.float64)
    design = np.column_stack([np.ones(data.shape[0]), data])
    penalty = np.full(design.shape[1], 1.0 / C)
    penalty[0] = 0.0

    def loss(point):
        scores = design @ point
        return float(np.logaddexp(0.0, scores).sum() - labels @ scores + 0.5 * (penalty * point * point).sum())

    def newton(point):
        p = 1.0 / (1.0 + np.exp(-(design @ point)))
        gradient = design.T @ (p - labels) + penalty * point
        hessian = (design.T * (p * (1.0 - p))) @ design + np.diag(penalty)
        return gradient, np.linalg.solve(hessian, gradient)

    return least(np.zeros(design.shape[1]), loss, newton)[None, :]


def oracle(X, y, C=1.0):
    return LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, y)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 1.0, 100.0]), mask=st.integers(1, 31))
def test_probabilities_agree_with_scikit_learn(seed, C, mask):
    X, y = make_rows(seed)
    columns = subset_columns(mask, np.arange(5))
    fits = fit(X, y, [mask], C=C)
    expected = oracle(X[:, columns], y, C).predict_proba(X[:, columns])
    ours = stage_probabilities(X[:, columns], fits.coefficients[0][:, np.r_[0, columns + 1]])
    assert fits.converged.all()
    np.testing.assert_allclose(ours, expected, atol=1e-8, rtol=0)


def test_all_subsets_agree_with_the_numpy_reference(least):
    X, y = make_rows(3)
    fits = fit(X, y, np.arange(32))
    for mask in range(32):
        columns = subset_columns(mask, np.arange(5))
        reference = logistic_reference(least, X[:, columns], y)
        np.testing.assert_allclose(fits.coefficients[mask][:, np.r_[0, columns + 1]], reference, atol=1e-9)
        outside = np.setdiff1d(np.arange(5), columns)
        assert (fits.coefficients[mask][:, outside + 1] == 0).all()


def test_empty_subset_is_the_class_frequency():
    X, y = make_rows(4)
    fits = fit(X, y, [0])
    np.testing.assert_allclose(1 / (1 + np.exp(-fits.coefficients[0, 0, 0])), y.mean(), atol=1e-12)


def test_separable_and_constant_columns_converge(least):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = np.column_stack([np.where(y == 1, 1e3, -1e3), np.ones(100), np.zeros(100), rng.normal(size=100) + 9 * y])
    fits = fit(X, y, np.arange(16), C=1e4)
    assert fits.converged.all()
    for mask in range(1, 16):
        columns = subset_columns(mask, np.arange(4))
        reference = logistic_reference(least, X[:, columns], y, C=1e4)
        ours = stage_probabilities(X[:, columns], fits.coefficients[mask][:, np.r_[0, columns + 1]])
        np.testing.assert_allclose(ours, stage_probabilities(X[:, columns], reference), atol=1e-8)
    np.testing.assert_allclose(fits.coefficients[2][0, 2], 0.0, atol=1e-12)


def test_columns_on_wild_scales_converge():
    X, y = make_rows(5, rows=300)
    X = X * np.array([1e-6, 1e-2, 1.0, 1e3, 1e6]) + np.array([0, 5, 0, 1e4, 0])
    fits = fit(X, y, np.arange(32))
    assert fits.converged.all()


def test_results_do_not_depend_on_threads_or_batch():
    X, y = make_rows(6)
    models = SubsetModels(X, y)
    masks = np.tile(np.arange(32), 10)
    one = models.fit(masks, threads=1).coefficients
    two = models.fit(masks, threads=2).coefficients
    assert one.tobytes() == two.tobytes()
    alone = np.concatenate([models.fit([mask]).coefficients for mask in masks[:32]])
    assert alone.tobytes() == one[:32].tobytes()


def test_a_feature_may_own_several_columns():
    X, y = make_rows(7)
    fits = fit(X, y, [1, 2], column_of_feature=[[0, 3], [1, 2, 4]])
    one_each = fit(X, y, [0b01001, 0b10110])
    np.testing.assert_allclose(fits.coefficients, one_each.coefficients, atol=1e-9)


def test_probabilities_of_a_row_do_not_depend_on_its_neighbours():
    X, y = make_rows(8)
    coefficients = fit(X, y, [31]).coefficients[0]
    together = stage_probabilities(X, coefficients)
    alone = np.concatenate([stage_probabilities(X[i : i + 1], coefficients) for i in range(len(X))])
    assert together.tobytes() == alone.tobytes()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"X": np.full((4, 2), np.nan)}, "finite"),
        ({"X": np.zeros(4)}, "matrix"),
        ({"y": [0, 0, 0, 0]}, "no training row"),
        ({"y": [0, 1, 2, 0]}, "codes"),
        ({"y": [0, 1]}, "shape"),
        ({"masks": [4]}, "masks"),
        ({"C": 0.0}, "C must be"),
        ({"threads": 0}, "threads"),
        ({"column_of_feature": [[0], [0, 1]]}, "own column"),
        ({"column_of_feature": [0, -1]}, "needs a feature"),
    ],
)
def test_wrong_input_is_named(change, word):
    arguments = {"X": np.eye(4)[:, :2], "y": [0, 1, 0, 1], "masks": [1], **change}
    with pytest.raises(ValueError, match=word):
        fit(**arguments)
