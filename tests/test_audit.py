"""The audit: every dishonest habit is found out and named, honest policies pass, and it costs one call a round."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import cheats

from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import AuditError
from bench_core.contract.method import Policy
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.audit import Auditor, changed_rows

NAMES = ("age", "income", "height", "debt")


def rows_of(rows=60, seed=0, features=4):
    return Rows(np.random.default_rng(seed).normal(size=(rows, features)))


def audit(policy, rows, *, rounds=2, others=None, of_column=None, seed=1):
    of_column = np.arange(rows.X.shape[1]) if of_column is None else np.array(of_column)
    others = rows_of(40, 9, rows.X.shape[1]).X if others is None else others
    auditor = Auditor.prepare(rows, of_column, others, np.random.default_rng(seed), rounds)
    auditor.check(policy, policy.decide(rows), NAMES[: of_column[-1] + 1], "policy 0")


DISHONEST = [
    "reads-unpaid",
    "peeks-when-paid-is-large",
    "declares-on-some-rows",
    "batch-mean",
    "batch-max",
    "batch-median",
    "batch-rank",
    "acquires-by-unpaid",
]


@pytest.mark.parametrize("count", [1, 3, 60])
@pytest.mark.parametrize("habit", DISHONEST)
def test_a_dishonest_policy_is_caught_and_the_feature_and_the_rows_are_named(habit, count):
    policy = cheats.HABITS[habit](4, level=-1.5 if habit == "peeks-when-paid-is-large" else 0.0)
    rows = rows_of(max(count, 2) if habit == "batch-rank" else count, seed=3)
    count = len(rows)
    if habit == "declares-on-some-rows":
        rows.X[0, 0] = -1.0
    with pytest.raises(AuditError, match=r"policy 0 read without paying: feature 'income' on \d+ rows") as caught:
        audit(policy, rows)
    named = int(re.search(r"on (\d+) rows", str(caught.value))[1])
    assert 1 <= named <= count
    assert f"(of {count} rows)" in str(caught.value)


def test_the_number_of_rows_is_the_number_that_peeked():
    rows = rows_of()
    peeking = int((rows.X[:, 0] > 0.5).sum())
    with pytest.raises(AuditError, match=f"feature 'income' on {peeking} rows .of 60 rows"):
        audit(cheats.PeeksWhenPaidIsLarge(4, level=0.5), rows)


def test_a_habit_on_one_row_in_a_thousand_is_caught():
    rows = rows_of(1000)
    rows.X[:, 0] = np.minimum(rows.X[:, 0], 3.0)
    rows.X[417, 0] = 5.0
    with pytest.raises(AuditError, match="feature 'income' on 1 rows"):
        audit(cheats.PeeksWhenPaidIsLarge(4, level=4.0), rows)


@pytest.mark.parametrize("habit", ["honest-kernel", "honest-early-exit"])
@pytest.mark.parametrize("count", [0, 1, 60])
def test_honest_policies_pass(habit, count):
    if habit == "honest-kernel":
        pytest.importorskip("numba")
    audit(cheats.HABITS[habit](4), rows_of(count), rounds=6)


@dataclass
class Counting(Policy):
    inner: Policy
    calls: list[int] = field(default_factory=list)

    def decide(self, rows):
        self.calls.append(len(rows))
        return self.inner.decide(rows)


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_an_honest_policy_is_asked_once_per_round(rounds):
    counting = Counting(cheats.HonestEarlyExit(4))
    audit(counting, rows_of(), rounds=rounds)
    assert len(counting.calls) == 1 + rounds


def test_several_features_are_named_the_worst_first():
    @dataclass
    class ReadsTwo(Policy):
        def decide(self, rows):
            p = 1 / (1 + np.exp(-rows.X[:, 3] - np.where(rows.X[:, 1] > 0.8, 1.0, 0.0)))
            return Decisions(np.zeros((len(rows), 4), dtype=bool), np.column_stack([1 - p, p]))

    with pytest.raises(AuditError, match=r"feature 'debt' on 60 rows; feature 'income' on [0-9]+ rows"):
        audit(ReadsTwo(), rows_of())


def test_features_that_betray_only_together_are_said_so():
    @dataclass
    class Majority(Policy):
        def decide(self, rows):
            p = 0.2 + 0.6 * ((rows.X > 0).sum(axis=1) > 1)
            return Decisions(np.zeros((len(rows), 4), dtype=bool), np.column_stack([1 - p, p]))

    rows = Rows(np.ones((50, 4)))
    with pytest.raises(AuditError, match=r"did not acquire .no single one explains it. on 50 of 50 rows"):
        audit(Majority(), rows, others=-np.ones((50, 4)))


@dataclass
class OneHotPeek(Policy):
    column: int

    def decide(self, rows):
        acquired = np.zeros((len(rows), 3), dtype=bool)
        acquired[:, [0, 2]] = True
        p = 0.3 + 0.4 * rows.X[:, self.column]
        return Decisions(acquired, np.column_stack([1 - p, p]))


def test_a_feature_of_several_columns_is_replaced_whole_by_values_that_exist():
    levels = np.eye(3)[np.arange(60) % 3]
    rows = Rows(np.column_stack([np.linspace(0, 1, 60), levels, np.zeros(60)]))
    of_column = np.array([0, 1, 1, 1, 2])
    for column in (1, 2, 3):
        with pytest.raises(AuditError, match=r"feature 'income' on [0-9]+ rows"):
            audit(OneHotPeek(column), rows, of_column=of_column)
    audit(OneHotPeek(0), rows, of_column=of_column)
    made = Auditor.prepare(rows, of_column, rows.X[:5], np.random.default_rng(0), 3).substitutes
    for substitute in made:
        np.testing.assert_array_equal(substitute[:, 1:4].sum(axis=1), 1)
        assert (substitute[:, 1:4] != rows.X[:, 1:4]).any(axis=1).all()


values = st.lists(st.sampled_from([0.0, 1.0, 2.0, -7.5, np.nan]), min_size=1, max_size=80)


@given(values, values, st.integers(0, 99))
def test_the_first_round_gives_every_row_another_value_of_its_feature_where_there_is_one(own, others, seed):
    own, others = np.array(own)[:, None], np.array(others)[:, None]
    made = Auditor.prepare(Rows(own), np.array([0]), others, np.random.default_rng(seed), 6).substitutes
    constant = len(np.unique(own)) == 1
    pool = own if len(own) >= 50 and not constant else np.concatenate([own, others])
    for number, substitute in enumerate(made):
        assert set(np.unique(substitute)) <= set(np.unique(pool)) or np.isnan(pool).any()
        assert not np.isnan(substitute).any() or np.isnan(pool).any()
        if number % 2 == 0:
            same = (substitute == own) | (np.isnan(substitute) & np.isnan(own))
            assert not same.any() or len(np.unique(pool)) == 1


@given(st.lists(st.integers(0, 30), min_size=3, max_size=70), st.integers(0, 99))
def test_the_first_round_changes_the_largest_and_the_smallest_value(own, seed):
    own = np.array(own, dtype=float)[:, None]
    made = Auditor.prepare(Rows(own), np.array([0]), own[:0], np.random.default_rng(seed), 1).substitutes
    inner = np.unique(own)[1:-1]
    if len(inner) > 1:
        assert made[0].max() < own.max()
        assert made[0].min() > own.min()


@pytest.mark.parametrize("statistic", ["mean", "max", "median", "rank"])
@pytest.mark.parametrize("count", [20, 200])
def test_statistics_of_the_batch_are_caught_under_every_seed(statistic, count):
    for seed in range(25):
        with pytest.raises(AuditError, match="'income'"):
            audit(cheats.BatchStatistic(4, statistic=statistic), rows_of(count, seed), seed=seed)


def test_a_feature_of_two_values_is_swapped_and_then_made_constant():
    own = np.array([[0.0], [1.0]] * 30)
    made = Auditor.prepare(Rows(own), np.array([0]), own, np.random.default_rng(0), 4).substitutes
    assert (made[0] == 1 - own).all()
    assert (made[2] == 1 - own).all()
    assert len(np.unique(made[1])) == len(np.unique(made[3])) == 1


def test_the_second_round_moves_to_the_farther_end_of_the_range():
    rows = Rows(np.array([[0.0], [1.0], [9.0], [10.0]] * 15))
    made = Auditor.prepare(rows, np.array([0]), rows.X, np.random.default_rng(0), 2).substitutes
    assert made[1][:4, 0].tolist() == [10, 10, 0, 0]


def test_a_feature_constant_among_the_rows_is_replaced_from_the_others():
    rows = rows_of(80)
    rows.X[:, 1] = 3.0
    with pytest.raises(AuditError, match="feature 'income' on 80 rows"):
        audit(cheats.ReadsUnpaid(4), rows)


def test_the_rows_themselves_are_left_alone():
    rows = rows_of()
    before = rows.X.copy()
    audit(cheats.HonestEarlyExit(4), rows)
    np.testing.assert_array_equal(rows.X, before)


def test_item_sizes_are_handed_on():
    @dataclass
    class BySize(Policy):
        def decide(self, rows):
            p = rows.sizes / 100
            return Decisions(np.zeros((len(rows), 4), dtype=bool), np.column_stack([1 - p, p]))

    audit(BySize(), Rows(rows_of().X, np.arange(60.0)))


def scripted(*answers):
    @dataclass
    class Scripted(Policy):
        left: list = field(default_factory=lambda: list(answers))

        def decide(self, rows):
            answer = self.left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    return Scripted()


PLAIN = Decisions(np.zeros((60, 4), dtype=bool), np.full((60, 2), 0.5))


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (PLAIN.take(np.arange(59)), ", asked again with unpaid values replaced: it gave 59 decisions for 75 rows"),
        (ValueError("array must not contain NaN"), " failed where unpaid values were replaced: ValueError: array"),
    ],
)
def test_another_kind_of_answer_is_a_verdict_and_not_a_crash(second, said):
    with pytest.raises(AuditError, match=f"policy 0{said}"):
        audit(scripted(PLAIN, second), rows_of())


FIRST = Decisions(
    np.array([[True], [True]]), np.array([[0.5, 0.5], [1.0, 0.0]]), stage=np.array([1, 2]), evaluations=np.ones(2)
)


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        (FIRST, [False, False]),
        (Decisions(~FIRST.acquired, FIRST.probabilities, None, FIRST.stage, FIRST.evaluations), [True, True]),
        (Decisions(FIRST.acquired, FIRST.probabilities + 1e-12, None, FIRST.stage, FIRST.evaluations), [False, False]),
        (
            Decisions(
                FIRST.acquired,
                FIRST.probabilities + np.array([[1e-6, 0], [0, 0]]),
                None,
                FIRST.stage,
                FIRST.evaluations,
            ),
            [True, False],
        ),
        (
            Decisions(FIRST.acquired, FIRST.probabilities, None, FIRST.stage + np.array([0, 1]), FIRST.evaluations),
            [False, True],
        ),
        (Decisions(FIRST.acquired, FIRST.probabilities, None, None, FIRST.evaluations), [True, True]),
        (Decisions(FIRST.acquired, FIRST.probabilities[:, :1], None, FIRST.stage, FIRST.evaluations), [True, True]),
        (Decisions(np.ones((2, 2), bool), FIRST.probabilities, None, FIRST.stage, FIRST.evaluations), [True, True]),
        (
            Decisions(FIRST.acquired, FIRST.probabilities * [[np.nan], [1]], None, FIRST.stage, FIRST.evaluations),
            [True, False],
        ),
    ],
)
def test_changed_rows_are_counted_exactly_but_for_rounding(other, changed):
    assert changed_rows(FIRST, other).tolist() == changed


def test_the_price_of_evaluations_is_compared():
    @dataclass
    class PricesByUnpaid(Policy):
        def decide(self, rows):
            half = np.full((len(rows), 2), 0.5)
            price = 1.0 + np.abs(rows.X[:, 1])
            return Decisions(np.zeros((len(rows), 4), dtype=bool), half, evaluation_cost=price)

    with pytest.raises(AuditError, match="feature 'income' on 60 rows"):
        audit(PricesByUnpaid(), rows_of())
    prices = Decisions(FIRST.acquired, FIRST.probabilities, evaluation_cost=np.array([1.0, 2.0]))
    dearer = Decisions(FIRST.acquired, FIRST.probabilities, evaluation_cost=np.array([1.0, 2.0 + 1e-6]))
    assert changed_rows(prices, dearer).tolist() == [False, True]


def test_every_column_of_a_wide_table_is_replaced():
    rows = rows_of(2000, features=530)  # a full chunk of columns, and one that is not
    made = Auditor.prepare(rows, np.arange(530), rows.X[:0], np.random.default_rng(0), 1).substitutes
    for substitute in made:
        assert ((substitute != rows.X).mean(axis=0) > 0.99).all()


SURE = Decisions(np.ones((3, 1), bool), np.array([[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]]))


def shifted(column, by):
    table = np.array(SURE.probabilities)
    table[:, 0] += by * column
    table[:, 1] -= by * column
    return Decisions(SURE.acquired, table)


@pytest.mark.parametrize(
    ("agreement", "changed"),
    [
        (Agreement(), [False, True, False]),  # one half each: another label
        (Agreement(threshold=0.8), [True, True, False]),  # on the other side of p̂
        (Agreement(threshold=0.7), [False, True, False]),
    ],
)
def test_labels_and_conclusive_answers_are_compared_exactly(agreement, changed):
    after = shifted(np.array([-1.0, -1.0, -1.0]), 1e-10)
    assert changed_rows(SURE, after, agreement).tolist() == changed
    assert not changed_rows(SURE, SURE, agreement).any()


def scored(*values):
    return Decisions(np.ones((len(values), 1), bool), score=np.array(values))


@pytest.mark.parametrize(
    ("before", "after", "agreement", "changed"),
    [
        # A score may be off by a billionth of the target's spread, however large or small it is itself.
        ((1.0, 2.0), (1.0 + 1e-10, 2.0), Agreement(), [True, False]),
        ((1.0, 2.0), (1.0 + 1e-10, 2.0), Agreement(scale=1.0), [False, False]),
        ((1e12, 2e12), (1e12 + 1.0, 2e12), Agreement(scale=1.0), [True, False]),
        ((1e-10, 2e-10), (2e-10, 1e-10), Agreement(scale=1.0), [False, False]),
        # ... or by four units in its last place.
        ((1e12, 2e12), (1e12 + 2**-12, 2e12), Agreement(), [False, False]),
        # Where rows are ranked, equals must stay equal and the order the same.
        ((1e-10, 2e-10), (2e-10, 1e-10), Agreement(ranked=True, scale=1.0), [True, True]),
        ((1.0, 1.0), (1.0, 1.0 + 1e-15), Agreement(ranked=True, scale=1.0), [False, True]),
        ((1.0, 2.0), (1.0 + 1e-15, 2.0), Agreement(ranked=True, scale=1.0), [False, False]),
    ],
)
def test_scores_are_granted_rounding_by_the_target_and_ranks_none(before, after, agreement, changed):
    assert changed_rows(scored(*before), scored(*after), agreement).tolist() == changed


def test_an_order_is_compared_within_each_query():
    before, after = scored(1.0, 2.0, 1.0, 2.0), scored(1.0 + 1e-12, 2.0, 1.0, 2.0)
    ranked = Agreement(ranked=True, scale=1.0)
    assert not changed_rows(before, after, ranked, np.array([0, 0, 1, 1])).any()
    assert changed_rows(before, after, ranked).tolist() == [True, False, False, False]


scores = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=12)


@given(scores, scores, st.integers(1, 3))
def test_an_order_has_changed_where_some_pair_of_a_query_has(first, second, queries):
    count = min(len(first), len(second))
    a, b, query = np.array(first[:count]), np.array(second[:count]), np.arange(count) % queries
    changed = changed_rows(scored(*a), scored(*b), Agreement(ranked=True, scale=1e12), query)
    pairs = [
        np.sign(a[i] - a[j]) != np.sign(b[i] - b[j]) for i in range(count) for j in range(count) if query[i] == query[j]
    ]
    assert changed.any() == any(pairs)
