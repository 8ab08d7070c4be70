"""Sessions: asked feature by feature, a row gets the same answer and bill as in a table."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_policies import AskedBySubstitution, Columns, FittedPolicy, Session, Setup, fit_policy
from support.patients import PRICES

from bench_core import Costs, Decisions, Method, Policy, Problem, RequestError, Rows
from bench_core.execution import replay

Fit = Callable[..., FittedPolicy]


def play(session: Session, row: dict[str, Any]) -> Session:
    """Give every value that the session asks for."""
    while session.answer is None:
        session.give({name: row[name] for name in session.wanted})
    return session


@pytest.mark.parametrize(("method", "threshold"), [("cost-ordered", 0.8), ("lasso", None), ("single-stage", None)])
def test_a_session_gives_the_same_answer_and_cost_as_a_table(
    fitted: Fit, table: pd.DataFrame, method: str, threshold: float | None
) -> None:
    policy = fitted(method, threshold=threshold)
    answers = policy.decide(table[:40])
    for at, row in enumerate(table[:40].to_dict("records")):
        session = play(policy.start(), row)
        answer, expected = session.answer, answers.iloc[at]
        assert answer is not None
        assert (answer.label, answer.best, answer.refused) == (expected.label, expected.best, expected.refused)
        assert answer.probability == expected.probability
        assert answer.cost == session.cost == expected.cost
        assert set(session.known) == set(expected.acquired)


def test_prices_of_wanted_features_add_up_and_a_group_is_paid_once(fitted: Fit) -> None:
    session = fitted("cost-ordered", threshold=0.9999).start()
    assert session.wanted == {"age": 0.0}
    assert session.answer is None
    session.give(age=50)
    assert session.wanted == {"smoker": 1.0}
    session.give(smoker="no")
    assert session.wanted == {"glucose": 8.0, "insulin": 5.0}
    session.give(insulin=90.0)
    assert session.cost == 9.0
    assert session.wanted == {"glucose": 5.0}
    session.give(glucose=100.0)
    assert session.wanted == {"scan": 40.0}
    session.give(scan=0.0)
    assert session.wanted == {}
    assert session.answer is not None
    assert session.answer.cost == 54.0
    assert session.answer.refused
    assert session.answer.label is None
    assert session.answer.best in ("sick", "healthy")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"agee": 50}, "there is no feature 'agee'; did you mean 'age'"),
        ({"scan": 1.0}, "scan is not wanted now; wanted: age"),
        ({"age": "old"}, "age must be a number, not 'old'"),
        ({"age": float("inf")}, "age must be a finite number"),
        ({"age": 50, "smoker": "yess"}, "smoker has no category 'yess'; did you mean 'yes'"),
        ({"age": [1]}, "age must be a number"),
        ({"age": True}, "age must be a number, not True"),
    ],
)
def test_an_invalid_value_is_refused_and_the_session_stays_unchanged(
    fitted: Fit, given: dict[str, Any], said: str
) -> None:
    session = fitted("cost-ordered", threshold=0.8).start() if "scan" in given else fitted("single-stage").start()
    said = said.partition("; wanted")[0] if "scan" in given else said
    before = session.wanted
    with pytest.raises(RequestError, match=said):
        session.give(given)
    assert session.wanted == before
    assert session.known == {}


def test_truth_values_are_taken_where_the_table_of_the_fit_held_them(table: pd.DataFrame) -> None:
    frame = table.assign(smoker=table["smoker"] == "yes")
    policy = fit_policy("single-stage", frame, PRICES, target="outcome", splits=0)
    first = {"age": 50, "glucose": 120.0, "insulin": 90.0, "scan": 0.0}
    answers = [policy.start().give({**first, "smoker": smoker}).answer for smoker in (True, 1, False)]
    assert answers[0] == answers[1] != answers[2]
    with pytest.raises(RequestError, match=r"row 0 \(from 0\): age must be a number, not True"):
        policy.decide(frame.assign(age=True))


def test_a_feature_cannot_be_given_twice_nor_after_the_answer(fitted: Fit, table: pd.DataFrame) -> None:
    session = fitted("single-stage").start().give(age=50)
    with pytest.raises(RequestError, match="age was given already"):
        session.give(age=51)
    play(session, table.iloc[0].to_dict())
    with pytest.raises(RequestError, match="already"):
        session.give(scan=1.0)


def test_a_missing_value_is_replaced_by_the_median_of_the_training_rows(fitted: Fit) -> None:
    policy = fitted("single-stage")
    median = float(policy.encoder.fill[policy.number("glucose")])
    rest = {"age": 50, "smoker": "no", "insulin": 90.0, "scan": 0.1}
    without, with_it = (play(policy.start(), {**rest, "glucose": one}).answer for one in (None, median))
    assert without == with_it
    assert without != play(policy.start(), {**rest, "glucose": median + 50}).answer


@pytest.mark.weekly
def test_a_thousand_concurrent_sessions_answer_as_single_ones(fitted: Fit, table: pd.DataFrame) -> None:
    policy = fitted("cost-ordered", threshold=0.8)
    rows = [table.iloc[i % len(table)].to_dict() for i in range(1000)]
    sessions = [policy.start() for _ in rows]
    with ThreadPoolExecutor(16) as pool:
        played = list(pool.map(play, sessions, rows))
    expected = policy.decide(table)
    for i, session in enumerate(played):
        assert session.answer is not None
        assert session.answer.probability == expected.probability.iloc[i % len(table)]


def test_a_session_pays_prices_that_depend_on_the_item_size(table: pd.DataFrame) -> None:
    frame = table[["glucose", "scan", "outcome"]].assign(pixels=np.arange(len(table)) % 7)
    prices = {"prices": {"glucose": 1.0, "scan": [2.0, 0.5]}}
    policy = fit_policy("single-stage", frame, prices, target="outcome", columns=Columns(size="pixels"), splits=0)
    assert policy.start(size=4).wanted == {"glucose": 1.0, "scan": 4.0}
    assert policy.decide(frame).cost.tolist() == [3.0 + 0.5 * (i % 7) for i in range(len(frame))]
    with pytest.raises(RequestError, match="start\\(size="):
        policy.start()


class Silent(Policy):
    """A cascade without ``next_features``: it acquires the second feature where the first is positive."""

    def decide(self, rows: Rows) -> Decisions:
        more = rows.X[:, 0] > 0
        acquired = np.column_stack([np.ones(len(rows), dtype=bool), more, np.zeros(len(rows), dtype=bool)])
        sure = np.where(more, 1 / (1 + np.exp(-rows.X[:, 1])), 0.25)
        return Decisions(acquired, np.column_stack([1 - sure, sure]))


class SilentMethod(Method):
    """A method that returns one `Silent` policy."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [Silent()]


