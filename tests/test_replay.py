"""Policies that are asked step by step: with the requested values only, they decide as on complete rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.policies import ByQuery

from bench_core import ContractError, Decisions, Method, Policy, Problem, Rows, next_of_stages
from bench_core.execution import can_be_asked, replay
from bench_core.testing import check_method

Flags = NDArray[np.bool_]


@dataclass
class Cascade(Policy):
    """Reads features in an order; a row leaves after the first feature whose value is above its limit.

    Attributes:
        order: the features.
        limits: one for each feature but the last.
        fault: the fault in its requests.
    """

    order: tuple[int, ...]
    limits: tuple[float, ...]
    columns: int
    fault: str = ""
    classes: int = 0
    label: str = ""
    details: dict[str, int] = field(default_factory=dict)

    @property
    def stages(self) -> Flags:
        read = np.zeros((len(self.order), self.columns), dtype=bool)
        for stage, feature in enumerate(self.order):
            read[stage:, feature] = True
        return read

    def left_at(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        left = np.full(len(X), len(self.order) - 1)
        for stage in range(len(self.order) - 2, -1, -1):
            left[X[:, self.order[stage]] > self.limits[stage]] = stage
        return left

    def decide(self, rows: Rows) -> Decisions:
        left = self.left_at(rows.X)
        acquired = self.stages[left]
        score = np.where(acquired, rows.X, 0.0) @ np.arange(1.0, self.columns + 1)
        return Decisions(acquired, score=score, stage=left + 1)

    def next_features(self, rows: Rows, known: Flags) -> Flags:
        wanted = next_of_stages(self.stages, self.left_at(rows.X), known)
        if self.fault == "asks for everything":
            return ~known
        if self.fault == "asks again":
            return wanted | known
        if self.fault == "asks for nothing":
            return np.zeros_like(known)
        if self.fault == "believes what is not there":
            return self.stages[self.left_at(rows.X)] & ~known
        if self.fault == "says numbers":
            return wanted.astype(int)
        return wanted


class Silent(Policy):
    """Cannot be asked."""

    def decide(self, rows: Rows) -> Decisions:
        return Decisions(np.zeros(rows.X.shape, dtype=bool), score=np.zeros(len(rows)))


tables = st.integers(1, 6).flatmap(
    lambda columns: st.tuples(
        st.permutations(range(columns)).flatmap(lambda order: st.integers(1, columns).map(lambda n: tuple(order[:n]))),
        st.lists(st.lists(st.integers(-3, 3), min_size=columns, max_size=columns), min_size=0, max_size=12),
        st.lists(st.integers(-3, 3), min_size=columns, max_size=columns),
        st.just(columns),
    )
)


@given(tables, st.sampled_from([0.0, 99.0, -99.0]))
def test_a_cascade_asked_step_by_step_decides_and_pays_as_on_complete_rows(
    table: tuple[tuple[int, ...], list[list[int]], list[int], int], placeholder: float
) -> None:
    order, values, limits, columns = table
    policy = Cascade(order, tuple(map(float, limits)), columns)
    rows = Rows(np.array(values, dtype=np.float64).reshape(len(values), columns))
    whole = policy.decide(rows)
    asked = replay(policy, rows, np.arange(columns), placeholder=placeholder)
    assert (asked.known == whole.acquired).all()
    assert (asked.decisions.score == whole.score).all()
    # One feature per step, in the given order.
    for place, feature in enumerate(order):
        assert set(asked.bought_in[:, feature]) <= {0, place + 1}


def test_all_columns_of_a_known_feature_are_shown_and_unknown_ones_never() -> None:
    seen: list[NDArray[np.float64]] = []

    class Watching(Cascade):
        def next_features(self, rows: Rows, known: Flags) -> Flags:
            seen.append(rows.X.copy())
            return known.sum(axis=1, keepdims=True) == np.arange(known.shape[1])

        def decide(self, rows: Rows) -> Decisions:
            return Decisions(np.zeros((len(rows), 2), dtype=bool), score=np.zeros(len(rows)))

    replay(Watching((0, 1), (0.0,), 2), Rows(np.array([[1.0, 2.0, 3.0]])), np.array([0, 1, 1]), placeholder=-5.0)
    assert [shown.tolist()[0] for shown in seen] == [[-5.0, -5.0, -5.0], [1.0, -5.0, -5.0], [1.0, 2.0, 3.0]]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("asks again", "asks for a feature that is known: row 0, feature 0"),
        ("asks for nothing", "uses a feature that it did not ask for: row 0, feature 0"),
        ("says numbers", "must give bool"),
    ],
)
def test_a_policy_that_asks_wrongly_is_refused(fault: str, said: str) -> None:
    rows = Rows(np.array([[0.0, 1.0], [2.0, 0.0]]))
    with pytest.raises(ContractError, match=said):
        replay(Cascade((0, 1), (1.0,), 2, fault), rows, np.arange(2))


def test_a_policy_without_next_features_is_refused() -> None:
    assert can_be_asked(Cascade((0,), (), 1))
    assert not can_be_asked(Silent())
    with pytest.raises(ContractError, match="a Silent cannot be asked"):
        replay(Silent(), Rows(np.zeros((1, 1))), np.arange(1))
    with pytest.raises(NotImplementedError, match="Silent"):
        Silent().next_features(Rows(np.zeros((1, 1))), np.zeros((1, 1), dtype=bool))


@dataclass(frozen=True)
class Cascading(Method):
    """A cascade over three of the kit's features."""

    fault: str = ""
    tasks = frozenset({"regression"})

    def fit(self, problem: Problem) -> list[Policy]:
        return [Cascade((2, 0, 4), (0.0, 0.0), problem.train.X.shape[1], self.fault)]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("", ""),
        ("asks for everything", "acquired other features than decide says"),
        ("asks for nothing", "did not ask for"),
        ("believes what is not there", "acquired other features"),
    ],
)
def test_the_kit_replays_policies_that_can_be_asked(fault: str, said: str) -> None:
    (result,) = [r for r in check_method(Cascading(fault)) if r.check == "next-features"]
    assert (result.outcome == "passed") == (not said)
    assert said in result.message


def test_rows_of_a_query_are_asked_together() -> None:
    rows = Rows(np.array([[1.0, 9.0], [2.0, 8.0], [3.0, 7.0], [5.0, 6.0]]), None, np.array([0, 0, 1, 1]))
    policy = ByQuery()
    asked = replay(policy, rows, np.arange(2), placeholder=-50.0)
    assert (asked.known == policy.decide(rows).acquired).all()
    assert asked.known.tolist() == [[True, False], [True, True], [True, False], [True, True]]
