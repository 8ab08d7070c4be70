"""For every method: asked step by step or loaded from disk, a policy gives the same answers at the same cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bench_policies import AskedBySubstitution, FittedPolicy, fit_policy, load_policy, save_policy

from bench_core import Decisions, Method, Policy, Problem, Rows
from bench_core.execution import replay
from bench_core.suites import load_registry
from bench_core.testing import make_dataset

QUICK = {"single-stage", "cost-ordered", "lasso", "stump", "majority", "forward-selection"}
"""Methods of the default run; the others are in the weekly run."""

PRICES = [4.0, 2.5, 1.0, 1.0, 3.0, 0.5]
TASKS = ("binary", "multiclass", "regression")
CASES = [
    (name, task) for name, method in sorted(load_registry().methods.items()) for task in TASKS if task in method.tasks
]


def table_of(fitted: FittedPolicy, task: str, rows: int) -> pd.DataFrame:
    """Return rows that the policy was not fitted on."""
    values = make_dataset(task, rows=rows, seed=5).values  # type: ignore[arg-type]
    return pd.DataFrame(np.array(values), columns=list(fitted.feature_names))


def same(a: Decisions, b: Decisions) -> None:
    """Assert that two decisions are equal bit for bit."""
    for field in Decisions.__dataclass_fields__:
        one, other = getattr(a, field), getattr(b, field)
        assert (one is None) == (other is None), field
        assert one is None or np.array_equal(one, other), field


@pytest.mark.parametrize(
    ("name", "task"), [pytest.param(*case, marks=[pytest.mark.weekly] * (case[0] not in QUICK)) for case in CASES]
)
def test_a_policy_asked_step_by_step_or_loaded_answers_and_pays_the_same(name: str, task: str, tmp_path: Path) -> None:
    dataset = make_dataset(task, rows=300)  # type: ignore[arg-type]
    groups = {"groups": {"lab": list(dataset.feature_names[1:3])}, "group_prices": {"lab": 1.5}}
    fitted = fit_policy(name, dataset, {"prices": PRICES, **groups}, splits=0)
    assert fitted.exact
    table = table_of(fitted, task, 1000)
    loaded = load_policy(save_policy(fitted, tmp_path / "policy"))
    assert loaded.exact
    rows, expected = fitted.rows(table), fitted.decisions(table)
    same(loaded.decisions(table), expected)
    for placeholder in (0.0, 1e3):
        asked = replay(loaded.policy, rows, loaded.encoder.feature_of_column, placeholder=placeholder)
        assert (asked.known == expected.acquired).all()
        same(asked.decisions, expected)
    assert np.array_equal(loaded.costs.bill(asked.known, rows.sizes), fitted.costs.bill(expected.acquired, rows.sizes))


@dataclass
class CascadePolicy(Policy):
    """A cascade of two stages without ``next_features``."""

    features: int

    def decide(self, rows: Rows) -> Decisions:
        later = rows.X[:, 2] > 0
        acquired = np.zeros((len(rows), self.features), dtype=bool)
        acquired[:, 2] = True
        acquired[later, 0] = True
        second = np.where(later, rows.X[:, 0] > 0, 0.25)
        return Decisions(acquired, probabilities=np.column_stack([1 - second, second]))


class Cascade(Method):
    """A method whose policy cannot be asked step by step."""

    tasks = frozenset({"binary"})

    def fit(self, problem: Problem) -> list[Policy]:
        return [CascadePolicy(problem.n_features)]


def test_a_policy_without_next_features_is_asked_by_substitution_with_the_same_answers() -> None:
    fitted = fit_policy(Cascade(), make_dataset("binary", rows=200), PRICES, splits=0)
    assert not fitted.exact
    assert isinstance(fitted.policy, AskedBySubstitution)
    table = table_of(fitted, "binary", 100)
    expected = fitted.decisions(table)
    asked = replay(fitted.policy, fitted.rows(table), fitted.encoder.feature_of_column)
    assert (asked.known >= expected.acquired).all()
    assert asked.known.sum() < asked.known.size
    np.testing.assert_allclose(asked.decisions.probabilities, expected.probabilities, atol=1e-9)
