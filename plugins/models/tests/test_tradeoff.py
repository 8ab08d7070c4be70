"""Grids of λ that are even in cost, on known cost functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from bench_models.tradeoff import evenly_spaced, grid_in_cost, lambdas_in_cost, spread_in_cost
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Costs, Decisions, Part, Policy, Problem, Rows


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_square_roots_of_costs_are_evenly_spaced(scale: float) -> None:
    """Nine fits leave no step as wide as a third of the range, at any unit of λ."""

    def cost(value: float) -> float:
        return 100 * max(0.0, 1 - math.log1p(value / scale) / 4)

    grid = grid_in_cost(cost, 16)
    assert grid[0] == 0
    assert cost(grid[-1]) == 0
    roots = [math.sqrt(cost(value)) for value in grid]
    assert max(a - b for a, b in pairwise(roots)) < roots[0] / 3


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6), st.integers(2, 20))
def test_a_cost_in_steps_is_fitted_at_most_count_times(levels: list[float], count: int) -> None:
    steps = [*sorted(levels, reverse=True), 0.0]
    asked: list[float] = []

    def cost(value: float) -> float:
        asked.append(value)
        return steps[int(np.searchsorted(np.geomspace(0.01, 10, len(steps) - 1), value, side="right"))]

    grid = grid_in_cost(cost, count)
    assert sorted(asked) == grid
    assert len(set(grid)) == len(grid) <= count


def test_without_prices_one_fit_suffices() -> None:
    assert grid_in_cost(lambda value: 0.0, 16) == [0.0]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("count", [5, 10])
def test_a_jump_of_the_cost_does_not_use_up_the_grid(scale: float, count: int) -> None:
    """Below a λ of the scale, at least 4 of 100 are paid; above it, nothing is bought."""

    def cost(value: float) -> float:
        return 4 + 96 / (1 + 50 * value / scale) if value < scale else 0.0

    grid = spread_in_cost(cost, count)
    costs = [cost(value) for value in grid]
    assert (grid[0], costs[-1]) == (0.0, 0.0)
    assert len(grid) >= count - 2
    assert min(costs[:-1]) > 0, "one policy that buys nothing is enough"
    roots = [math.sqrt(value) for value in costs[:-1]]
    assert max(a - b for a, b in pairwise(roots)) < 2.5 * (roots[0] - roots[-1]) / (count - 3)
    assert roots[-1] < 1.2 * math.sqrt(6)


def test_where_nothing_is_ever_bought_one_lambda_suffices() -> None:
    assert spread_in_cost(lambda value: 0.0, 10) == [0.0]


@given(st.integers(1, 500), st.integers(1, 50))
def test_evenly_spaced_rows_reach_from_the_first_to_the_last(count: int, most: int) -> None:
    rows = evenly_spaced(count, most)
    steps = np.diff(rows)
    assert rows[0] == 0
    assert rows[-1] == count - 1 or most == 1
    assert len(rows) == min(count, most)
    assert not len(steps) or steps.max() - steps.min() <= 1


@dataclass(frozen=True)
class _BuysAbove(Policy):
    """Buys the first feature where it is greater than λ."""

    lambda_: float

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), 1), dtype=bool)
        acquired[:, 0] = rows.X[:, 0] > self.lambda_
        return Decisions(acquired, np.full((len(rows), 2), 0.5))


def test_lambdas_are_spread_by_the_cost_of_rows_from_the_whole_part() -> None:
    """In a table sorted by class, the first rows may buy nothing at any λ."""
    X = np.concatenate([np.zeros(500), np.linspace(0.01, 1, 500)])[:, None]
    part = Part(X, np.repeat([0, 1], 500))
    problem = Problem(part, part, Costs(np.ones(1)), "binary", 2, ("x",), np.arange(1), seed=0)
    grid = lambdas_in_cost(problem, _BuysAbove, 1.0, 100, 8)
    costs = [float((value < X).mean()) for value in grid]
    assert len(grid) == 8
    assert costs == sorted(costs, reverse=True)
    assert max(a - b for a, b in pairwise(costs)) < 0.25
