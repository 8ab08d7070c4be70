"""The figures of a recommendation equal those of the policies on the test parts, which are recomputed here."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from bench_policies import evaluate, recommend
from numpy.typing import NDArray
from scipy import stats

from bench_core import Costs, CostScheme, Dataset, Decisions, Method, Policy, Problem, RegisterMethod, Rows, hookimpl
from bench_core.suites import load_registry as installed

COLUMNS = ("noisy", "exact", "rest")


@pytest.fixture
def table() -> pd.DataFrame:
    """Two of three columns determine the class, one of them with noise."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list(COLUMNS))
    frame["y"] = np.where(frame["exact"] > 0, "yes", "no")
    frame["noisy"] = frame["exact"] + rng.normal(0, 0.8, 200)
    return frame


@dataclass
class BySign(Policy):
    """The class from the sign of one feature."""

    feature: int

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros(rows.X.shape, dtype=bool)
        acquired[:, self.feature] = True
        yes = np.where(rows.X[:, self.feature] > 0, 0.9, 0.1)
        return Decisions(acquired, np.column_stack([1 - yes, yes]))


@dataclass(frozen=True)
class Noisy(Method):
    """A method with one policy, which reads the noisy feature."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [BySign(0)]


class Plugin:
    """The method as a plugin."""

    BENCH_CONTRACT_VERSION = 1

    @hookimpl
    def bench_register_methods(self, register: RegisterMethod) -> None:
        register("noisy", Noisy)

    @hookimpl(optionalhook=True)
    def bench_policy_types(self) -> list[type]:
        return [BySign]


@pytest.fixture(autouse=True)
def with_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = installed([("noisy", Plugin())])
    monkeypatch.setattr("bench_policies.recommending.load_registry", lambda: registry)


@dataclass(frozen=True)
class BySeed(CostScheme):
    """The noisy feature costs 1 of 10 under odd seeds and 6 of 10 under even ones."""

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return Costs([1.0, 2.0, 7.0] if seed % 2 else [6.0, 2.0, 2.0])


def test_quality_and_interval_are_those_of_the_trials_on_the_test_parts(table: pd.DataFrame) -> None:
    found = recommend(table, [1.0, 2.0, 7.0], target="y", methods=["noisy"], splits=4, isolation="none")
    trials = evaluate(Noisy(), table, [1.0, 2.0, 7.0], target="y", splits=5, metrics=["accuracy"])
    by_split = trials[trials.seed >= 1].pivot(index="seed", columns="part", values="accuracy")
    assert by_split["test"].tolist() != by_split["validation"].tolist()
    row = found.table.set_index("method").loc["noisy"]
    assert row["splits"] == 4
    assert row["quality"] == pytest.approx(by_split["test"].mean())
    # Of 200 rows, 50 are test rows and 150 training or validation rows.
    error = math.sqrt(by_split["test"].var(ddof=1) * (1 / 4 + 50 / 150))
    assert row["quality_half"] == pytest.approx(stats.t.ppf(0.975, 3) * error)


def test_the_curve_holds_the_budgets_that_are_kept_on_every_split(table: pd.DataFrame) -> None:
    found = recommend(table, BySeed(), target="y", methods=["noisy"], splits=2, isolation="none")
    assert found.full_cost == 10.0
    assert found.curve["budget"].tolist() == [7.5, 10.0]
    assert found.curve["cost"].tolist() == [3.5, 3.5]
    assert found.curve["splits"].tolist() == [2, 2]


def test_the_curve_is_measured_on_the_test_part(table: pd.DataFrame) -> None:
    found = recommend(table, [1.0, 2.0, 7.0], target="y", methods=["noisy"], splits=1, isolation="none")
    trials = evaluate(Noisy(), table, [1.0, 2.0, 7.0], target="y", splits=2, metrics=["accuracy"])
    parts = trials[trials.seed == 1].set_index("part")["accuracy"]
    assert parts["test"] != parts["validation"]
    assert found.curve["budget"].tolist() == [1.0, 2.0, 3.5, 5.0, 7.5, 10.0]
    assert found.curve["quality"].tolist() == pytest.approx([parts["test"]] * 6)
