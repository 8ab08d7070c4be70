"""Objectives, fitness, selection probabilities (Property 2) and the choice of the elite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bench_emsco import fitness, pareto, ranking
from hypothesis import given, settings
from hypothesis import strategies as st

ROWS = 20
point = st.integers(0, ROWS).flatmap(lambda c: st.tuples(st.just(c), st.integers(0, c), st.integers(0, 50)))
generations = st.lists(point, min_size=1, max_size=25)


def distinct(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    conclusive, right, cost = np.array(rows, dtype=np.int64).T.copy()
    accuracy = pareto.conclusive_accuracy(conclusive, right)
    members, _ = pareto.distinct_points(conclusive, accuracy, cost)
    return conclusive[members], accuracy[members], cost[members]


def test_objectives_are_those_of_equations_3_to_5() -> None:
    goals = fitness.objectives(np.array([10, 0]), np.array([0.8, 0.0]), np.array([30, 60]), ROWS)
    assert goals.tolist() == [[0.5, 0.8, 1.0], [0.0, 0.0, 0.5]]
    norm = fitness.norms(goals)
    np.testing.assert_allclose(norm, [math.sqrt(0.25 + 0.64 + 1.0), 0.5], rtol=1e-15)
    assert fitness.gamma(norm) == norm[0] / norm[1] + 0.01


def test_free_chromosomes_are_best_in_cost_and_others_worst() -> None:
    nothing = np.zeros(3, dtype=np.int64)
    accuracy = np.zeros(3)
    assert fitness.objectives(nothing, accuracy, np.array([0, 5, 0]), ROWS)[:, 2].tolist() == [1.0, 0.0, 1.0]
    assert fitness.objectives(nothing, accuracy, np.zeros(3), ROWS)[:, 2].tolist() == [1.0, 1.0, 1.0]
    norm = fitness.norms(fitness.objectives(nothing, accuracy, np.array([0, 5, 0]), ROWS))
    assert norm.tolist() == [1.0, 0.5, 1.0]
    assert math.isfinite(fitness.gamma(norm))


@settings(deadline=None, max_examples=150)
@given(generations)
def test_selection_favours_rank_and_within_a_rank_the_norm(rows: list[tuple[int, int, int]]) -> None:
    _goals, norm, front, weight, base, place = ranking.rank_points(*distinct(rows), ROWS, fitness.EPSILON)
    rank = front.max() - front
    logs = fitness.log_fitness(rank, norm, base)
    for one in range(norm.size):
        for other in range(norm.size):
            higher = rank[one] > rank[other]
            if higher or (rank[one] == rank[other] and norm[one] > norm[other]):
                assert logs[one] > logs[other]
                assert weight[one] > weight[other] or weight[one] == 0.0
                assert place[one] < place[other]
    np.testing.assert_allclose(np.log(weight[weight > 0] / weight.max()), (logs - logs.max())[weight > 0], atol=1e-9)


def test_weights_do_not_overflow_with_many_ranks() -> None:
    rank, norm = np.arange(5000), np.full(5000, 0.5)
    weight = fitness.selection_weights(rank, norm, 3.0)
    assert np.all(np.isfinite(weight))
    assert weight[-1] == 0.5
    assert np.all(np.diff(fitness.log_fitness(rank, norm, 3.0)) > 0)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(generations, st.booleans())
def test_the_kernel_ranks_points_bit_for_bit_alike(rows: list[tuple[int, int, int]], real: bool) -> None:
    from bench_emsco import _kernels_ranking as kernels

    conclusive, accuracy, cost = distinct(rows)
    arguments = conclusive, accuracy, cost / 8.0 if real else cost, ROWS, 0.01
    references: tuple[Any, ...] = ranking.rank_points(*arguments)
    for mine, reference in zip(kernels.rank_points(*arguments), references, strict=True):
        assert np.array_equal(mine, reference)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 5, ranking.UNBOUNDED]))
def test_the_kernel_chooses_the_same_elite(seed: int, bound: int) -> None:
    from bench_emsco import _kernels_ranking as kernels

    rng = np.random.default_rng(seed)
    point = rng.integers(0, 6, rng.integers(1, 40))
    _, point = np.unique(point, return_inverse=True)
    front = np.sort(rng.integers(0, 3, point.max() + 1))
    front -= front[0]
    place = np.arange(front.size)
    mix = rng.permutation(front.size)
    stages = rng.integers(1, 5, point.size)
    arguments = place[mix], point, front[mix], stages, int(rng.integers(1, 12)), bound
    for mine, reference in zip(kernels.sort_chromosomes(*arguments), ranking.sort_chromosomes(*arguments), strict=True):
        assert np.array_equal(mine, reference)


def elite_rows(point: list[int], front: list[int], stages: list[int], at_least: int, bound: int) -> list[int]:
    order, elite = ranking.sort_chromosomes(
        np.arange(len(front)), np.array(point), np.array(front), np.array(stages), at_least, bound
    )
    return order[elite].tolist()


def test_the_elite_is_all_non_dominated_or_the_given_number() -> None:
    point, front, stages = [1, 0, 2, 0, 1], [0, 0, 1], [1, 2, 1, 1, 1]
    # Within a point fewer stages first, then the older: 3, 1 | 0, 4 | 2.
    assert elite_rows(point, front, stages, 1, ranking.UNBOUNDED) == [3, 1, 0, 4]
    assert elite_rows(point, front, stages, 5, ranking.UNBOUNDED) == [3, 1, 0, 4, 2]


def test_at_most_so_many_elites_share_a_point() -> None:
    point, front, stages = [1, 0, 2, 0, 1], [0, 0, 1], [1, 2, 1, 1, 1]
    assert elite_rows(point, front, stages, 1, 1) == [3, 0]
    assert elite_rows(point, front, stages, 3, 1) == [3, 0, 2]
    assert elite_rows(point, front, stages, 5, 1) == [3, 0, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [0.5], [1.0], 0), "n_rows"),
        (([21], [0.5], [1.0], ROWS), "conclusive"),
        (([1], [0.5], [-1.0], ROWS), "cost"),
        (([1], [0.5], [np.nan], ROWS), "cost"),
        (([1], [0.5], [np.inf], ROWS), "cost"),
    ],
)
def test_impossible_objectives_are_refused_by_name(arguments: tuple, message: str) -> None:
    conclusive, accuracy, cost, rows = arguments
    with pytest.raises(ValueError, match=message):
        fitness.objectives(np.array(conclusive), np.array(accuracy), np.array(cost), rows)
    with pytest.raises(ValueError, match="epsilon"):
        fitness.gamma(np.ones(2), 0.0)
