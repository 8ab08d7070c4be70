"""The default is recommended unless another method is better by more than the paired interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench_policies.goals import Goal, Judged
from bench_recommend.choosing import equals, preferred, ranked
from bench_recommend.race import Candidate, _drop, behind
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Method


class _Named(Method):
    def fit(self, problem):  # type: ignore[no-untyped-def]
        raise NotImplementedError


def _candidate(use: str, values: list[float], cost: float = 10.0) -> Candidate:
    count = len(values)
    return Candidate(
        use, _Named(), use, values=list(values), rows=[np.array([value, 0.0]) for value in values], met=[True] * count,
        least=[0.0] * count, decided=[Judged(value, cost, 1.0, value, 0.0) for value in values],
        chosen=[Judged(value, cost, 1.0, value, 0.0) for value in values],
    )  # fmt: skip


@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(0, 0.2))
def test_another_method_needs_more_than_the_interval(seed: int, splits: int, lead: float) -> None:
    rng = np.random.default_rng(seed)
    default = _candidate("affordable-subset", rng.uniform(0.5, 0.7, splits).tolist())
    rival = _candidate("eg2", (np.array(default.values) + lead + rng.normal(0, 0.05, splits)).tolist())
    mean, half = behind(rival, default, splits, Goal(budget=10.0))
    found = preferred(ranked([default, rival]), Goal(budget=10.0))
    assert found is (rival if mean > half else default)


def test_with_methods_that_are_equally_good_the_default_wins_nearly_always() -> None:
    rng = np.random.default_rng(0)
    times = 0
    for _ in range(200):
        default = _candidate("affordable-subset", rng.normal(0.8, 0.03, 5).tolist())
        rivals = [_candidate(f"m{i}", rng.normal(0.8, 0.03, 5).tolist()) for i in range(4)]
        times += preferred(ranked([default, *rivals]), Goal(cap=10.0)) is default
    assert times > 185  # following the best mean would choose it 40 times


@pytest.mark.parametrize("goal", [Goal(quality=0.5), Goal(error_costs={"a": {"b": 1.0}})])
def test_other_goals_follow_the_best_mean(goal: Goal) -> None:
    order = ranked([_candidate("affordable-subset", [0.6, 0.7]), _candidate("eg2", [0.61, 0.72])])
    found = preferred(order, goal)
    assert found is not None
    assert found.name == "eg2"


def test_without_a_limit_the_cheapest_of_the_equals_is_recommended() -> None:
    order = ranked([_candidate("affordable-subset", [0.7, 0.71]), _candidate("eg2", [0.70, 0.705], cost=3.0)])
    assert [one.name for one in order] == ["affordable-subset", "eg2"]
    found = preferred(order, Goal())
    assert found is not None
    assert found.name == "eg2"


def test_the_cheapest_is_chosen_on_other_rows_than_its_cost_is_reported_on() -> None:
    """Of methods with one true cost, the one that is the cheapest on the report rows would report too little."""
    rng = np.random.default_rng(0)
    reported = []
    for _ in range(200):
        candidates = [_candidate(f"m{i}", rng.normal(0.9, 0.01, 4).tolist()) for i in range(8)]
        for candidate in candidates:
            for judged in (candidate.decided, candidate.chosen):
                judged[:] = [Judged(0.9, cost, 1.0, 0.9, 0.0) for cost in rng.normal(10, 1, 4)]
        found = preferred(ranked(candidates), Goal())
        assert found is not None
        reported.append(np.mean([judged.cost for judged in found.chosen]))
    assert np.mean(reported) == pytest.approx(10, abs=0.2)  # chosen by the reported cost it would be 9.4


def test_methods_that_met_the_goal_less_often_do_not_equal_the_best() -> None:
    best, other = _candidate("a", [0.7, 0.71, 0.72]), _candidate("b", [0.7, 0.71, 0.72])
    assert equals(best, [best, other], Goal()) == [other]
    other.met = [True, True, False]
    assert equals(best, [best, other], Goal()) == []


def test_the_default_is_not_stopped_for_being_in_the_worse_half() -> None:
    portfolio = [_candidate(f"m{i}", [0.8 + 0.001 * i]) for i in range(20)]
    portfolio.append(_candidate("affordable-subset", [0.79]))
    for candidate in portfolio:
        candidate.rows = [np.array([-1.0, 1.0]) * np.random.default_rng(len(candidate.name)).normal()]
        candidate.rows[0] += candidate.values[0]
    _drop(portfolio, 1, Goal(budget=1), ("a", "b"))
    assert portfolio[-1].status == "tried"
    assert sum(one.status == "tried" for one in portfolio) < 20
    assert not math.isnan(portfolio[-1].values[0])


def test_one_split_tells_no_methods_apart_whose_goal_is_a_quality() -> None:
    better, worse = _candidate("eg2", [-1.0]), _candidate("stump", [-9.0])
    assert behind(better, worse, 1, Goal(quality=0.8)) == (8.0, np.inf)
    assert behind(better, worse, 1, Goal(budget=10.0))[1] < 8.0
