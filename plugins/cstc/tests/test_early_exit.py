"""Early exits: the paper's rule compared with a plain loop, complete queries, and rows without query ids."""

from dataclasses import replace

import numpy as np
import pytest
from bench_cstc.baselines.early_exit import EarlyExit
from bench_cstc.baselines.exits import exit_by_level, exit_by_query, kth_best, sentinels, thresholds
from bench_cstc.baselines.stagewise import Stagewise
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import Rows
from bench_core.testing import changed_rows, make_case


def plain_exits(partial, query, k, limits):
    """The paper's rule for one document at a time, in plain Python without shared code."""
    last = len(partial[0]) - 1 if len(partial) else 0
    leave = [last] * len(partial)
    for one in set(query):
        here = [i for i in range(len(partial)) if query[i] == one]
        for sentinel in range(last):
            scores = sorted((partial[i][sentinel] for i in here), reverse=True)
            if len(scores) < k:
                continue
            best = scores[k - 1]
            for i in list(here):
                if partial[i][sentinel] < best and best - partial[i][sentinel] >= limits[sentinel]:
                    leave[i] = sentinel
                    here.remove(i)
    return leave


documents = st.integers(0, 25).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(-4, 4), min_size=4, max_size=4), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
    )
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(data=documents, k=st.integers(1, 5), s=st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 9.0]))
def test_documents_leave_as_in_a_plain_implementation_of_the_rule(data, k, s):
    scores, query = data
    partial = np.array(scores, dtype=float).reshape(len(query), 4)
    limits = thresholds(s, 4)
    found = exit_by_query(partial, np.array(query, dtype=np.int64), k, limits)
    assert found.tolist() == plain_exits(partial.tolist(), query, k, limits.tolist())


def test_thresholds_of_three_hundred_sentinels_are_the_papers():
    limits = thresholds(0.3, 300)
    for i in (1, 2, 150, 299, 300):
        assert limits[i - 1] == pytest.approx((300 - i) / 299 * 0.3)
    assert thresholds(0.7, 1).tolist() == [0.7]


def test_three_thousand_trees_have_a_sentinel_after_every_tenth():
    assert sentinels(3000, 300).tolist() == list(range(10, 3001, 10))
    assert sentinels(7, 3).tolist() == [2, 4, 7]
    assert sentinels(3, 300).tolist() == [1, 2, 3]


def test_a_worked_query():
    """k = 2, s = 1, three sentinels: limits 1, 1/2, 0."""
    partial = np.array([[3.0, 3, 3], [2.0, 2, 2], [1.0, 9, 9], [1.2, 1.6, 9], [1.1, 1.5, 9]])
    leave = exit_by_query(partial, np.zeros(5, dtype=np.int64), 2, thresholds(1.0, 3))
    # The third is 1 below the second best at once; the last is 1/2 below at the second sentinel.
    assert leave.tolist() == [2, 2, 0, 2, 1]


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(0, 10))
def test_a_query_with_no_more_than_k_documents_loses_none(documents, seed):
    partial = np.random.default_rng(seed).normal(size=(documents, 5)) * 100
    assert (exit_by_query(partial, np.zeros(documents), 4, thresholds(0.1, 5)) == 4).all()


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(0, 100), st.floats(0, 3), st.floats(0, 3))
def test_against_fixed_levels_a_wider_threshold_keeps_documents_longer(rows, seed, a, b):
    rng = np.random.default_rng(seed)
    partial, levels = rng.normal(size=(rows, 6)), rng.normal(size=6)
    tight, wide = thresholds(min(a, b), 6), thresholds(max(a, b), 6)
    assert (exit_by_level(partial, levels, tight) <= exit_by_level(partial, levels, wide)).all()


def test_the_kth_best_is_taken_sentinel_by_sentinel():
    assert kth_best(np.array([[1.0, 5], [2, 4], [3, 3]]), 2).tolist() == [2, 4]


def ranking(**parameters):
    case = make_case("ranking", rows=240)
    method = EarlyExit(
        **{"n_estimators": 20, "exits": 10, "k": 3, "learning_rate": 0.3, "prefixes": (20,), **parameters}
    )
    return case, method, method.fit(case.problem)


def as_rows(part):
    return Rows(part.X, part.sizes, part.query)


@pytest.mark.parametrize("against", ["training", "query"])
def test_with_a_large_threshold_all_trees_are_run(against):
    case, _, family = ranking(s=(1e9,), against=against, evaluation=0.5)
    complete = Stagewise(
        n_estimators=20, learning_rate=0.3, prefixes=(20,), include_empty_policy=False, evaluation=0.5
    ).fit(case.problem)
    rows = as_rows(case.problem.validation)
    mine, theirs = family.policies[0].decide(rows), complete.policies[0].decide(rows)
    assert (mine.score == theirs.score).all()
    assert (mine.acquired == theirs.acquired).all()
    assert (mine.evaluation_cost == theirs.evaluation_cost).all()
    assert (mine.evaluations == 20).all()


@pytest.mark.parametrize("against", ["training", "query"])
def test_a_document_pays_for_the_trees_it_has_passed(against):
    _, _, family = ranking(s=(0.2,), against=against, evaluation=0.5)
    case = make_case("ranking", rows=240)
    policy = family.policies[0]
    decisions = policy.decide(as_rows(case.problem.validation))
    assert 0 < (decisions.evaluations < 20).mean() < 1
    for i, run in enumerate(decisions.evaluations.astype(int)):
        features = {int(f) for t in range(run) for f in policy.sums.trees.features_of[t]}
        assert set(np.flatnonzero(decisions.acquired[i]).tolist()) == features
        assert decisions.evaluation_cost[i] == pytest.approx(0.5 * run)
        assert run == decisions.stage[i] * 2


