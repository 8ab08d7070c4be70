"""Folds of the training part: a partition with each class spread over all folds, and undivided queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_models.folds import folds, taking
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Part
from bench_core.testing import make_problem


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.integers(2, 5), st.integers(0, 5))
def test_folds_are_a_partition_with_each_class_spread_evenly(labels: list[int], count: int, seed: int) -> None:
    y = np.array(labels)
    problem = replace(make_problem("multiclass"), train=Part(np.zeros((len(y), 2)), y), n_classes=3, seed=seed)
    found = folds(problem, count)
    assert len(found) == min(count, len(y))
    assert sorted(np.concatenate(found).tolist()) == list(range(len(y)))
    for code in range(3):
        sizes = [int((y[rows] == code).sum()) for rows in found]
        assert max(sizes) - min(sizes) <= 1


def test_rows_of_a_query_stay_together() -> None:
    problem = make_problem("ranking")
    query = problem.train.query
    assert query is not None
    found = folds(problem, 3)
    for one in found:
        for other in found:
            assert one is other or not set(query[one]) & set(query[other])
    part = taking(problem, found[0]).train
    assert part.query is not None
    assert part.query.tolist() == query[found[0]].tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_folds_depend_only_on_the_trials_seed(seed: int) -> None:
    problem = replace(make_problem("binary"), seed=seed)
    first, second = (np.concatenate(folds(problem, 3)).tolist() for _ in range(2))
    assert first == second
    assert first != np.concatenate(folds(replace(problem, seed=seed + 2), 3)).tolist()
