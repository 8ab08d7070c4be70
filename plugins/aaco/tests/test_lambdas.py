"""The λ of a family are evenly spaced in log, or chosen so that the policies' costs are evenly spread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bench_aaco.plugin import AACO

from bench_core import Costs, Part, Problem

SMALL = {"subsets": 10, "n_estimators": 20, "masked_copies": 4, "passes": 0}


def gradual(rows=600, prices=None):
    """Eight noisy readings of the class: the cheaper a further one, the more rows buy it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    X = y[:, None] + rng.normal(0, 1.2, (rows, 8))
    cut = rows * 2 // 3
    costs = Costs(np.ones(8) if prices is None else prices)
    return Problem(
        Part(X[:cut], y[:cut]), Part(X[cut:], y[cut:]), costs, "binary", 2, tuple("abcdefgh"), np.arange(8)
    )  # fmt: skip


def bills(problem, family):
    rows = problem.validation.rows()
    return sorted(float(problem.costs.bill(p.decide(rows).acquired).mean()) for p in family.policies)


def test_policies_are_spread_over_cost_from_nothing_to_the_most_that_is_bought():
    problem = gradual()
    spread, even = (bills(problem, AACO(**SMALL, spacing=how).fit(problem)) for how in ("cost", "log"))
    assert len(spread) <= 10
    assert spread[0] == 0
    assert spread[-1] >= even[-1]
    assert np.diff(np.sqrt(spread)).max() <= np.diff(np.sqrt(even)).max()


def test_costs_are_measured_without_the_labels_of_the_validation_part():
    problem = gradual()
    other = replace(problem, validation=Part(problem.validation.X, 1 - problem.validation.y))
    one, two = (
        sorted(p.details["lambda"] for p in AACO(**SMALL, spacing="cost").fit(given).policies)
        for given in (problem, other)
    )
    assert one == two


def test_without_prices_there_is_one_lambda():
    problem = gradual(200, np.zeros(8))
    for how in ("cost", "log"):
        assert [p.details["lambda"] for p in AACO(**SMALL, spacing=how).fit(problem).policies] == [0.0]
