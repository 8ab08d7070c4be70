"""Recommendations on a table where the answer is known."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_policies import Goal
from bench_policies.trials import Tried
from bench_recommend import recommend
from bench_recommend.page import fit_command, front_table, methods_table
from bench_recommend.race import Candidate, is_default
from bench_recommend.race import _fit as run_candidate
from support.bench import ROOT
from support.patients import CHEAP_PRICES as PRICES
from support.patients import make_cheap_table

from bench_core import Decisions, Method, Policy, Problem, RegisterMethod, RequestError, Rows, hookimpl
from bench_core.suites import load_registry

QUICK = ("single-stage", "cost-ordered")


def late_default(at: tuple[int, Candidate], **options: Any) -> Tried | None:
    return None if is_default(at[1]) else run_candidate(at, **options)


@pytest.fixture(scope="module")
def cheap_is_enough() -> pd.DataFrame:
    return make_cheap_table()


BOTH = {"yes": {"no": 50.0}, "no": {"yes": 50.0}}


@pytest.mark.slow
@pytest.mark.parametrize("goal", [Goal(), Goal(quality=0.8), Goal(budget=5), Goal(error_costs=BOTH)])
def test_a_cheap_method_of_sufficient_quality_is_recommended(cheap_is_enough: pd.DataFrame, goal: Goal) -> None:
    found = recommend(cheap_is_enough, PRICES, target="y", goal=goal, methods=QUICK, splits=3, isolation="none")
    assert found.best == "cost-ordered"
    row = found.table.set_index("method").loc[found.best]
    assert row["quality"] > 0.9
    assert row["cost"] < 5
    assert row["quality_half"] > 0
    assert f"Use {found.best}" in found.text
    front = found.curve[found.curve.front]
    assert (front.sort_values("cost").quality.diff().dropna() >= 0).all()


@pytest.mark.slow
def test_a_request_gives_the_same_recommendation_with_any_isolation_and_jobs(cheap_is_enough: pd.DataFrame) -> None:
    one, two = (
        recommend(cheap_is_enough, PRICES, target="y", methods=QUICK, splits=2, isolation=isolation, jobs=jobs)
        for isolation, jobs in (("process", 2), ("none", 1))
    )
    a, b = (found.table.drop(columns=["fit seconds"]).set_index("method").sort_index() for found in (one, two))
    pd.testing.assert_frame_equal(a, b, check_exact=True)
    assert one.text == two.text


def test_without_time_methods_are_left_out(cheap_is_enough: pd.DataFrame) -> None:
    found = recommend(cheap_is_enough, PRICES, target="y", methods=QUICK, splits=50, seconds=1e-6)
    assert set(found.table.status) <= {"left out", "tried"}
    assert found.splits <= 1


def test_where_time_is_too_short_for_a_split_the_sample_decides(
    cheap_is_enough: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_recommend.race._fit", lambda *args, **options: None)
    found = recommend(cheap_is_enough, PRICES, target="y", methods=QUICK, splits=3, isolation="none")
    assert found.best == "cost-ordered"
    assert "sample of the rows" in found.text
    assert found.splits == 0


def test_a_default_that_takes_too_long_on_all_rows_is_compared_on_the_sample(
    cheap_is_enough: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method that is only faster, such as the majority class, does not replace it on a slow machine."""
    monkeypatch.setattr("bench_recommend.race._fit", late_default)
    asked = {"target": "y", "methods": ("majority", "affordable-subset"), "splits": 2, "isolation": "none"}
    found = recommend(cheap_is_enough, PRICES, goal=Goal(budget=5), **asked)  # type: ignore[arg-type]
    assert found.best == "affordable-subset"
    assert "sample of the rows" in found.text
    assert (found.splits, set(found.table.status)) == (0, {"tried"})
    other = recommend(cheap_is_enough, PRICES, goal=Goal(quality=0.4), **asked)  # type: ignore[arg-type]
    assert (other.best, other.splits) == ("majority", 2)


class Guessing(Policy):
    """Buys every feature and gives every row the same answer."""

    def decide(self, rows: Rows) -> Decisions:
        return Decisions(np.ones(rows.X.shape, dtype=bool), np.tile([0.55, 0.45], (len(rows), 1)))


