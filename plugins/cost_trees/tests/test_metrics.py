"""Metrics of test and error costs, compared with sums computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from bench_cost_trees import plugin

from bench_core import Costs, Decisions, Outcome, Part, outcome_of
from bench_core.suites import load_registry

COSTS = Costs(np.array([5.0, 3.0, 1.0]), np.array([0, 0, -1]), np.array([2.0]))


def outcome(y, label, acquired) -> Outcome:
    probabilities = np.eye(3)[label]
    part = Part(np.zeros((len(y), 3)), np.array(y, dtype=np.int64))
    return outcome_of(Decisions(np.array(acquired, dtype=bool), probabilities), part, COSTS, "multiclass")


@pytest.fixture(scope="module")
def registry():
    return load_registry([("cost-trees-under-test", plugin)], entry_points=False)


@pytest.mark.parametrize("k", [10, 10_000])
def test_a_row_costs_its_tests_and_its_error(k, registry):
    three = outcome([0, 1, 1, 2], [0, 1, 0, 0], [[1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 1, 0]])
    tests = (7 + 11 + 0 + 5) / 4
    assert registry.metric(f"test-plus-error-cost@{k}").function(three) == pytest.approx(tests + k * 2 / 4)
    # All tests cost 11, and naming the most frequent class errs on two rows of four.
    share = (tests + k * 2 / 4) / (11 + k * 2 / 4)
    assert registry.metric(f"standard-cost-share@{k}").function(three) == pytest.approx(share)


def test_naming_the_most_frequent_class_costs_less_than_the_standard(registry):
    blind = outcome([0, 0, 0, 1], [0, 0, 0, 0], np.zeros((4, 3)))
    full = outcome([0, 0, 0, 1], [0, 0, 0, 1], np.ones((4, 3)))
    share = registry.metric("standard-cost-share@100").function
    assert share(blind) == pytest.approx(25 / 36)
    assert share(full) == pytest.approx(11 / 36)


def test_lower_is_better_and_no_rows_cost_nothing(registry):
    empty = outcome([], np.zeros(0, dtype=int), np.zeros((0, 3)))
    for name in ("test-plus-error-cost@50", "standard-cost-share@50"):
        metric = registry.metric(name)
        assert metric.goal == "min"
        assert metric.function(empty) == 0.0
