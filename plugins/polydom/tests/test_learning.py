"""Accuracies of the compiled learner are those of scikit-learn's, for any rows, folds and sets of features."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from bench_polydom.learners import make_learner
from bench_polydom.learning import Trainer
from bench_polydom.logistic import LogisticFold
from hypothesis import given, settings
from hypothesis import strategies as st


def trainers(seed, rows, classes, columns, strength):
    """Two trainers with the same rows and folds: compiled, and scikit-learn's only."""
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 4, columns)
    X = rng.normal(size=(rows, widths.sum())) * rng.choice([0.1, 1.0, 30.0], widths.sum()) + 5
    X[:, 0] = 1.0  # constant
    y = (X[:, 1:4].sum(axis=1) + rng.normal(size=rows) * 20).argsort().argsort() * classes // rows
    y = np.sort(y) if seed % 3 == 0 else y  # folds of neighbours lack classes
    edges = np.concatenate([[0], np.cumsum(widths)])
    owned = [np.arange(a, b) for a, b in pairwise(edges)]
    parts = np.array_split(np.arange(rows), 3)
    learner = make_learner("logistic", strength, 0)
    return [Trainer(learner, X, y, owned, folds=parts, strength=one) for one in (strength, None)]


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 2**32 - 1), st.integers(12, 90), st.integers(2, 5), st.integers(2, 40),
    st.sampled_from([0.01, 1.0, 100.0]), st.data(),
)  # fmt: skip
def test_the_compiled_learner_has_the_accuracies_of_scikit_learn(seed, rows, classes, columns, strength, data):
    compiled, plain = trainers(seed, rows, classes, columns, strength)
    for _ in range(3):
        features = tuple(sorted(data.draw(st.sets(st.integers(0, columns - 1), max_size=columns))))
        assert compiled.accuracy(features) == plain.accuracy(features)


def test_folds_without_some_or_all_but_one_class_have_the_accuracies_of_scikit_learn():
    X = np.arange(24.0)[:, None] + np.array([0.0, 0.5])
    for y in (np.repeat([0, 1, 2], 8), np.array([3] * 16 + [1] * 8), np.repeat([2, 5], [8, 16])):
        both = [
            Trainer(make_learner("logistic", 1.0, 0), X, y, [np.array([0]), np.array([1])], strength=strength,
                    folds=np.array_split(np.arange(24), 3))
            for strength in (1.0, None)
        ]  # fmt: skip
        for features in ((), (0,), (0, 1)):
            assert both[0].accuracy(features) == both[1].accuracy(features)


def test_a_fit_that_does_not_converge_is_left_to_scikit_learn(monkeypatch: pytest.MonkeyPatch):
    compiled, plain = trainers(1, 60, 2, 4, 1.0)
    monkeypatch.setattr(LogisticFold, "right", lambda fold, columns: None)
    assert compiled.accuracy((0, 1)) == plain.accuracy((0, 1))


def test_large_fits_are_left_to_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 300)), np.arange(60) % 3
    fold = LogisticFold.of((X[:40], y[:40]), (X[40:], y[40:]), 1.0)
    assert fold is not None
    assert fold.right(np.arange(300)) is None
    assert fold.right(np.arange(30)) is not None
    wide = np.tile(X, 4)
    assert LogisticFold.of((wide[:40], y[:40]), (wide[40:], y[40:]), 1.0) is None


@pytest.mark.parametrize("classes", [2, 3])
def test_sets_with_a_row_of_two_best_classes_are_left_to_scikit_learn(classes):
    X, y = np.zeros((6 * classes, 2)), np.arange(6 * classes) % classes
    X[y == 0, 1] = 1.0
    fold = LogisticFold.of((X, y), (X, y), 1.0)
    assert fold is not None
    assert fold.right(np.array([0])) is None  # a constant column
    assert (fold.right(np.array([1])) is None) == (classes == 3)


def test_a_trainer_is_pickled_without_its_compiled_folds():
    compiled, plain = trainers(2, 60, 3, 4, 1.0)
    compiled.accuracy((1, 2))
    plain.accuracy((1, 2))
    assert len(pickle.dumps(compiled)) < len(pickle.dumps(plain)) + 100
    assert pickle.loads(pickle.dumps(compiled)).accuracy((0, 3)) == plain.accuracy((0, 3))
