"""Softmax subset regressions agree with scikit-learn and with their NumPy reference implementation."""

from __future__ import annotations

import numpy as np
import pytest
from bench_emsco.multinomial import fit_multinomial_subsets, multinomial_reference
from bench_emsco.subset_models import SubsetModels, stage_probabilities, subset_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression


def make_rows(seed, classes=3, rows=150, columns=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = np.argmax(X @ rng.normal(size=(columns, classes)) + rng.normal(size=(rows, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6), classes=st.integers(3, 5), C=st.sampled_from([0.05, 1.0, 20.0]), mask=st.integers(1, 31)
)
def test_probabilities_agree_with_scikit_learn(seed, classes, C, mask):
    X, y = make_rows(seed, classes)
    columns = subset_columns(mask, np.arange(5))
    fits = fit_multinomial_subsets(X, y, [mask], classes, C=C)
    model = LogisticRegression(C=C, solver="newton-cg", tol=1e-10, max_iter=5000).fit(X[:, columns], y)
    ours = stage_probabilities(X[:, columns], fits.coefficients[0][:, np.r_[0, columns + 1]])
    assert fits.converged.all()
    np.testing.assert_allclose(ours, model.predict_proba(X[:, columns]), atol=1e-7, rtol=0)


@pytest.mark.parametrize("classes", [3, 4])
def test_all_subsets_agree_with_the_numpy_reference(classes):
    X, y = make_rows(1, classes)
    fits = fit_multinomial_subsets(X, y, np.arange(32), classes)
    for mask in range(32):
        columns = subset_columns(mask, np.arange(5))
        ours = stage_probabilities(X[:, columns], fits.coefficients[mask][:, np.r_[0, columns + 1]])
        reference = stage_probabilities(X[:, columns], multinomial_reference(X[:, columns], y, classes))
        np.testing.assert_allclose(ours, reference, atol=1e-9)


def test_class_vectors_sum_to_zero():
    X, y = make_rows(2, 4)
    coefficients = fit_multinomial_subsets(X, y, np.arange(32), 4).coefficients
    np.testing.assert_allclose(coefficients.sum(axis=1), 0.0, atol=1e-12)


def test_empty_subset_is_the_class_frequencies():
    X, y = make_rows(3)
    fit = fit_multinomial_subsets(X, y, [0], 3)
    ours = stage_probabilities(np.zeros((1, 0)), fit.coefficients[0][:, :1])
    np.testing.assert_allclose(ours[0], np.bincount(y) / len(y), atol=1e-12)


def test_separable_and_constant_columns_converge():
    y = np.repeat([0, 1, 2], 40)
    X = np.column_stack([100.0 * (y - 1), np.ones(120), np.sin(np.arange(120)), 50.0 * (y == 2)])
    fits = fit_multinomial_subsets(X, y, np.arange(16), 3, C=1e3)
    assert fits.converged.all()
    for mask in (1, 5, 9, 15):
        columns = subset_columns(mask, np.arange(4))
        ours = stage_probabilities(X[:, columns], fits.coefficients[mask][:, np.r_[0, columns + 1]])
        reference = stage_probabilities(X[:, columns], multinomial_reference(X[:, columns], y, 3, C=1e3))
        np.testing.assert_allclose(ours, reference, atol=1e-8)


def test_results_do_not_depend_on_threads_or_batch():
    X, y = make_rows(4)
    models = SubsetModels(X, y, 3)
    masks = np.tile(np.arange(32), 8)
    one = models.fit(masks, threads=1).coefficients
    assert one.tobytes() == models.fit(masks, threads=2).coefficients.tobytes()
    alone = np.concatenate([models.fit([mask]).coefficients for mask in masks[:32]])
    assert alone.tobytes() == one[:32].tobytes()


def test_two_classes_are_refused():
    with pytest.raises(ValueError, match="at least 3"):
        fit_multinomial_subsets(np.eye(4), [0, 1, 0, 1], [1], 2)
