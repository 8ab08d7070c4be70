"""Softmax subset regressions agree with scikit-learn and with their NumPy reference implementation."""

from __future__ import annotations

import numpy as np
import pytest
from bench_models.subsets.models import SubsetModels, stage_probabilities, subset_columns
from bench_models.subsets.sets import from_flags
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression


def make_rows(seed, classes=3, rows=150, columns=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = np.argmax(X @ rng.normal(size=(columns, classes)) + rng.normal(size=(rows, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def fit(X, y, masks, classes, *, C=1.0):
    return SubsetModels(X, y, classes, C=C).fit(masks)


def multinomial_reference(least, X, y, n_classes, *, C=1.0):
    """Coefficients (K, 1 + d) on all d columns of X.

    The solver takes damped Newton steps in all K class vectors. Their Hessian is singular in one direction (a constant
    added to all intercepts); the least-norm step is taken, so intercepts sum to zero.
    """
    data = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=np.int64)
    design = np.column_stack([np.ones(data.shape[0]), data])
    width = design.shape[1]
    onehot = np.eye(n_classes)[labels]
    penalty = np.full((n_classes, width), 1.0 / C)
    penalty[:, 0] = 0.0

    def loss(point):
        scores = design @ point.T
        top = scores.max(axis=1)
        log_total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        return float((log_total - scores[np.arange(labels.size), labels]).sum() + 0.5 * (penalty * point**2).sum())

    def newton(point):
        scores = design @ point.T
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        gradient = (p - onehot).T @ design + penalty * point
        hessian = np.zeros((n_classes, width, n_classes, width))
        for k in range(n_classes):
            for other in range(n_classes):
                weight = p[:, k] * ((k == other) - p[:, other])
                hessian[k, :, other, :] = (design.T * weight) @ design
        flat = hessian.reshape(n_classes * width, -1) + np.diag(penalty.ravel())
        return gradient, np.linalg.lstsq(flat, gradient.ravel(), rcond=1e-13)[0].reshape(point.shape)

    return least(np.zeros((n_classes, width)), loss, newton)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6), classes=st.integers(3, 5), C=st.sampled_from([0.05, 1.0, 20.0]), mask=st.integers(1, 31)
)
def test_probabilities_agree_with_scikit_learn(seed, classes, C, mask):
    X, y = make_rows(seed, classes)
    columns = subset_columns(mask, np.arange(5))
    fits = fit(X, y, [mask], classes, C=C)
    model = LogisticRegression(C=C, solver="newton-cg", tol=1e-10, max_iter=5000).fit(X[:, columns], y)
    ours = stage_probabilities(X[:, columns], fits.coefficients[0][:, np.r_[0, columns + 1]])
    assert fits.converged.all()
    np.testing.assert_allclose(ours, model.predict_proba(X[:, columns]), atol=1e-7, rtol=0)


@pytest.mark.parametrize(("classes", "columns", "C"), [(3, 30, 1.0), (8, 40, 1.0), (8, 40, 100.0)])
def test_fits_of_many_coefficients_agree_with_scikit_learn(classes, columns, C):
    X, y = make_rows(3, classes, rows=400, columns=columns)
    flags = np.random.default_rng(0).random((6, columns)) < 0.6
    fits = fit(X, y, from_flags(flags), classes, C=C)
    assert fits.converged.all()
    for chosen, coefficients in zip(flags, fits.coefficients, strict=True):
        oracle = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X[:, chosen], y)
        own = stage_probabilities(X[:, chosen], coefficients[:, np.concatenate([[True], chosen])])
        np.testing.assert_allclose(own, oracle.predict_proba(X[:, chosen]), atol=1e-6)


@pytest.mark.parametrize("classes", [3, 4])
def test_all_subsets_agree_with_the_numpy_reference(classes, least):
    X, y = make_rows(1, classes)
    fits = fit(X, y, np.arange(32), classes)
    for mask in range(32):
        columns = subset_columns(mask, np.arange(5))
        ours = stage_probabilities(X[:, columns], fits.coefficients[mask][:, np.r_[0, columns + 1]])
        reference = stage_probabilities(X[:, columns], multinomial_reference(least, X[:, columns], y, classes))
        np.testing.assert_allclose(ours, reference, atol=1e-9)


def test_class_vectors_sum_to_zero():
    X, y = make_rows(2, 4)
    coefficients = fit(X, y, np.arange(32), 4).coefficients
    np.testing.assert_allclose(coefficients.sum(axis=1), 0.0, atol=1e-12)


def test_empty_subset_is_the_class_frequencies():
    X, y = make_rows(3)
    fits = fit(X, y, [0], 3)
    ours = stage_probabilities(np.zeros((1, 0)), fits.coefficients[0][:, :1])
    np.testing.assert_allclose(ours[0], np.bincount(y) / len(y), atol=1e-12)


def test_separable_and_constant_columns_converge(least):
    y = np.repeat([0, 1, 2], 40)
    X = np.column_stack([100.0 * (y - 1), np.ones(120), np.sin(np.arange(120)), 50.0 * (y == 2)])
    fits = fit(X, y, np.arange(16), 3, C=1e3)
    assert fits.converged.all()
    for mask in (1, 5, 9, 15):
        columns = subset_columns(mask, np.arange(4))
        ours = stage_probabilities(X[:, columns], fits.coefficients[mask][:, np.r_[0, columns + 1]])
        reference = stage_probabilities(X[:, columns], multinomial_reference(least, X[:, columns], y, 3, C=1e3))
        np.testing.assert_allclose(ours, reference, atol=1e-8)


def test_results_do_not_depend_on_threads_or_batch():
    X, y = make_rows(4)
    models = SubsetModels(X, y, 3)
    masks = np.tile(np.arange(32), 8)
    one = models.fit(masks, threads=1).coefficients
    assert one.tobytes() == models.fit(masks, threads=2).coefficients.tobytes()
    alone = np.concatenate([models.fit([mask]).coefficients for mask in masks[:32]])
    assert alone.tobytes() == one[:32].tobytes()