def test_scores_after_exit_are_those_of_the_trees_run():
    case, _, family = ranking(s=(0.2,), against="query", removed="as-scored")
    policy = family.policies[0]
    rows = as_rows(case.problem.validation)
    decisions = policy.decide(rows)
    running = policy.sums.partial(rows.X, range(21))
    at = decisions.evaluations.astype(int)
    assert (decisions.score == running[np.arange(len(rows)), at]).all()


@pytest.mark.parametrize("against", ["training", "query"])
def test_documents_that_leave_rank_behind_those_that_leave_later(against):
    case, _, family = ranking(s=(0.1,), against=against)
    rows = as_rows(case.problem.validation)
    decisions = family.policies[0].decide(rows)
    order = np.argsort(-decisions.score, kind="stable")
    assert (np.diff(decisions.stage[order]) <= 0).all()
    same = replace(family.policies[0], below=False).decide(rows)
    assert (same.acquired == decisions.acquired).all()
    for stage in np.unique(decisions.stage):
        here = decisions.stage == stage
        assert (np.argsort(decisions.score[here]) == np.argsort(same.score[here])).all()


def test_against_query_neither_order_nor_other_queries_matter():
    case, _, family = ranking(s=(0.15,), against="query")
    rows = as_rows(case.problem.validation)
    policy = family.policies[0]
    complete = policy.decide(rows)
    shuffle = np.random.default_rng(0).permutation(len(rows))
    assert not changed_rows(complete.take(shuffle), policy.decide(rows.take(shuffle))).any()
    for query in np.unique(rows.query):
        here = np.flatnonzero(rows.query == query)
        assert not changed_rows(complete.take(here), policy.decide(rows.take(here))).any()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_against_query_unpaid_values_do_not_matter(seed):
    case, _, family = _FITTED
    rows = as_rows(case.problem.validation)
    policy = family.policies[0]
    decisions = policy.decide(rows)
    other = np.random.default_rng(seed).permuted(rows.X, axis=0)
    paid = decisions.acquired[:, case.problem.feature_of_column]
    mixed = Rows(np.where(paid, rows.X, other), rows.sizes, rows.query)
    assert not changed_rows(decisions, policy.decide(mixed)).any()


_FITTED = ranking(s=(0.15,), against="query")


def test_a_query_of_one_document_is_scored_to_the_end():
    case, _, family = ranking(s=(0.0,), against="query")
    rows = as_rows(case.problem.validation).take(np.array([4]))
    assert family.policies[0].decide(rows).evaluations.tolist() == [20.0]


def test_rows_without_queries_are_refused_by_the_rule_that_needs_them():
    case, _, family = ranking(against="query")
    with pytest.raises(ValueError, match='against = "training" decides every row on its own'):
        family.policies[0].decide(Rows(case.rows.X))


def test_training_levels_are_medians_over_queries_with_enough_documents():
    case, _, family = ranking(s=(0.2,), k=4)
    policy = family.policies[0]
    train = case.problem.train
    partial = policy.sums.partial(train.X, policy.rule.stops)
    kth = []
    for query in sorted(set(train.query.tolist())):
        rows = partial[train.query == query]
        if len(rows) >= 4:
            kth.append([sorted(column, reverse=True)[3] for column in rows.T.tolist()])
    expected = [sorted(column)[len(kth) // 2] for column in zip(*kth, strict=True)]
    if len(kth) % 2 == 0:
        expected = np.median(np.array(kth), axis=0).tolist()
    assert policy.rule.levels.tolist() == pytest.approx(expected)
    nothing = EarlyExit(n_estimators=5, s=(0.0,), k=1000).fit(case.problem).policies[0]
    assert (nothing.decide(case.rows).evaluations == nothing.details["trees"]).all()


def test_a_longer_run_starts_like_a_shorter_one():
    case, _, family = ranking(s=(0.2,), prefixes=(10, 20))
    short = next(p for p in family.policies if p.details["trees"] == 10).decide(case.rows)
    long = next(p for p in family.policies if p.details["trees"] == 20).decide(case.rows)
    assert (np.minimum(long.evaluations, 10) == short.evaluations).all()


def test_two_classes_are_calibrated_on_scores_at_the_exit():
    case = make_case("binary", rows=600)
    family = EarlyExit(n_estimators=10, learning_rate=0.5, s=(0.5,), k=100, prefixes=(10,)).fit(case.problem)
    decisions = family.policies[0].decide(case.rows)
    assert (decisions.probabilities.argmax(axis=1) == case.y).mean() > 0.7
    assert decisions.evaluations.min() < 10


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"s": ()}, "s must be a list of at least 1 item"),
        ({"s": (-0.1,)}, "s.* must be a number of at least 0, not -0.1"),
        ({"s": (0.2, 0.2)}, "s must be .*, distinct, not"),
        ({"k": 0}, "k must be a whole number from 1 to"),
        ({"exits": 0}, "exits must be a whole number from 1 to"),
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1 to"),
        ({"prefixes": (0,)}, "prefixes.* must be a whole number of at least 1, not 0"),
    ],
)
def test_parameters_out_of_range_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        EarlyExit(**wrong)
