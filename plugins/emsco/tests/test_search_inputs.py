"""Prices and labels that the search reads from a problem with different parts, and the margin of its history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench_emsco.method import Emsco
from scipy import stats

from bench_core import Costs, Problem, Rows


def test_the_search_pays_the_prices_of_the_validation_items(problem: Callable[..., Problem]) -> None:
    """Validation items have size 10, training items size 1; prices, also a group's, grow with size."""
    given = problem()
    costs = Costs(
        np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 2.0], [4.0, 0.5]]), np.array([0, 0, -1, -1]), np.array([[1.0, 3.0]])
    )
    train = replace(given.train, sizes=np.full(80, 1.0))
    validation = replace(given.validation, sizes=np.full(80, 10.0))
    given = replace(given, train=train, validation=validation, costs=costs)
    policies = Emsco(population=20, max_iter=3).fit(given).policies
    found = [policy.details["cost"] for policy in policies]
    acquired = [policy.decide(Rows(validation.X, validation.sizes)).acquired for policy in policies]
    assert found == pytest.approx([float(costs.bill(a, validation.sizes).mean()) for a in acquired])
    assert max(found) > 0


def test_a_label_missing_from_training_is_never_predicted(problem: Callable[..., Problem]) -> None:
    """A third of the validation rows have a class that is missing from training: the last, the middle or the first."""
    for renamed, unseen in (((0, 1), 2), ((0, 2), 1), ((1, 2), 0)):
        given = replace(problem(), task="multiclass", n_classes=3)
        label = np.array(renamed)
        validation_y = label[given.validation.y]
        validation_y[::3] = unseen
        given = replace(
            given,
            train=replace(given.train, y=label[given.train.y]),
            validation=replace(given.validation, y=validation_y),
        )
        for policy in Emsco(population=20, max_iter=3).fit(given).policies:
            table = policy.decide(Rows(given.validation.X)).probabilities
            assert table is not None
            conclusive = table.max(axis=1) >= 0.7
            right = conclusive & (table.argmax(axis=1) == validation_y)
            assert not right[::3].any()
            expected = right.sum() / conclusive.sum() if conclusive.any() else 0.0
            assert policy.details["g2"] == pytest.approx(expected)


def test_the_margin_of_the_history_is_the_t_interval_of_the_runs(problem: Callable[..., Problem]) -> None:
    """The second of two runs is twice the mean minus the first; the margin of two numbers is t(0.975, 1)·|a − b|/2."""
    method = Emsco(population=20, max_iter=5, patience=0, exact_front=True, k=3)
    one = np.asarray(method.fit(problem()).history["front_members"])
    history = replace(method, runs=2).fit(problem()).history
    mean = np.asarray(history["front_members"])
    other = 2 * mean - one
    assert (one != other).any()
    expected = stats.t.ppf(0.975, 1) * np.abs(one - other) / 2
    np.testing.assert_allclose(history["front_members_margin"], expected)
