"""A policy cut at a cap: no row costs more, cheap rows are unchanged, a cut row's answer uses only paid values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import ContractError, Costs, Decisions, Part, Policy, Rows, outcome_of
from bench_core.execution import Capped, background_of, replay
from bench_core.protocol.cap import at_caps, cut_at_caps
from bench_core.protocol.prepare import Shown
from bench_core.testing import make_problem

FEATURES = 4


class Path(Policy):
    """Buys features in an order until the sum of their values passes a limit; the sum determines the answer."""

    def __init__(self, order: tuple[int, ...], limit: float) -> None:
        self.order, self.limit = order, limit

    def decide(self, rows: Rows) -> Decisions:
        known = np.zeros(rows.X.shape, dtype=bool)
        while (wanted := self.next_features(rows, known)).any():
            known |= wanted
        yes = 1.0 / (1.0 + np.exp(-np.where(known, rows.X, 0.0).sum(axis=1)))
        return Decisions(known, np.column_stack([1.0 - yes, yes]), stage=known.sum(axis=1))

    def next_features(self, rows: Rows, known: np.ndarray) -> np.ndarray:
        wanted = np.zeros_like(known)
        for row in range(len(rows)):
            have = int(known[row].sum())
            if have < FEATURES and rows.X[row, known[row]].sum() <= self.limit:
                wanted[row, self.order[have]] = True
        return wanted


@given(
    order=st.permutations(range(FEATURES)),
    limit=st.floats(-1, 2),
    cap=st.integers(0, 12),
    group=st.booleans(),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40)
def test_no_row_exceeds_the_cap_and_unpaid_values_do_not_matter(
    order: list[int], limit: float, cap: int, group: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    groups = np.array([0, 0, -1, -1]) if group else None
    costs = Costs(np.array([1.0, 2.0, 3.0, 4.0]), groups, np.array([2.0]) if group else None)
    columns = np.arange(FEATURES)
    policy = Path(tuple(order), limit)
    capped = Capped(policy, cap, costs, background_of(rng.normal(size=(50, FEATURES)), columns), columns)
    rows = Rows(rng.normal(size=(20, FEATURES)))
    decided, free = capped.decide(rows), policy.decide(rows)
    bill = costs.bill(decided.acquired)
    assert (bill <= cap * (1 + 1e-9)).all()
    under = costs.bill(free.acquired) <= cap
    assert (decided.acquired[under] == free.acquired[under]).all()
    assert decided.probabilities is not None
    assert free.probabilities is not None
    np.testing.assert_array_equal(decided.probabilities[under], free.probabilities[under])
    for row in np.flatnonzero(~under):  # the next step of the policy would not have fitted
        steps = free.acquired[row].sum(), decided.acquired[row].sum()
        assert set(np.flatnonzero(decided.acquired[row])) == set(order[: steps[1]])
        assert steps[1] < steps[0]
    other = np.where(decided.acquired, rows.X, rng.normal(size=rows.X.shape))
    again = capped.decide(Rows(other))
    np.testing.assert_array_equal(again.acquired, decided.acquired)
    np.testing.assert_array_equal(again.probabilities, decided.probabilities)
    asked = replay(capped, rows, columns)
    np.testing.assert_array_equal(asked.known, decided.acquired)
    np.testing.assert_array_equal(asked.decisions.probabilities, decided.probabilities)
    alone = capped.decide(Rows(rows.X[3:4]))
    assert alone.probabilities is not None
    np.testing.assert_array_equal(alone.probabilities[0], decided.probabilities[3])


def test_a_cut_row_answers_the_mean_over_the_background() -> None:
    columns = np.arange(FEATURES)
    background = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]])
    policy = Path((0, 1, 2, 3), 10.0)
    capped = Capped(policy, 1.0, Costs(np.ones(FEATURES)), background, columns)
    shown = capped.decide(Rows(np.full((1, FEATURES), 0.5)))
    sigmoid = 1.0 / (1.0 + np.exp(-np.array([0.5, 3.5])))
    assert shown.probabilities is not None
    np.testing.assert_allclose(shown.probabilities[0, 1], sigmoid.mean())
    assert shown.acquired.tolist() == [[True, False, False, False]]


def test_a_policy_that_decides_by_query_is_left_out() -> None:
    class ByQuery(Path):
        decision_scope = "query"

    problem = make_problem("ranking")
    policies = [ByQuery(tuple(range(FEATURES)), 1.0)]
    assert cut_at_caps(policies, [1, 2], problem, {}) == {}
    with pytest.raises(ContractError, match="decides by query"):
        Capped(policies[0], 1.0, problem.costs, problem.train.X[:1], problem.feature_of_column)


def test_a_policy_that_buys_more_on_complete_rows_has_no_accuracy_at_a_cap() -> None:
    acquired = np.array([[True, False], [True, True]])
    decisions = Decisions(acquired, np.full((2, 2), 0.5))
    part = Part(np.zeros((2, 2)), np.zeros(2, dtype=np.int64))
    outcome = outcome_of(decisions, part, Costs(np.array([1.0, 4.0])), "binary")
    with pytest.raises(ContractError, match="more than the cap of 2 on complete rows was not cut"):
        at_caps(outcome, [2], {2: np.array([-1, -1])})
    assert at_caps(outcome, [2], {2: np.array([-1, 1])}).at_caps[2].tolist() == [0, 1]
    assert at_caps(outcome, [2], {}).at_caps == {}


class Wrong(Path):
    """Requests wrongly; it gives up after more steps than there are features."""

    def __init__(self, fault: str) -> None:
        super().__init__(tuple(range(FEATURES)), 9.0)
        self.fault, self.steps = fault, 0

    def next_features(self, rows: Rows, known: np.ndarray) -> np.ndarray:
        self.steps += 1
        assert self.steps <= FEATURES + 1, "it is asked for ever"
        wanted = super().next_features(rows, known)
        if self.fault == "asks again":
            return wanted | known
        if self.fault == "says numbers":
            return wanted.astype(float)
        if self.fault == "omits a feature":
            return wanted[:, :-1]
        known[:] = True  # its own copy
        return wanted


@pytest.mark.parametrize("fault", ["asks again", "says numbers", "omits a feature"])
def test_a_wrong_request_is_refused_at_a_cap_with_the_message_of_a_replay(fault: str) -> None:
    columns = np.arange(FEATURES)
    rows = Rows(np.ones((3, FEATURES)))
    with pytest.raises(ContractError) as replayed:
        replay(Wrong(fault), rows, columns)
    capped = Capped(Wrong(fault), 3, Costs(np.ones(FEATURES)), rows.X, columns)
    with pytest.raises(ContractError) as bought:
        capped.buy(rows)
    assert str(bought.value) == str(replayed.value)


def test_a_policy_that_writes_into_the_known_features_gets_none_of_them() -> None:
    capped = Capped(Wrong("writes"), 3, Costs(np.ones(FEATURES)), np.ones((1, FEATURES)), np.arange(FEATURES))
    known, cut = capped.buy(Rows(np.ones((2, FEATURES))))
    assert known.sum(axis=1).tolist() == [3, 3]
    assert cut.all()


class Early(Path):
    """Answers from any known features, and reports a feature more or none."""

    def __init__(self, reported: str) -> None:
        super().__init__(tuple(range(FEATURES)), 9.0)
        self.reported = reported

    def decide_known(self, rows: Rows, known: np.ndarray) -> Decisions:
        half = np.full((len(rows), 2), 0.5)
        if self.reported == "more":
            known[:, -1] = True  # its own copy
        if self.reported == "none":
            return Decisions(np.zeros_like(known), half)
        if self.reported == "fewer columns":
            return Decisions(known[:, 1:], half)
        return Decisions(known, half)


@pytest.mark.parametrize("reported", ["more", "none", "fewer columns"])
def test_an_early_answer_must_report_the_bought_features_as_acquired(reported: str) -> None:
    problem = make_problem("binary")
    rows = Rows(problem.train.X[:5])
    shown = {"test": Shown(rows, np.arange(len(rows)))}
    (cut,) = cut_at_caps([Early("")], [7], problem, shown).values()
    assert cut[7].tolist() == [0] * 5
    with pytest.raises(ContractError, match="decide_known must give the known features as acquired"):
        cut_at_caps([Early(reported)], [7], problem, shown)
