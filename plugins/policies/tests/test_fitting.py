"""A chosen policy is fitted again on more rows, and a method with ``budgets`` gets the goal's budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from bench_policies import Goal, fit_policy

from bench_core import Decisions, Method, Policy, Problem, Rows


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
