"""The figures of a recommendation are those of the policies on the report rows; the tests recompute them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from bench_recommend import recommend
from bench_recommend.nested import RULE, report_rows
from numpy.typing import NDArray
from scipy import stats

from bench_core import Costs, CostScheme, Dataset, Decisions, Method, Policy, Problem, RegisterMethod, Rows, hookimpl
from bench_core.execution import prepare
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
    monkeypatch.setattr("bench_recommend.recommending.load_registry", lambda: registry)


@dataclass(frozen=True)
class BySeed(CostScheme):
    """The noisy feature costs 1 of 10 under odd seeds and 6 of 10 under even ones."""

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return Costs([1.0, 2.0, 7.0] if seed % 2 else [6.0, 2.0, 2.0])


def on_report_rows(table: pd.DataFrame, seed: int) -> tuple[float, float]:
    """The accuracy of the noisy feature's sign on a split's report rows, and on all other test rows."""
    dataset = Dataset.from_frame("table", table, "y")
    prepared = prepare(dataset, Constant(), RULE, "onehot", seed, 1)
    right = (prepared.test.X[:, 0] > 0) == prepared.test.y
    report = report_rows(prepared.test.y)
    assert len(report) == len(right) // 3 == 20
    return float(right[report].mean()), float(np.delete(right, report).mean())


@dataclass(frozen=True)
class Constant(CostScheme):
    """Prices of 1, 2 and 7."""

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return Costs([1.0, 2.0, 7.0])


def test_quality_and_interval_are_those_of_the_report_rows(table: pd.DataFrame) -> None:
    found = recommend(table, [1.0, 2.0, 7.0], target="y", methods=["noisy"], splits=4, isolation="none")
    expected = np.array([on_report_rows(table, seed) for seed in range(1, 5)])
    assert expected[:, 0].tolist() != expected[:, 1].tolist()
    row = found.table.set_index("method").loc["noisy"]
    assert row["splits"] == 4
    assert row["quality"] == pytest.approx(expected[:, 0].mean())
    # Of 200 rows, 20 are report rows and 140 training or validation rows.
    error = math.sqrt(expected[:, 0].var(ddof=1) * (1 / 4 + 20 / 140))
    assert row["quality_half"] == pytest.approx(stats.t.ppf(0.975, 3) * error)


def test_the_curve_holds_the_budgets_that_are_kept_on_every_split(table: pd.DataFrame) -> None:
    found = recommend(table, BySeed(), target="y", methods=["noisy"], splits=2, isolation="none")
    assert found.full_cost == 10.0
    assert found.curve["budget"].tolist() == [7.5, 10.0]
    assert found.curve["cost"].tolist() == [3.5, 3.5]
    assert found.curve["splits"].tolist() == [2, 2]


def test_the_curve_is_measured_on_the_report_rows(table: pd.DataFrame) -> None:
    found = recommend(table, [1.0, 2.0, 7.0], target="y", methods=["noisy"], splits=1, isolation="none")
    report, others = on_report_rows(table, 1)
    assert report != others
    assert found.curve["budget"].tolist() == [1.0, 2.0, 3.5, 5.0, 7.5, 10.0]
    assert found.curve["quality"].tolist() == pytest.approx([report] * 6)


class Remembering(Policy):
    """Answers right on the rows that it was fitted with, and at random on others."""

    def __init__(self, seen: dict[bytes, int]) -> None:
        self.seen = seen

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.ones(rows.X.shape, dtype=bool)
        codes = [self.seen.get(row.tobytes(), int(abs(row.sum() * 1e6)) % 2) for row in rows.X]
        return Decisions(acquired, np.eye(2)[codes])


@dataclass(frozen=True)
class Memory(Method):
    """A method that remembers the training and the validation rows."""

    def fit(self, problem: Problem) -> list[Policy]:
        parts = (problem.train, problem.validation)
        rows = {x.tobytes(): int(y) for part in parts for x, y in zip(part.X, part.y, strict=True)}
        return [Remembering(rows)]


class WithMemory(Plugin):
    """Both methods as a plugin."""

    @hookimpl
    def bench_register_methods(self, register: RegisterMethod) -> None:
        register("noisy", Noisy)
        register("memory", Memory)

    @hookimpl(optionalhook=True)
    def bench_policy_types(self) -> list[type]:
        return [BySign, Remembering]


def test_a_method_that_knows_the_validation_rows_by_heart_does_not_win(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = installed([("memory", WithMemory())])
    monkeypatch.setattr("bench_recommend.recommending.load_registry", lambda: registry)
    methods = ["noisy", "memory"]
    found = recommend(table, [1.0, 2.0, 7.0], target="y", methods=methods, splits=2, isolation="none")
    assert found.best == "noisy"
