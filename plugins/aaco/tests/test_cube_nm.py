"""CUBE-NM: a context, worth nothing alone, shows which block of ten features holds the label's bits."""

from __future__ import annotations

import numpy as np
import pytest
from bench_aaco.plugin import AACO

from bench_core import Costs, Part, Problem

CONTEXT = np.arange(5)


def cube_nm(rng, rows, noise=0.1):
    """The generated set of AFABench, with its article's noise."""
    y, block = rng.integers(0, 8, rows), rng.integers(0, 5, rows)
    shown = (block[:, None] == CONTEXT) + rng.normal(0, 0.1, (rows, 5))
    X = rng.normal(0.5, 0.3, (rows, 50))
    for bit in range(3):
        X[np.arange(rows), 10 * block + (y + bit) % 10] = (y >> bit & 1) + rng.normal(0, noise, rows)
    return Part(np.hstack([shown, X]), y)


def problem_of(rng, rows):
    """The context's features are one group of price 1; every other feature costs 1."""
    group = np.r_[np.zeros(5), np.full(50, -1)].astype(np.int64)
    costs, names = Costs((group < 0).astype(float), group, np.ones(1)), tuple(f"f{i}" for i in range(55))
    return Problem(cube_nm(rng, rows), cube_nm(rng, 200), costs, "multiclass", 8, names, np.arange(55), seed=0)


def within(policy, rows, purchases):
    """The features that rows know after so many purchases, or when they stop."""
    known = np.zeros((len(rows), 55), dtype=bool)
    for _ in range(purchases):
        known |= policy.next_features(rows, known)
    return known


@pytest.mark.weekly
def test_the_context_is_bought_first_and_three_rows_of_four_are_right_within_ten_purchases():
    rng = np.random.default_rng(33)
    problem, test = problem_of(rng, 600), cube_nm(rng, 400)
    policy, rows = AACO(lambdas=(0.6,)).fit(problem).policies[0], test.rows()
    first, tenth = within(policy, rows, 1), within(policy, rows, 10)
    assert first[:, CONTEXT].all(axis=1).mean() > 0.9
    assert problem.costs.bill(tenth).max() <= 10
    answers = policy.decide_known(rows, tenth).probabilities.argmax(axis=1)
    assert (answers == test.y).mean() >= 0.75