@dataclass(frozen=True)
class Useless(Method):
    """A method that learns nothing."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [Guessing()]


@dataclass(frozen=True)
class Broken(Method):
    """A method that fails."""

    def fit(self, problem: Problem) -> list[Policy]:
        raise ValueError("out of ideas")


class Plugin:
    """A plugin with both methods, which names the classes of its saved policies."""

    BENCH_CONTRACT_VERSION = 1

    @hookimpl
    def bench_register_methods(self, register: RegisterMethod) -> None:
        register("useless", Useless)
        register("broken", Broken)

    @hookimpl(optionalhook=True)
    def bench_policy_types(self) -> list[type]:
        return [Guessing]


class WithoutPolicyTypes:
    """A plugin that names no classes of saved policies."""

    BENCH_CONTRACT_VERSION = 1

    @hookimpl
    def bench_register_methods(self, register: RegisterMethod) -> None:
        register("useless", Useless)


def test_a_method_whose_policies_cannot_be_saved_is_not_recommended(
    cheap_is_enough: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = load_registry([("without-policy-types", WithoutPolicyTypes())])
    monkeypatch.setattr("bench_recommend.recommending.load_registry", lambda: registry)
    methods = ("useless", "stump")
    found = recommend(cheap_is_enough, PRICES, target="y", methods=methods, splits=1, isolation="none")
    assert found.best == "stump"
    row = found.table.set_index("method").loc["useless"]
    assert row.status == "cannot"
    assert "add a hook bench_policy_types" in row.why
    page, section = re.findall(r"see (\S+), section '(.+)'", row.why)[0]
    assert f"## {section}\n" in (ROOT / page).read_text(encoding="utf-8")


def test_a_poor_method_is_dropped_early_and_a_failing_one_is_reported(
    cheap_is_enough: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = load_registry([("tests", Plugin())])
    monkeypatch.setattr("bench_recommend.recommending.load_registry", lambda: registry)
    methods = (*QUICK, "useless", "broken")
    found = recommend(cheap_is_enough, PRICES, target="y", methods=methods, splits=5, isolation="none")
    table = found.table.set_index("method")
    assert table.status["useless"] == "dropped"
    assert table.splits["useless"] < 5
    assert re.fullmatch(
        r"worse than \S+ by \S+( ±)? \S+ % right answers on the decision rows of 1 split", table.why["useless"]
    )
    assert table.status["broken"] == "failed"
    assert "out of ideas" in table.why["broken"]


class Dear(Policy):
    """Takes the class from the most expensive feature."""

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros(rows.X.shape, dtype=bool)
        acquired[:, 2] = True
        second = np.where(rows.X[:, 2] > 0, 0.9, 0.1)
        return Decisions(acquired, np.column_stack([1 - second, second]))


@dataclass(frozen=True)
class AlwaysDear(Method):
    """A good method that no small budget allows."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [Dear()]


class DearPlugin:
    """A plugin with that method."""

    BENCH_CONTRACT_VERSION = 1

    @hookimpl
    def bench_register_methods(self, register: RegisterMethod) -> None:
        register("dear", AlwaysDear)
        register("useless", Useless)

    @hookimpl(optionalhook=True)
    def bench_policy_types(self) -> list[type]:
        return [Dear, Guessing]


@pytest.fixture
def dear(monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A table whose most expensive feature determines the class, and a method that buys it."""
    registry = load_registry([("dear", DearPlugin())])
    monkeypatch.setattr("bench_recommend.recommending.load_registry", lambda: registry)
    frame = pd.DataFrame(np.random.default_rng(2).normal(size=(240, 3)), columns=["free", "dear", "dearer"])
    return frame.assign(y=np.where(frame.dearer > 0, "yes", "no"))


def test_a_method_that_never_meets_the_goal_is_not_reported_as_equal(dear: pd.DataFrame) -> None:
    methods = ("majority", "dear", "useless")
    found = recommend(dear, PRICES, target="y", goal=Goal(budget=5), methods=methods, splits=2, isolation="none")
    table = found.table.set_index("method")
    assert found.best == "majority"
    assert "cannot be distinguished" not in found.text
    assert "no policy met the goal" in table.why["dear"]


def test_a_recommendation_says_that_no_method_reached_the_goal(dear: pd.DataFrame) -> None:
    reached = recommend(dear, PRICES, target="y", goal=Goal(quality=0.9), methods=("majority", "dear"), splits=2,
                        isolation="none")  # fmt: skip
    assert reached.best == "dear"
    assert "No method reached" not in reached.text
    missed = recommend(dear, PRICES, target="y", goal=Goal(quality=0.9), methods=("majority", "useless"), splits=2,
                       isolation="none")  # fmt: skip
    assert "No method reached the goal" in missed.text


def test_the_front_lists_each_point_once_and_the_command_repeats_the_options(cheap_is_enough: pd.DataFrame) -> None:
    found = recommend(cheap_is_enough, PRICES, target="y", methods=("majority", "stump"), splits=2, isolation="none")
    points = [line.split("|")[1:2] + line.split("|")[3:] for line in front_table(found).splitlines()[2:]]
    assert points
    assert len(points) == len({tuple(point) for point in points})
    command = fit_command("stump", "my table.csv", {"target": "y", "budget": 20.0, "threshold": 0.85, "drop": ("a",)})
    assert command == (
        "bench fit 'my table.csv' --target y --budget 20 --threshold 0.85 --drop a --method stump --out policy"
    )


def test_methods_left_out_for_the_same_reason_share_a_sentence(cheap_is_enough: pd.DataFrame) -> None:
    methods = ("majority", "stump", "lasso", "single-stage")
    found = recommend(cheap_is_enough, PRICES, target="y", methods=methods, splits=1, isolation="none")
    table = found.table.copy()
    gone = table["method"] != "stump"
    table.loc[gone, ["status", "why", "splits"]] = ["left out", "no time", 0]
    said = methods_table(dataclasses.replace(found, table=table))
    assert sum(line.startswith("| ") for line in said.splitlines()) == 2  # the head and stump
    last = said.splitlines()[-1]
    assert last.startswith("Left out, no time: ")
    assert all(name in last for name in methods if name != "stump")


def test_four_rows_are_refused(cheap_is_enough: pd.DataFrame) -> None:
    with pytest.raises(RequestError, match="4 rows"):
        recommend(cheap_is_enough.head(4), PRICES, target="y")
