"""The division of features into stages by cost class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from bench_cost_ordered.stages import entry_prices, stages_by_cost
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Costs, Part, Problem

MakeProblem = Callable[..., Problem]


def stages_of(problem: Problem, max_stages: int | None = None) -> list[list[int]]:
    return [features.tolist() for features in stages_by_cost(problem, max_stages)]


def test_the_schemes_cost_classes_are_the_stages(make_problem: MakeProblem) -> None:
    costs = Costs(np.array([100.0, 300.0, 200.0, 300.0, 100.0]), classes=np.array([1, 3, 2, 3, 1]))
    assert stages_of(make_problem(2, costs=costs)) == [[0, 4], [2], [1, 3]]


def test_the_cheapest_class_comes_first_whatever_its_number(make_problem: MakeProblem) -> None:
    costs = Costs(np.array([5.0, 5.0, 1.0, 1.0, 3.0]), classes=np.array([0, 0, 7, 7, 2]))
    assert stages_of(make_problem(2, costs=costs)) == [[2, 3], [4], [0, 1]]


def test_classes_of_one_price_are_separate_stages_in_order_of_their_numbers(make_problem: MakeProblem) -> None:
    costs = Costs(np.zeros(5), classes=np.array([2, 1, 2, 1, 3]))
    assert stages_of(make_problem(2, costs=costs)) == [[1, 3], [0, 2], [4]]


def test_without_classes_equal_prices_are_a_class(make_problem: MakeProblem) -> None:
    assert stages_of(make_problem(2, costs=Costs(np.array([2.0, 0.0, 2.0, 9.0, 0.0])))) == [[1, 4], [0, 2], [3]]


def test_a_features_price_includes_its_groups(make_problem: MakeProblem) -> None:
    costs = Costs(np.array([0.0, 0.0, 1.0, 4.0, 5.0]), np.array([0, 0, 1, -1, -1]), np.array([4.0, 1.0]))
    problem = make_problem(2, costs=costs)
    assert entry_prices(problem).tolist() == [4.0, 4.0, 2.0, 4.0, 5.0]
    assert stages_of(problem) == [[2], [0, 1, 3], [4]]


def test_prices_that_differ_by_rounding_only_are_one_stage(make_problem: MakeProblem) -> None:
    costs = Costs(np.array([0.3, 0.1, 0.3, 0.4]), np.array([-1, 0, -1, -1]), np.array([0.2]))
    assert stages_of(make_problem(2, costs=costs)) == [[0, 1, 2], [3]]


def test_prices_that_grow_with_size_are_compared_at_the_mean_training_size(make_problem: MakeProblem) -> None:
    problem = make_problem(2, features=2, costs=Costs(np.array([[0.0, 1.0], [5.0, 0.0]])))
    for sizes, expected in (([2.0, 4.0], [[0], [1]]), ([6.0, 8.0], [[1], [0]])):
        part = Part(problem.train.X[:2], problem.train.y[:2], np.array(sizes))
        assert stages_of(replace(problem, train=part)) == expected


def test_quantiles_merge_neighbouring_classes(make_problem: MakeProblem) -> None:
    problem = make_problem(2, features=6, costs=Costs(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])))
    assert stages_of(problem, 3) == [[0, 1], [2, 3], [4, 5]]
    assert stages_of(problem, 6) == [[0], [1], [2], [3], [4], [5]]
    assert stages_of(problem, 1) == [[0, 1, 2, 3, 4, 5]]


@given(prices=st.lists(st.integers(0, 8), min_size=1, max_size=12), max_stages=st.one_of(st.none(), st.integers(1, 12)))
def test_stages_partition_the_features_by_rising_price(prices: list[int], max_stages: int | None) -> None:
    d = len(prices)
    part = Part(np.zeros((2, d)), np.array([0, 1]))
    costs = Costs(np.array(prices, dtype=float))
    problem = Problem(part, part, costs, "binary", 2, tuple(map(str, range(d))), np.arange(d), threshold=0.5)
    stages = stages_of(problem, max_stages)
    assert sorted(feature for stage in stages for feature in stage) == list(range(d))
    assert all(stages)
    assert max_stages is None or len(stages) <= max_stages
    for earlier, later in pairwise(stages):
        assert max(prices[f] for f in earlier) < min(prices[f] for f in later)


@pytest.mark.parametrize("max_stages", [None, 9])
def test_enough_stages_for_every_class_change_nothing(make_problem: MakeProblem, max_stages: int | None) -> None:
    assert stages_of(make_problem(2), max_stages) == [[0], [1], [2], [3], [4]]
