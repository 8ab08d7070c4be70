"""CUBE with 6,000 training rows: what DIME and GDFS buy must be worth more than any fixed set of features."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from bench_neural.plugin import DIME, GDFS

from bench_core import Costs, Part, Problem

SIZES = (3, 5)
MEANS = np.full((8, 10), 0.5)
for label in range(8):
    for bit in range(3):
        MEANS[label, label + bit] = label >> bit & 1


def cube(rng, rows):
    """As AFABench stores it: the bits of the label at the positions label to label + 2, deviations of 0.3."""
    y, X = rng.integers(0, 8, rows), rng.normal(0.5, 0.3, (rows, 20))
    for bit in range(3):
        X[np.arange(rows), y + bit] = ((y >> bit) & 1) + rng.normal(0, 0.3, rows)
    return Part(X, y)


def best_fixed_set(test, size):
    """Accuracy of Bayes' rule with the true densities on the set that is best on the test rows: no static order does
    better."""
    distance = (test.X[:, None, :10] - MEANS) ** 2
    sets = combinations(range(10), size)
    return max(float((distance[:, :, chosen].sum(axis=2).argmin(axis=1) == test.y).mean()) for chosen in sets)


@pytest.mark.weekly
@pytest.mark.parametrize("method", [
    GDFS(budgets=tuple(map(float, SIZES))), DIME(stop="budget", values=tuple(map(float, SIZES))),
], ids=["gdfs", "dime"])  # fmt: skip
def test_purchases_that_depend_on_values_beat_every_static_order_on_cube(method):
    rng = np.random.default_rng(np.random.SeedSequence([6000, 0]))
    train, validation, test = cube(rng, 6000), cube(rng, 200), cube(rng, 5000)
    names = tuple(f"f{i}" for i in range(20))
    problem = Problem(train, validation, Costs(np.ones(20)), "multiclass", 8, names, np.arange(20), seed=0)
    policies = {policy.details["budget"]: policy for policy in method.fit(problem).policies}
    for size in SIZES:
        decisions = policies[size].decide(test.rows())
        assert decisions.acquired.sum(axis=1).max() <= size
        assert (decisions.probabilities.argmax(axis=1) == test.y).mean() > best_fixed_set(test, size)
