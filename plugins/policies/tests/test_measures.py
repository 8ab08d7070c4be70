"""Measures of quality equal scikit-learn's, and all but the AUC are means of a value for each row."""

from __future__ import annotations

import numpy as np
import pytest
from bench_policies.goals import Goal
from bench_policies.measures import MEASURES, measured_on, rare, row_qualities
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

from bench_core import RequestError


@given(st.integers(2, 4), st.integers(0, 10_000))
@settings(max_examples=30)
def test_measures_equal_those_of_scikit_learn(classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 30)])
    table = rng.dirichlet(np.ones(classes), len(y)).round(2) + 0.01
    table /= table.sum(axis=1, keepdims=True)
    label = table.argmax(axis=1)
    expected = {
        "accuracy": accuracy_score(y, label),
        "balanced-accuracy": balanced_accuracy_score(y, label),
        "auc": roc_auc_score(y, table[:, 1] if classes == 2 else table, multi_class="ovr"),
        "log-loss": -log_loss(y, table),
    }
    for name in MEASURES:
        assert measured_on(name, label == y, y, table) == pytest.approx(expected[name])
        assert row_qualities(name, label == y, y, table).mean() == pytest.approx(expected[name])


def test_the_standard_error_of_the_area_under_the_curve_is_that_of_repeated_draws() -> None:
    rng, areas, errors = np.random.default_rng(0), [], []
    for _ in range(300):
        y = (rng.random(200) < 0.15).astype(np.int64)
        score = 1 / (1 + np.exp(-(rng.normal(size=200) + 1.2 * y)))
        values = row_qualities("auc", y == 1, y, np.column_stack([1 - score, score]))
        areas.append(values.mean())
        errors.append(values.std() / np.sqrt(len(y)))
    assert np.mean(errors) == pytest.approx(np.std(areas), rel=0.15)


def test_balanced_accuracy_is_answered_by_the_class_most_probable_for_its_share() -> None:
    goal = Goal(measure="balanced-accuracy").on(np.array([0] * 9 + [1]), ("often", "seldom"))
    labels, _ = goal.answering(("often", "seldom"), None).answers(np.array([[0.85, 0.15], [0.95, 0.05]]))
    assert labels.tolist() == [1, 0]


def test_a_measure_that_does_not_fit_the_goal_is_refused() -> None:
    with pytest.raises(RequestError, match="log-loss"):
        Goal(measure="log-los")
    with pytest.raises(RequestError, match="cannot be combined"):
        Goal(quality=0.9, measure="auc")
    with pytest.raises(RequestError, match="needs classes"):
        Goal(measure="auc").check("regression", ())


def test_classes_with_few_rows_are_found() -> None:
    assert rare(np.array([0] * 97 + [1] * 3), ("a", "b")) == [("b", 0.03)]
