"""The audit: every dishonest habit is detected and named, honest policies pass, and a round has one call or two."""

from __future__ import annotations

import re
from contextlib import suppress
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
from bench_core.protocol.audit import Auditor
from bench_core.protocol.substitutes import Substitutes
from bench_core.testing import changed_rows

NAMES = ("age", "income", "height", "debt")


def rows_of(rows=60, seed=0, features=4):
    return Rows(np.random.default_rng(seed).normal(size=(rows, features)))


def audit(policy, rows, *, rounds=2, others=None, of_column=None, seed=1):
    of_column = np.arange(rows.X.shape[1]) if of_column is None else np.array(of_column)
    others = rows_of(40, 9, rows.X.shape[1]).X if others is None else others
    auditor = Auditor.prepare(rows, of_column, others, seed, rounds)
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


def test_the_named_number_of_rows_is_the_number_of_dishonest_rows():
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
def test_an_honest_policy_is_asked_once_in_every_first_round_and_twice_in_every_second(rounds):
    counting = Counting(cheats.HonestEarlyExit(4))
    audit(counting, rows_of(), rounds=rounds)
    assert counting.calls == [60, *[75, 38, 37, 75, 38, 37, 75][: rounds + rounds // 2]]


def test_several_features_are_named_the_worst_first():
    @dataclass
    class ReadsTwo(Policy):
        def decide(self, rows):
            p = 1 / (1 + np.exp(-rows.X[:, 3] - np.where(rows.X[:, 1] > 0.8, 1.0, 0.0)))
            return Decisions(np.zeros((len(rows), 4), dtype=bool), np.column_stack([1 - p, p]))

    with pytest.raises(AuditError, match=r"feature 'debt' on 60 rows; feature 'income' on [0-9]+ rows"):
        audit(ReadsTwo(), rows_of())


def test_features_that_matter_only_together_are_reported_as_such():
    @dataclass
    class Majority(Policy):
        def decide(self, rows):
            p = 0.2 + 0.6 * ((rows.X > 0).sum(axis=1) > 1)
            return Decisions(np.zeros((len(rows), 4), dtype=bool), np.column_stack([1 - p, p]))

    rows = Rows(np.ones((50, 4)))
    with pytest.raises(AuditError, match=r"did not acquire .no single one explains it. on 50 of 50 rows"):
        audit(Majority(), rows, others=-np.ones((50, 4)))


def at_random(rows, number):
    """Random probabilities, drawn anew in each call."""
    return np.random.default_rng(number).uniform(0.2, 0.4, len(rows))


def by_the_mean(rows, number):
    """Probabilities that depend on the mean of a paid feature over the batch."""
    return 1 / (1 + np.exp(-rows.X[:, 0].mean() - rows.X[:, 0]))


def from_the_fourth_call_on(rows, number):
    """Probabilities that change on one row when the first feature is substituted separately, and from then on."""
    return np.where((number not in (1, 3)) & (rows.X[:, 0] == rows.X[:, 0].max()), 0.9, 0.2)


@pytest.mark.parametrize(
    ("answers", "how"),
    [(at_random, "order: "), (by_the_mean, "order, some of them twice: "), (from_the_fourth_call_on, "order: ")],
)
def test_a_policy_that_depends_on_the_batch_or_on_earlier_calls_is_not_blamed_for_a_feature(answers, how):
    @dataclass
    class Unsteady(Policy):
        number: int = 0

        def decide(self, rows):
            self.number += 1
            acquired = np.zeros((len(rows), 4), dtype=bool)
            acquired[:, 0] = True
            p = answers(rows, self.number)
            return Decisions(acquired, np.column_stack([1 - p, p]))

    with pytest.raises(AuditError, match=rf"rows when nothing is replaced and the rows come in another {how}"):
        audit(Unsteady(), rows_of())


@dataclass
class OneHotPeek(Policy):
    column: int

    def decide(self, rows):
        acquired = np.zeros((len(rows), 3), dtype=bool)
        acquired[:, [0, 2]] = True
        p = 0.3 + 0.4 * rows.X[:, self.column]
        return Decisions(acquired, np.column_stack([1 - p, p]))


@dataclass
class Watching(Policy):
    """Buys the first feature, and keeps the rows that it is shown."""

    decision_scope: str = "row"
    seen: list[Rows] = field(default_factory=list)

    def decide(self, rows):
        self.seen.append(rows)
        acquired = np.zeros((len(rows), 2), dtype=bool)
        acquired[:, 0] = True
        return Decisions(acquired, score=np.nan_to_num(rows.X[:, 0]))


def shown(rows, of_column, train, *, seed=0, rounds=2, scope="row"):
    """The rows that a policy of two features, which buys the first, is shown in each round of its audit."""
    policy = Watching(scope)
    decisions = policy.decide(rows)
    batches = []
    for count in range(1, rounds + 1):  # the calls of the last round are those that a round less does not have
        policy.seen.clear()
        Auditor.prepare(rows, np.array(of_column), train, seed, count).check(policy, decisions, NAMES[:2])
        calls = policy.seen[(count - 1) + (count - 1) // 2 if rows.query is None else count - 1 :]
        ids = None if rows.query is None else np.concatenate([call.query for call in calls])
        batches.append(Rows(np.concatenate([call.X for call in calls]), None, ids))
    return batches


def test_all_columns_of_a_feature_are_replaced_by_values_of_one_row():
    levels = np.eye(3)[np.arange(60) % 3]
    rows = Rows(np.column_stack([np.linspace(0, 1, 60), levels, np.zeros(60)]))
    of_column = np.array([0, 1, 1, 1, 2])
    for column in (1, 2, 3):
        with pytest.raises(AuditError, match=r"feature 'income' on [0-9]+ rows"):
            audit(OneHotPeek(column), rows, of_column=of_column, others=rows.X)
    audit(OneHotPeek(0), rows, of_column=of_column, others=rows.X)
    for batch in shown(Rows(rows.X[:, :4]), [0, 1, 1, 1], rows.X[:5, :4]):
        assert set(map(tuple, batch.X[:, 1:])) == set(map(tuple, np.eye(3)))


values = st.lists(st.sampled_from([0.0, 1.0, 2.0, -7.5, np.nan]), min_size=2, max_size=80)


@given(values, values, values, st.integers(0, 2**63 - 1), st.integers(1, 4), st.sampled_from([1, 3, None]))
def test_substitutes_come_from_the_training_part_and_not_from_the_rows(own, other, train, seed, rounds, q):
    """The substitutes depend on the seed and not on the rows' values."""
    count = min(len(own), len(other))
    paid, train = np.arange(float(count)), np.column_stack([np.zeros(len(train)), train])
    query = None if q is None else np.arange(count) // q
    first, second = (
        shown(Rows(np.column_stack([paid, unpaid[:count]]), None, query), [0, 1], train, seed=seed, rounds=rounds)
        for unpaid in (own, other)
    )
    assert len(first) == rounds
    for one, same in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.X, same.X)
        assert set(np.nan_to_num(one.X[:, 1], nan=9.0)) <= set(np.nan_to_num(train[:, 1], nan=9.0))
        assert set(one.X[:, 0]) == set(paid)
        assert count <= len(one) <= count + count // 4
        assert q is not None or len(one) == count + count // 4


def test_levels_are_drawn_as_often_as_training_has_them_missing_ones_too():
    train = np.column_stack([np.zeros(100), np.repeat([0.0, 1.0, np.nan], [70, 20, 10])])
    batches = shown(Rows(np.zeros((4000, 2))), [0, 1], train, rounds=3)
    drawn = np.concatenate([batch.X[:, 1] for batch in batches])
    shares = [(drawn == 0).mean(), (drawn == 1).mean(), np.isnan(drawn).mean()]
    np.testing.assert_allclose(shares, [0.7, 0.2, 0.1], atol=0.015)


def test_every_feature_of_a_row_has_a_value_of_another_training_row():
    train = np.repeat(np.arange(1000.0)[:, None], 3, axis=1)
    made = Substitutes.draw(train, np.array([0, 1, 1]), 1000, np.random.default_rng(0)).values
    assert (made[:, 0] == made[:, 1]).mean() < 0.01
    assert (made[:, 1] == made[:, 2]).all()


def test_every_round_has_its_own_order_repeated_rows_and_substitutes():
    rows = Rows(np.column_stack([np.arange(400.0), np.zeros(400)]))
    train = np.random.default_rng(0).normal(size=(5000, 2))
    batches = shown(rows, [0, 1], train, rounds=3)
    assert not np.array_equal(batches[0].X[:, 0], np.sort(batches[0].X[:, 0]))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        a, b = batches[one].X, batches[other].X
        assert (a[:, 0] == b[:, 0]).mean() < 0.05
        twice = [{row for row in range(400) if (batch[:, 0] == row).sum() == 2} for batch in (a, b)]
        assert len(twice[0]) == len(twice[1]) == 100
        assert 5 < len(twice[0] & twice[1]) < 60
        # The positions of a row's substitute in two rounds are independent.
        first, second = (dict(batch) for batch in (a, b))
        assert abs(np.corrcoef([[first[row], second[row]] for row in range(400)], rowvar=False)[0, 1]) < 0.2


def test_a_repeated_row_gets_different_substitutes():
    rows = Rows(np.column_stack([np.arange(400.0), np.zeros(400)]))
    (batch,) = shown(rows, [0, 1], np.random.default_rng(0).normal(size=(5000, 2)), rounds=1)
    by_row = {row: batch.X[batch.X[:, 0] == row, 1] for row in range(400)}
    pairs = [values for values in by_row.values() if len(values) == 2]
    assert len(pairs) == 100
    assert sum(first == second for first, second in pairs) < 3
    assert 0.0 not in batch.X[:, 1]


@dataclass
class PeeksAtLevels(Policy):
    """Uses an unpaid feature on the rows whose paid feature is positive."""

    def decide(self, rows):
        yes = np.where((rows.X[:, 0] > 0) & (rows.X[:, 1] > 0), 0.9, 0.1)
        acquired = np.zeros((len(rows), 2), dtype=bool)
        acquired[:, 0] = True
        return Decisions(acquired, np.column_stack([1 - yes, yes]))


@pytest.mark.parametrize(("ones", "used", "zeros"), [(0.5, 1, 0), (0.5, 0, 2), (0.9, 1, 0), (0.9, 4, 0), (0.5, 20, 20)])
def test_reading_a_two_level_feature_goes_unnoticed_as_often_as_documented(ones, used, zeros):
    """``used`` and ``zeros`` are the rows that are used where the unpaid feature is 1 and 0."""
    paid = np.zeros(40)
    paid[: used + zeros] = 1.0
    rows = Rows(np.column_stack([paid, np.arange(40) < used]).astype(np.float64))
    train = np.column_stack([np.zeros(200), np.arange(200) < 200 * ones])
    policy = PeeksAtLevels()
    decisions = policy.decide(rows)
    escaped = 0
    for seed in range(300):
        try:
            Auditor.prepare(rows, np.arange(2), train, seed).check(policy, decisions, NAMES[:2])
            escaped += 1
        except AuditError:
            pass

    def alone(share):  # in one round, where a quarter of the rows is drawn for twice
        return 0.75 * share + 0.25 * share**2

    expected = (alone(ones) ** used * alone(1 - ones) ** zeros) ** 2
    assert abs(escaped / 300 - expected) <= 3 * np.sqrt(expected * (1 - expected) / 300) + 1e-3


@given(
    st.integers(0, 2**63 - 1),
    st.integers(1, 50),
    st.sampled_from(["row", "query"]),
    st.sampled_from([None, 1, 7]),
    st.booleans(),
    st.booleans(),
)
def test_an_honest_policy_passes_whatever_it_computes_from_paid_values(seed, count, scope, queries, sized, holes):
    rng = np.random.default_rng(seed)
    X, train = rng.normal(size=(count, 5)), rng.normal(size=(30, 5))
    if holes:
        X[rng.random(X.shape) < 0.2] = np.nan
        train[rng.random(train.shape) < 0.2] = np.nan
    query = None if queries is None else rng.integers(50, 50 + queries, count)
    of_column = np.array([0, 1, 1, 2, 3])
    weights = rng.normal(size=(4, 5))

    @dataclass
    class Honest(Policy):
        decision_scope: str = scope

        def decide(self, rows):
            X = np.nan_to_num(rows.X, nan=0.3)
            acquired = np.zeros((len(rows), 4), dtype=bool)
            acquired[:, 1] = True
            acquired[X[:, 1] > 0, 0] = True
            acquired[X[:, 2] > 0, 3] = True
            score = np.tanh(np.where(acquired[:, of_column], X, 0.0) * weights[0]).cumsum(axis=1)[:, -1]
            score = score if rows.sizes is None else score + rows.sizes
            if scope == "query":  # a row's rank in its query, by paid values
                ids = np.zeros(len(rows)) if rows.query is None else rows.query
                score = ((ids[:, None] == ids) & (score[:, None] > score)).sum(axis=1).astype(np.float64)
            return Decisions(acquired, score=score)

    rows = Rows(X, rng.random(count) if sized else None, query)
    ranked = Agreement(ranked=True, scale=1.0)
    policy = Honest()
    decisions = policy.decide(rows)
    Auditor.prepare(rows, of_column, train, seed, 3, ranked).check(policy, decisions, NAMES)


@pytest.mark.parametrize("statistic", ["mean", "max", "median", "rank"])
@pytest.mark.parametrize("count", [20, 200])
def test_statistics_of_the_batch_are_caught_under_every_seed(statistic, count):
    for seed in range(25):
        with pytest.raises(AuditError, match="'income'"):
            audit(cheats.BatchStatistic(4, statistic=statistic), rows_of(count, seed), seed=seed)


@dataclass
class AboveTheMean(Policy):
    """Pays for all features that it reads, and compares the first with its mean over the batch."""

    def decide(self, rows):
        score = (rows.X[:, 0] > rows.X[:, 0].mean()).astype(np.float64)
        return Decisions(np.ones(rows.X.shape, dtype=bool), score=score)


def test_statistics_of_paid_values_over_the_batch_are_caught():
    missed = 0
    for seed in range(100):
        with suppress(AuditError):
            audit(AboveTheMean(), rows_of(40, seed), seed=seed)
            missed += 1
    assert missed < 20
    with pytest.raises(AuditError, match="must not depend on its place in the batch or on other rows"):
        audit(AboveTheMean(), rows_of(400, 5), seed=5)


def test_a_feature_that_is_constant_on_the_rows_is_replaced_by_training_values():
    rows = rows_of(80)
    rows.X[:, 1] = 3.0
    with pytest.raises(AuditError, match="feature 'income' on 80 rows"):
        audit(cheats.ReadsUnpaid(4), rows)


def test_the_audit_does_not_change_the_rows():
    rows = rows_of()
    before = rows.X.copy()
    audit(cheats.HonestEarlyExit(4), rows)
    np.testing.assert_array_equal(rows.X, before)


def test_item_sizes_are_passed_to_the_policy():
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
def test_an_invalid_second_answer_fails_the_audit_without_a_crash(second, said):
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
def test_changed_rows_are_counted_exactly_except_for_rounding(other, changed):
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


def test_every_column_and_row_of_a_large_table_is_replaced():
    rows = rows_of(2000, features=530)  # drawn in several pieces
    made = Substitutes.draw(rows.X, np.arange(530), 2500, np.random.default_rng(0)).take(2500, np.random.default_rng(1))
    assert len(np.unique(made, axis=0)) == 2500
    assert ((made[:2000] != rows.X).mean(axis=0) > 0.99).all()
    assert np.isin(made, rows.X).all()


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
def test_scores_may_differ_by_rounding_and_ranks_may_not(before, after, agreement, changed):
    assert changed_rows(scored(*before), scored(*after), agreement).tolist() == changed


def test_an_order_is_compared_within_each_query():
    before, after = scored(1.0, 2.0, 1.0, 2.0), scored(1.0 + 1e-12, 2.0, 1.0, 2.0)
    ranked = Agreement(ranked=True, scale=1.0)
    assert not changed_rows(before, after, ranked, np.array([0, 0, 1, 1])).any()
    assert changed_rows(before, after, ranked).tolist() == [True, False, False, False]


scores = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=12)


@given(scores, scores, st.integers(1, 3))
def test_an_order_has_changed_if_a_pair_of_a_query_has(first, second, queries):
    count = min(len(first), len(second))
    a, b, query = np.array(first[:count]), np.array(second[:count]), np.arange(count) % queries
    changed = changed_rows(scored(*a), scored(*b), Agreement(ranked=True, scale=1e12), query)
    pairs = [
        np.sign(a[i] - a[j]) != np.sign(b[i] - b[j]) for i in range(count) for j in range(count) if query[i] == query[j]
    ]
    assert changed.any() == any(pairs)
