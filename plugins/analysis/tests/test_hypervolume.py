"""Fronts, ranks and hypervolume against brute force on small whole numbers."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from bench_analysis.fronts import REFERENCE_POINT, hypervolume, non_dominated, step_front
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

POINTS = st.integers(1, 12).flatmap(lambda rows: arrays(np.int64, (rows, 3), elements=st.integers(0, 5)))


def dominates(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((a >= b).all() and (a > b).any())


def front_by_hand(points: np.ndarray) -> list[bool]:
    return [not any(dominates(other, one) for other in points) for one in points]


@settings(deadline=None)
@given(POINTS)
def test_the_front_is_what_no_point_dominates(points: np.ndarray) -> None:
    assert non_dominated(points).tolist() == front_by_hand(points)


@settings(deadline=None)
@given(POINTS)
def test_objectives_may_be_minimised_one_by_one(points: np.ndarray) -> None:
    flipped = points * np.array([1, -1, 1])
    assert non_dominated(flipped, maximise=[True, False, True]).tolist() == front_by_hand(points)


@settings(deadline=None)
@given(POINTS)
def test_hypervolume_counts_the_dominated_unit_cubes(points: np.ndarray) -> None:
    cells = np.stack(np.meshgrid(*[np.arange(5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    covered = np.any(np.all(cells[:, None, :] < points[None, :, :], axis=2), axis=1)
    assert hypervolume(points / 5) == pytest.approx(covered.sum() / 125, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=6))
def test_hypervolume_is_that_of_inclusion_and_exclusion(points: list[tuple[float, float, float]]) -> None:
    total = 0.0
    for size in range(1, len(points) + 1):
        for some in combinations(points, size):
            total -= (-1) ** size * float(np.prod(np.min(some, axis=0)))
    assert hypervolume(np.array(points)) == pytest.approx(total, abs=1e-9)


@settings(deadline=None)
@given(POINTS)
def test_a_dominated_point_adds_nothing(points: np.ndarray) -> None:
    front = points[non_dominated(points)]
    assert hypervolume(front / 5) == pytest.approx(hypervolume(points / 5), abs=1e-12)


def test_the_reference_point_is_the_worst_there_can_be() -> None:
    assert REFERENCE_POINT == (0.0, 0.0, 0.0)
    assert hypervolume(np.array([[1.0, 1.0, 1.0]])) == 1.0
    assert hypervolume(np.zeros((0, 3))) == 0.0
    assert hypervolume(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])) == 0.0
    assert hypervolume(np.array([[0.5, -1.0, 0.5], [0.5, -1.0, 0.5]])) == 0.0


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(-3, 3)), min_size=0, max_size=25))
def test_the_step_front_answers_every_budget(policies: list[tuple[int, int, int]]) -> None:
    group, cost, quality = (np.array([p[i] for p in policies], dtype=float) for i in range(3))
    kept = step_front(group.astype(np.int64), cost, quality)
    for one in sorted(set(group)):
        mine = [i for i in kept if group[i] == one]
        assert all(cost[a] < cost[b] and quality[a] < quality[b] for a, b in pairwise(mine))
        everyone = np.flatnonzero(group == one)
        for budget in range(5):
            affordable = [i for i in everyone if cost[i] <= budget]
            affordable_ones = [i for i in mine if cost[i] <= budget]
            assert bool(affordable_ones) == bool(affordable)
            if affordable:
                best = max(quality[i] for i in affordable)
                cheapest = min(cost[i] for i in affordable if quality[i] == best)
                first = min(i for i in affordable if quality[i] == best and cost[i] == cheapest)
                assert affordable_ones[-1] == first