def test_a_policy_without_next_features_is_asked_by_substitution(table: pd.DataFrame) -> None:
    frame = table[["scan", "glucose", "insulin", "outcome"]]
    policy = fit_policy(SilentMethod(), frame, [1.0, 2.0, 4.0], target="outcome", splits=0)
    assert not policy.exact
    assert isinstance(policy.policy, AskedBySubstitution)
    rows = policy.rows(frame)
    asked = replay(policy.policy, rows, policy.encoder.feature_of_column)
    expected = policy.decisions(frame)
    assert (asked.known == expected.acquired).all()
    assert np.array_equal(asked.decisions.probabilities, expected.probabilities)


class Parallel(Policy):
    """Acquires the second feature, and the first only where the second is at most 5."""

    def decide(self, rows: Rows) -> Decisions:
        enough = rows.X[:, 1] > 5
        acquired = np.column_stack([~enough, np.ones(len(rows), dtype=bool)])
        return Decisions(acquired, score=np.where(enough, 1.0, rows.X[:, 0]))


def test_substitution_may_ask_for_more_features_but_gives_the_same_answer() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[0, 1] = 9.0
    background = rng.normal(size=(32, 2))
    policy = AskedBySubstitution(Parallel(), background, np.arange(2))
    asked, expected = replay(policy, Rows(X), np.arange(2)), Parallel().decide(Rows(X))
    assert np.array_equal(asked.decisions.score, expected.score)
    assert (asked.known >= expected.acquired).all()
    assert asked.known[0].all()  # in no filling is the second feature sufficient


class ThreeQuarters(Policy):
    """Gives every row the second class with a probability of exactly 3/4."""

    def decide(self, rows: Rows) -> Decisions:
        return Decisions(np.zeros((len(rows), 3), dtype=bool), np.tile([0.25, 0.75], (len(rows), 1)))


class ThreeQuartersMethod(Method):
    """A method that returns one `ThreeQuarters` policy."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [ThreeQuarters()]


@pytest.mark.parametrize(("threshold", "refused"), [(0.75, False), (np.nextafter(0.75, 1), True)])
def test_an_answer_that_is_exactly_as_sure_as_the_threshold_is_given(
    table: pd.DataFrame, threshold: float, refused: bool
) -> None:
    frame = table[["scan", "glucose", "insulin", "outcome"]]
    policy = fit_policy(
        ThreeQuartersMethod(),
        frame,
        [1.0, 2.0, 4.0],
        target="outcome",
        splits=0,
        setup=Setup(threshold=float(threshold)),
    )
    answer = policy.start().answer
    assert answer is not None
    assert (answer.refused, answer.best, answer.probability) == (refused, "sick", 0.75)
    assert answer.label == (None if refused else "sick")
    assert policy.decide(frame).refused.tolist() == [refused] * len(frame)


@pytest.mark.parametrize("method", ["cost-ordered", "single-stage"])
def test_base_models_are_in_the_cost_of_an_answer_as_in_the_budget(table: pd.DataFrame, method: str) -> None:
    setup = Setup(threshold=0.8)
    free = fit_policy(method, table, PRICES, target="outcome", setup=setup, splits=0)
    charged = replace(free, costs=Costs(free.costs.prices, evaluation=2.0))
    answers, decided = charged.decide(table), charged.decisions(table)
    runs = np.ones(len(table)) if decided.evaluations is None else decided.evaluations
    assert np.allclose(answers["cost"], charged.costs.bill(decided.acquired) + 2.0 * runs)
    assert np.allclose(free.decide(table)["cost"], free.costs.bill(decided.acquired))
    for at, row in enumerate(table[:20].to_dict("records")):
        answer = play(charged.start(), row).answer
        assert answer is not None
        assert answer.cost == answers["cost"].iloc[at]
