"""For every method of the repository: asked step by step and loaded from disk, a policy answers and pays as it did."""

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
"""Those that the ordinary run tries; the others are slow."""

PRICES = [4.0, 2.5, 1.0, 1.0, 3.0, 0.5]
TASKS = ("binary", "multiclass", "regression")
CASES = [(name, task) for name in sorted(load_registry().methods) for task in TASKS]


def table_of(fitted: FittedPolicy, task: str, rows: int) -> pd.DataFrame:
    """Rows that the policy was not fitted on."""
    values = make_dataset(task, rows=rows, seed=5).values  # type: ignore[arg-type]
    return pd.DataFrame(np.array(values), columns=list(fitted.feature_names))


def same(a: Decisions, b: Decisions) -> None:
    """Bit for bit."""
    for field in Decisions.__dataclass_fields__:
        one, other = getattr(a, field), getattr(b, field)
        assert (one is None) == (other is None), field
        assert one is None or np.array_equal(one, other), field


@pytest.mark.parametrize(
    ("name", "task"), [pytest.param(*case, marks=[] if case[0] in QUICK else [pytest.mark.slow]) for case in CASES]
)
def test_asked_step_by_step_and_loaded_a_policy_answers_and_pays_as_before(
    name: str, task: str, tmp_path: Path
) -> None:
    if task not in load_registry().method(name).tasks:
        pytest.skip(f"{name} does no {task}")
    dataset = make_dataset(task, rows=300)  # type: ignore[arg-type]
    groups = {"groups": {"lab": list(dataset.feature_names[1:3])}, "group_prices": {"lab": 1.5}}
    fitted = fit_policy(name, dataset, {"prices": PRICES, **groups}, splits=0)
    assert fitted.exact
    table = table_of(fitted, task, 1000)
    loaded = load_policy(save_policy(fitted, tmp_path / "policy"))
    assert loaded.exact
    rows, whole = fitted.rows(table), fitted.decisions(table)
    same(loaded.decisions(table), whole)
    for placeholder in (0.0, 1e3):
        asked = replay(loaded.policy, rows, loaded.encoder.feature_of_column, placeholder=placeholder)
        assert (asked.known == whole.acquired).all()
        same(asked.decisions, whole)
    assert np.array_equal(loaded.costs.bill(asked.known, rows.sizes), fitted.costs.bill(whole.acquired, rows.sizes))


@dataclass
class Quiet(Policy):
    """A cascade of two stages that does not say what it wants."""

    features: int

    def decide(self, rows: Rows) -> Decisions:
        later = rows.X[:, 2] > 0
        acquired = np.zeros((len(rows), self.features), dtype=bool)
        acquired[:, 2] = True
        acquired[later, 0] = True
        second = np.where(later, rows.X[:, 0] > 0, 0.25)
        return Decisions(acquired, probabilities=np.column_stack([1 - second, second]))


class Quietly(Method):
    """A third party's method, whose policy cannot be asked itself."""

    tasks = frozenset({"binary"})

    def fit(self, problem: Problem) -> list[Policy]:
        return [Quiet(problem.n_features)]


def test_what_says_nothing_itself_is_asked_by_substitution_and_comes_to_the_same_answer() -> None:
    fitted = fit_policy(Quietly(), make_dataset("binary", rows=200), PRICES, splits=0)
    assert not fitted.exact
    assert isinstance(fitted.policy, AskedBySubstitution)
    table = table_of(fitted, "binary", 100)
    whole = fitted.decisions(table)
    asked = replay(fitted.policy, fitted.rows(table), fitted.encoder.feature_of_column)
    assert (asked.known >= whole.acquired).all()
    assert asked.known.sum() < asked.known.size
    np.testing.assert_allclose(asked.decisions.probabilities, whole.probabilities, atol=1e-9)
