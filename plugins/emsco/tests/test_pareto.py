"""Non-dominated sorting against the definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from bench_emsco import pareto
from hypothesis import given, settings
from hypothesis import strategies as st


def ranks_by_definition(points: Sequence[tuple[int, int, float]]) -> list[int]:
    """Peel the fronts with exact fractions, O(P^2) each (§3.3.1, Eq. 8)."""
    goals = [(c, Fraction(r, c) if c else Fraction(0), -cost) for c, r, cost in points]

    def dominates(a: tuple, b: tuple) -> bool:
        return a != b and all(x >= y for x, y in zip(a, b, strict=True))

    level: dict[int, int] = {}
    t = 0
    while len(level) < len(points):
        left = [i for i in range(len(points)) if i not in level]
        best = [i for i in left if not any(dominates(goals[j], goals[i]) for j in left)]
        level.update(dict.fromkeys(best, t))
        t += 1
    return [t - 1 - level[i] for i in range(len(points))]


def rank_of(conclusive: np.ndarray, right: np.ndarray, cost: np.ndarray, fronts: Any = pareto.fronts) -> np.ndarray:
    accuracy = pareto.conclusive_accuracy(conclusive, right)
    members, point = pareto.distinct_points(conclusive, accuracy, cost)
    front = fronts(accuracy[members], cost[members])
    return (front.max() - front)[point]


def points(rows: int, prices: int) -> st.SearchStrategy[list[tuple[int, int, int]]]:
    point = st.integers(0, rows).flatmap(lambda c: st.tuples(st.just(c), st.integers(0, c), st.integers(0, prices)))
    return st.lists(point, min_size=1, max_size=40)


@settings(deadline=None, max_examples=150)
@given(st.one_of(points(4, 3), points(12, 9), points(10**7, 10**15)), st.booleans())
def test_both_versions_give_the_rank_of_the_definition(rows: list[tuple[int, int, int]], real: bool) -> None:
    from bench_emsco import _kernels_ranking as kernels

    conclusive, right, cost = np.array(rows, dtype=np.int64).T.copy()
    priced = cost / 1024.0 if real else cost
    expected = ranks_by_definition(rows)
    assert rank_of(conclusive, right, priced).tolist() == expected
    assert rank_of(conclusive, right, priced, kernels.fronts).tolist() == expected


def test_a_large_population_is_sorted_the_same_by_both_versions() -> None:
    from bench_emsco import _kernels_ranking as kernels

    rng = np.random.default_rng(0)
    conclusive = rng.integers(0, 300, 600)
    right = (conclusive * rng.random(600)).astype(np.int64)
    cost = rng.integers(0, 10_000, 600)
    rank = rank_of(conclusive, right, cost)
    assert np.array_equal(rank_of(conclusive, right, cost, kernels.fronts), rank)
    assert rank.max() > 5


def test_accuracies_with_the_least_possible_difference_are_distinguished() -> None:
    n = pareto.MAX_ROWS
    conclusive, right = np.array([n, n - 1]), np.array([n - 1, n - 2])
    accuracy = pareto.conclusive_accuracy(conclusive, right)
    assert Fraction(n - 1, n) > Fraction(n - 2, n - 1)
    assert accuracy[0] > accuracy[1]


def test_equal_points_are_one_point_and_equal_fractions_are_equal() -> None:
    conclusive, right, cost = np.array([4, 2, 4]), np.array([2, 1, 2]), np.array([9, 9, 9])
    members, point = pareto.distinct_points(conclusive, pareto.conclusive_accuracy(conclusive, right), cost)
    assert members.size == 2
    assert point.tolist() == [0, 1, 0]
    assert rank_of(conclusive, right, cost).tolist() == [1, 0, 1]


def test_nothing_conclusive_counts_as_accuracy_zero() -> None:
    assert pareto.conclusive_accuracy(np.array([0, 5]), np.array([0, 4])).tolist() == [0.0, 0.8]
