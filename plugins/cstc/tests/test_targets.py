"""Targets and validation criteria, with class shares that differ between the parts."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cstc.structure import criterion_of
from bench_models.targets import targets_of

from bench_core import Part

TRAIN = np.array([0, 0, 0, 1])
VALIDATION = np.array([1, 1, 1, 0, 1])


@pytest.fixture
def unequal(make):
    """One training row of four is positive, and four validation rows of five."""
    return make(np.zeros((4, 2)), TRAIN, task="binary", validation=Part(np.zeros((5, 2)), VALIDATION))


def test_balanced_weights_of_validation_rows_come_from_the_training_part(unequal):
    (target,) = targets_of(unequal, "balanced")
    np.testing.assert_allclose(target.weights, [2 / 3, 2 / 3, 2 / 3, 2.0])
    np.testing.assert_allclose(target.weights_validation, [2.0, 2.0, 2.0, 2 / 3, 2.0])


def test_the_loss_on_validation_is_the_weighted_squared_error_of_score_and_constant(unequal):
    (target,) = targets_of(unequal, "balanced")
    scores, constant = np.array([0.5, -0.5, 2.0, 0.25, 0.0]), 0.75
    loss = criterion_of("loss", unequal, target, constant)(scores)
    # Predictions are 1.25, 0.25, 2.75, 1.0, 0.75; targets 1, 1, 1, −1, 1.
    assert loss == pytest.approx((2 * (0.25**2 + 0.75**2 + 1.75**2 + 0.25**2) + 2 / 3 * 2.0**2) / 5)
