"""The policy that each kind of goal chooses, on families given by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench_policies import Goal
from bench_policies.goals import Judged
from bench_policies.judging import judge
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Costs, Decisions, Part, RequestError, outcome_of


def policy(quality: float, cost: float, loss: float = 0.0) -> Judged:
    return Judged(quality, cost, 1.0, quality, loss)


FAMILY = [policy(0.5, 0.0, 100.0), policy(0.8, 10.0, 30.0), policy(0.9, 20.0, 25.0), policy(0.905, 60.0, 20.0)]


@pytest.mark.parametrize(
    ("goal", "chosen"),
    [
        (Goal(budget=20), 2),
        (Goal(budget=19), 1),
        (Goal(budget=0), 0),
        (Goal(quality=0.75), 1),
        (Goal(quality=0.9), 2),
        (Goal(quality=0.99), 3),  # the nearest where none is good enough
        (Goal(error_costs={"sick": {"healthy": 1.0}}), 1),
        (Goal(), 2),  # 0.905 is within one standard error of 0.9 on 100 rows
    ],
)
def test_a_goal_chooses_the_policy_that_serves_it(goal: Goal, chosen: int) -> None:
    assert goal.choose(FAMILY, 100) == chosen


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 100)), min_size=1, max_size=8), st.floats(0, 100))
def test_no_policy_within_the_budget_beats_the_chosen_one(family: list[tuple[float, float]], budget: float) -> None:
    judged = [policy(q, c) for q, c in family]
    chosen = judged[Goal(budget=budget).choose(judged, 50)]
    affordable = [one for one in judged if one.cost <= budget + 1e-9 * max(budget, 1.0)]
    if affordable:
        assert chosen.quality == max(one.quality for one in affordable)
        assert Goal(budget=budget).met(chosen)
    elif min(one.cost for one in judged) > budget * (1 + 1e-6) + 1e-6:
        assert not Goal(budget=budget).met(chosen)


def test_wrong_goals_are_refused() -> None:
    for wrong in ({"budget": -1.0}, {"budget": math.nan}, {"quality": 90.0}, {"budget": 1.0, "quality": 0.5}):
        with pytest.raises(RequestError):
            Goal(**wrong)
    with pytest.raises(RequestError, match="need classes"):
        Goal(quality=0.5).check("regression", ())


def test_refused_rows_count_as_not_right_and_cost_what_a_refusal_costs() -> None:
    table = np.array([[0.9, 0.1], [0.2, 0.8], [0.45, 0.55], [0.7, 0.3]])
    part = Part(np.zeros((4, 1)), np.array([0, 0, 1, 0]))
    acquired = np.array([[True], [True], [False], [True]])
    outcome = outcome_of(Decisions(acquired, table), part, Costs(np.array([4.0])), "binary", threshold=0.6)
    for refused, expected in ((None, 0.75), (10.0, 0.5)):
        # "a" is the answer of every row: "b" is expected to cost more even where it is four times as probable. The
        # third row is below the threshold; answering the second is expected to cost 16.
        goal = Goal(error_costs={"a": {"b": 100.0}, "b": {"a": 20.0}}, refused_cost=refused)
        loss = 0.0 if refused is None else 2 * 10.0 / 4
        coverage = 0.75 if refused is None else 0.5
        assert judge(outcome, ("a", "b"), goal) == Judged(expected, 3.0, coverage, 1.0, loss, 4.0)


@pytest.mark.parametrize("scale", [1.0, 1e12, 1e60])
def test_a_policy_that_meets_the_goal_is_preferred_at_any_scale(scale: float) -> None:
    """Squared errors of house prices exceed 1e9, and prices may, too."""
    errors = [policy(-2.0 * scale, 1.0), policy(-1.0 * scale, 3.0)]
    within = Goal(budget=2.0)
    assert within.choose(errors, 100) == 0
    assert [within.met(one) for one in errors] == [True, False]
    reached = Goal(quality=0.8)
    dear = [policy(0.7, 0.0), policy(0.9, 5.0 * scale)]
    assert reached.choose(dear, 100) == 1
    assert [reached.met(one) for one in dear] == [False, True]
    assert within.choose([policy(0.9, 4.0 * scale), policy(0.5, 3.0 * scale)], 100) == 1  # none is within: the nearest


def test_the_cost_of_a_policy_includes_its_base_models() -> None:
    """Two rows buy a feature for 4, one does not; they run 1, 2 and 3 base models for 0.5 each."""
    part = Part(np.zeros((3, 1)), np.array([0, 1, 1]))
    acquired = np.array([[True], [True], [False]])
    decisions = Decisions(acquired, np.full((3, 2), 0.5), evaluations=np.array([1.0, 2.0, 3.0]))
    outcome = outcome_of(decisions, part, Costs(np.array([4.0]), evaluation=0.5), "binary")
    assert judge(outcome, ("a", "b"), Goal()).cost == pytest.approx((8.0 + 3.0) / 3)


@pytest.mark.parametrize(
    ("goal", "classes", "difference", "said"),
    [
        (Goal(budget=5), ("a", "b"), 0.05, "worse than lasso by 5.0 ± 2.0 % right answers"),
        (Goal(measure="auc"), ("a", "b"), 0.05, "worse than lasso by an area under the ROC curve of 0.05 ± 0.02"),
        (Goal(quality=0.9), ("a", "b"), 3.5, "worse than lasso by a mean cost of 3.5 ± 0.02"),
        (Goal(error_costs={"a": {"b": 1}}), ("a", "b"), 3.5, "worse than lasso by a mean total of 3.5 ± 0.02"),
        (Goal(), (), 1e9, "worse than lasso by a mean squared error of 1e+09 ± 0.02"),
        (Goal(budget=5), ("a", "b"), 1e150, "further from the goal than lasso"),
    ],
)
def test_a_difference_is_told_in_what_the_goal_compares(
    goal: Goal, classes: tuple[str, ...], difference: float, said: str
) -> None:
    assert goal.behind_text("lasso", difference, 0.02, classes) == said


@pytest.mark.parametrize("measure", ["accuracy", "balanced-accuracy", "auc", "log-loss"])
def test_a_goal_states_the_rule_of_one_standard_error_where_it_is_applied(measure: str) -> None:
    goal = Goal(measure=measure)
    better, cheaper = policy(0.9001, 28.0), policy(0.9, 1.0)
    applied = goal.choose([better, cheaper], 75) == 1
    assert applied == ("one standard error" in goal.in_words())
    assert "one standard error" not in goal.in_words(classes=False)
