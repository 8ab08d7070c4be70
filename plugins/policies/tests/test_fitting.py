"""A chosen policy is fitted again on more rows, and a method with ``budgets`` gets the goal's budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from bench_policies import Goal, fit_policy
from bench_policies.budgets import within_budget
from numpy.typing import NDArray

from bench_core import Decisions, Method, Policy, Problem, Rows
from bench_core.plugins.manager import load_registry


@pytest.fixture
def table() -> pd.DataFrame:
    """Three columns, whose sum gives the class."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=list("abc"))
    return frame.assign(y=np.where(frame.sum(axis=1) > 0, "yes", "no"))


class BySign(Policy):
    """The class from the sign of the first feature."""

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros(rows.X.shape, dtype=bool)
        acquired[:, 0] = True
        yes = np.where(rows.X[:, 0] > 0, 0.9, 0.1)
        return Decisions(acquired, np.column_stack([1 - yes, yes]))


@dataclass(frozen=True)
class Refitting(Method):
    """A method that labels its policy with the number of rows that it was fitted on."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [BySign()]

    def refitted(self, policy: Policy, problem: Problem) -> Policy:
        policy.label = str(len(problem.train))
        return policy


def test_a_chosen_policy_is_fitted_again_on_training_and_validation_rows(table: pd.DataFrame) -> None:
    fitted = fit_policy(Refitting(), table, [1.0, 2.0, 7.0], target="y", splits=0)
    assert fitted.about["policy"]["label"] == "120"


def test_fitting_by_name_uses_the_goals_budget_up_unless_budgets_are_given(table: pd.DataFrame) -> None:
    fit = partial(fit_policy, "forward-selection", table, {"a": 1, "b": 1, "c": 1}, target="y", splits=0)
    found = fit(goal=Goal(budget=2.0))
    assert max(found.about["parameters"]["budgets"]) == pytest.approx(2 / 3)
    assert found.decide(table).cost.max() == 2
    given = fit(goal=Goal(budget=2.0), parameters={"budgets": [0.4]})
    assert list(given.about["parameters"]["budgets"]) == [0.4]


@pytest.mark.parametrize(
    ("name", "goal", "expected"),
    [
        ("forward-selection", Goal(budget=30.0), [0.5]),
        ("greedy", Goal(budget=30.0), [30.0]),
        ("mask-static", Goal(budget=30.0), [30.0]),
        ("forward-selection", Goal(budget=40.0, cap=30.0), [0.5]),
        ("affordable-subset", Goal(cap=9.0), [0.15]),
        ("affordable-subset", Goal(cap=9.0, quality=0.8), [0.02, 0.05, 0.1, 0.15]),
        ("greedy", Goal(cap=30.0), [30.0]),
        ("greedy", Goal(cap=30.0, quality=0.8), None),
        ("forward-selection", Goal(budget=60.0), None),
        ("eg2", Goal(budget=30.0), None),
    ],
)
def test_budgets_are_handed_over_in_the_methods_own_unit(name: str, goal: Goal, expected: list[float] | None) -> None:
    assert within_budget({}, load_registry().method(name), goal, 60.0).get("budgets") == expected


class BySet(Policy):
    """The class from the sign of the first feature; it buys all features of a set."""

    def __init__(self, features: list[int]) -> None:
        self.features = features

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros(rows.X.shape, dtype=bool)
        acquired[:, self.features] = True
        yes = np.where(rows.X[:, 0] > 0, 0.9, 0.1)
        return Decisions(acquired, np.column_stack([1 - yes, yes]))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        wanted = np.zeros_like(known)
        wanted[:, self.features] = True
        return wanted & ~known


@dataclass(frozen=True)
class Growing(Method):
    """A method whose policy buys more after refitting."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [BySet([0])]

    def refitted(self, policy: Policy, problem: Problem) -> Policy:
        return BySet([0, 1])


def test_a_refitted_policy_that_exceeds_the_cap_is_not_taken(table: pd.DataFrame) -> None:
    fit = partial(fit_policy, Growing(), table, [1.0, 2.0, 7.0], target="y", splits=0)
    assert fit().decide(table).cost.tolist() == [3.0] * 120
    assert fit(goal=Goal(cap=3.0)).decide(table).cost.tolist() == [3.0] * 120
    assert fit(goal=Goal(cap=2.0)).decide(table).cost.tolist() == [1.0] * 120
