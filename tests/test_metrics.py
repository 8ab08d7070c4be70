"""Metrics: hand-worked values, scikit-learn and brute force as oracles."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, ndcg_score, roc_auc_score

from bench_core.builtin.metrics import BUILT_IN, misclassification_cost, ndcg_at, precision_at
from bench_core.contract.decisions import Decisions, Outcome
from bench_core.contract.errors import RequestError
from bench_core.contract.metric import Metric, measure, resolve_metric

KNOWN = {metric.name: metric for metric in BUILT_IN}

# Four rows, p̂ = 0.8: rows 0 and 2 are conclusive, row 0 right, row 2 wrong, row 1 right, row 3 wrong.
WORKED = Outcome(
    task="binary",
    y=np.array([0, 1, 0, 0]),
    decisions=Decisions(
        acquired=np.array([[1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 0]], dtype=bool),
        probabilities=np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.3, 0.7]]),
        stage=np.array([1, 3, 2, 1]),
        evaluations=np.array([1.0, 5.0, 2.0, 0.0]),
    ),
    bill=np.array([1.0, 6.0, 3.0, 0.0]),
    full_bill=np.array([6.0, 6.0, 6.0, 6.0]),
    evaluation_bill=np.array([0.5, 2.5, 1.0, 0.0]),
    threshold=0.8,
    reference=Decisions(
        acquired=np.ones((4, 3), dtype=bool), probabilities=np.array([[0.9, 0.1], [0.9, 0.1], [0, 1.0], [0.4, 0.6]])
    ),
    budget=3.0,
)

BY_HAND = {
    "coverage": 2 / 4,
    "conclusive-accuracy": 1 / 2,
    "cost": 2.5,
    "cost-share": 2.5 / 6,
    "combined": 0.5 + 0.5 + 1 - 2.5 / 6,
    "accuracy": 2 / 4,
    "error": 2 / 4,
    "mean-stages": 7 / 4,
    "mean-base-models": 2.0,
    "features": 6 / 4,
    "evaluation-cost": 1.0,
    "total-cost": 3.5,
    "budget-violations": 1 / 4,
    "disagreement": 1 / 4,
    "auc": 1 / 3,  # row 1 (0.6) against rows 0, 2 and 3 (0.1, 0.8, 0.7)
    "log-loss": -np.log(0.9 * 0.6 * 0.2 * 0.3) / 4,
    "brier": 2 * (0.01 + 0.16 + 0.64 + 0.49) / 4,
}


@pytest.mark.parametrize(("name", "value"), BY_HAND.items())
def test_hand_worked_values(name, value):
    assert KNOWN[name].function(WORKED) == pytest.approx(value, abs=1e-15)


def test_every_metric_without_a_cut_off_has_a_hand_worked_value():
    assert {name for name in KNOWN if "@" not in name} == {*BY_HAND, "mse"}


def changed(**fields):
    return Outcome(**{**{name: getattr(WORKED, name) for name in WORKED.__dataclass_fields__}, **fields})


def test_nothing_conclusive_means_no_accuracy():
    assert KNOWN["conclusive-accuracy"].function(changed(threshold=0.95)) == 0.0
    assert KNOWN["coverage"].function(changed(threshold=0.95)) == 0.0


def test_a_cost_share_is_a_share_of_the_sum_and_not_a_mean_of_shares():
    sized = replace(WORKED, bill=np.array([1.0, 0.0, 0.0, 5.0]), full_bill=np.array([2.0, 10.0, 10.0, 8.0]))
    assert KNOWN["cost-share"].function(sized) == pytest.approx(0.2)


def test_free_features_have_no_cost_share():
    assert KNOWN["cost-share"].function(changed(bill=np.zeros(4), full_bill=np.zeros(4))) == 0.0


def test_a_budget_met_to_rounding_is_met_and_no_budget_is_never_exceeded():
    tight = changed(bill=np.full(4, 0.1 + 0.2), budget=0.3)
    assert KNOWN["budget-violations"].function(tight) == 0.0
    assert KNOWN["budget-violations"].function(changed(budget=None)) == 0.0


def test_unset_stages_and_evaluations_count_as_one():
    silent = changed(decisions=Decisions(WORKED.decisions.acquired, WORKED.decisions.probabilities))
    assert KNOWN["mean-stages"].function(silent) == KNOWN["mean-base-models"].function(silent) == 1.0


def ranked(y, score, query=None):
    rows = len(y)
    return Outcome(
        task="ranking",
        y=np.asarray(y, dtype=np.float64),
        decisions=Decisions(np.ones((rows, 1), dtype=bool), score=np.asarray(score, dtype=np.float64)),
        bill=np.ones(rows),
        full_bill=np.ones(rows),
        evaluation_bill=np.zeros(rows),
        query=None if query is None else np.asarray(query),
    )


def test_mse_by_hand():
    assert KNOWN["mse"].function(ranked([1.0, 2.0], [1.5, 0.0])) == (0.25 + 4) / 2


def test_ndcg_by_hand():
    """Grades 3, 0, 2 ranked in that order: gains 7, 0, 3 with discounts 1, 1/log2(3), 1/2."""
    assert ndcg_at(ranked([3, 0, 2], [9, 5, 1]), 3) == pytest.approx(8.5 / (7 + 3 / np.log2(3)))
    assert ndcg_at(ranked([3, 0, 2], [9, 5, 1]), 1) == 1.0


documents = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1.0, 0.0, 0.5, 2.0])), min_size=2, max_size=9)


@given(st.lists(documents, min_size=1, max_size=5), st.integers(1, 10))
def test_ndcg_is_scikit_learns_on_exponential_gains_with_ties_and_queries_without_relevant_documents(queries, k):
    y, score = (np.array([pair[i] for query in queries for pair in query], dtype=float) for i in (0, 1))
    ids = np.repeat(np.arange(len(queries))[::-1] * 3, [len(query) for query in queries])
    expected = np.mean(
        [
            ndcg_score([[2.0**grade - 1 for grade, _ in query]], [[value for _, value in query]], k=k)
            for query in queries
        ]
    )
    assert ndcg_at(ranked(y, score, ids), k) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0])), min_size=1, max_size=6), st.integers(1, 7))
def test_precision_is_the_mean_over_all_orders_of_tied_documents(query, k):
    y, score = np.array([grade for grade, _ in query]), np.array([value for _, value in query])
    found = [
        sum(y[i] > 0 for i in order[:k]) / k
        for order in itertools.permutations(range(len(query)))
        if all(score[a] >= score[b] for a, b in itertools.pairwise(order))
    ]
    assert precision_at(ranked(y, score), k) == pytest.approx(np.mean(found), abs=1e-12)


def test_a_binary_task_is_ranked_by_the_second_classs_probability():
    as_scores = ranked(WORKED.y, WORKED.decisions.probabilities[:, 1])
    assert ndcg_at(WORKED, 2) == ndcg_at(as_scores, 2)
    assert precision_at(WORKED, 1) == precision_at(as_scores, 1) == 0.0


def test_three_classes_cannot_be_ranked():
    three = changed(decisions=Decisions(WORKED.decisions.acquired, np.full((4, 3), 1 / 3)))
    with pytest.raises(RequestError, match="need a score"):
        ndcg_at(three, 5)


def test_a_cut_off_metric_is_resolved_for_any_k():
    metric = resolve_metric("ndcg@5", KNOWN)
    assert (metric.name, metric.title, metric.goal) == ("ndcg@5", "NDCG@5", "max")
    outcome = ranked([3, 0, 2, 1, 0, 4], [1, 2, 3, 4, 5, 6])
    assert metric.function(outcome) == ndcg_at(outcome, 5)
    assert resolve_metric("cost", KNOWN) is KNOWN["cost"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("covrage", "'covrage' is unknown; did you mean 'coverage'"),
        ("nddcg@10", "did you mean 'ndcg@10'"),
        ("ndcg@k", "'ndcg@k' needs a number for k: ndcg@5"),
        ("ndcg@0", "did you mean 'ndcg@5'"),
        ("ndcg@5x", "did you mean 'ndcg@5'"),
        ("cost@3", "is unknown"),
        ("zzz", "known: accuracy"),
    ],
)
def test_an_unknown_metric_is_refused_with_the_nearest(name, said):
    with pytest.raises(RequestError, match=said):
        resolve_metric(name, KNOWN)


def test_only_metrics_that_make_sense_are_evaluated():
    chosen = {**KNOWN, "ndcg@5": resolve_metric("ndcg@5", KNOWN)}
    for name in [name for name in KNOWN if name.endswith("@k")]:
        del chosen[name]
    assert set(measure(WORKED, chosen)) == {*BY_HAND, "ndcg@5"}
    assert "disagreement" not in measure(changed(reference=None), chosen)
    scores = measure(ranked([1, 0], [1, 0]), chosen)
    assert {"mse", "ndcg@5", "cost"} <= set(scores)
    assert not {"accuracy", "coverage"} & set(scores)


def test_no_rows_give_numbers_not_errors():
    empty = Outcome(
        "binary", np.zeros(0, dtype=np.int64), WORKED.decisions.take(np.arange(0)), *[np.zeros(0)] * 3, threshold=0.8
    )
    assert all(
        np.isfinite(value) for value in measure(empty, {n: m for n, m in KNOWN.items() if "@" not in n}).values()
    )


def test_the_goal_determines_which_value_is_better():
    assert KNOWN["coverage"].better(0.9, 0.8)
    assert not KNOWN["cost"].better(0.9, 0.8)
    assert not Metric("m", len, "max").better(1.0, 1.0)


def answered(y, probabilities, threshold=None):
    rows = len(y)
    table = np.asarray(probabilities, dtype=np.float64)
    decisions = Decisions(np.ones((rows, 1), dtype=bool), table)
    task = "binary" if table.shape[1] == 2 else "multiclass"
    return Outcome(task, np.asarray(y), decisions, *[np.ones(rows)] * 3, threshold=threshold)


answers = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0])), min_size=2, max_size=12)


@given(answers.filter(lambda labelled: len({y for y, _ in labelled}) == 2))
def test_auc_is_scikit_learns_with_ties(labelled):
    y, p = np.array([y for y, _ in labelled]), np.array([p for _, p in labelled])
    outcome = answered(y, np.column_stack([1 - p, p]))
    assert KNOWN["auc"].function(outcome) == pytest.approx(roc_auc_score(y, p), abs=1e-12)


def test_auc_is_a_half_where_one_class_is_missing_and_is_not_for_several_classes():
    assert KNOWN["auc"].function(answered([1, 1], [[0.2, 0.8], [0.9, 0.1]])) == 0.5
    assert not measure(answered([0, 2], np.full((2, 3), 1 / 3)), {"auc": KNOWN["auc"]})


@given(st.lists(st.tuples(st.integers(0, 2), st.tuples(*[st.floats(0.01, 1.0)] * 3)), min_size=1, max_size=8))
def test_log_loss_is_scikit_learns_and_the_brier_score_a_distance(labelled):
    y, table = np.array([y for y, _ in labelled]), np.array([row for _, row in labelled])
    table = table / table.sum(axis=1, keepdims=True)
    outcome = answered(y, table)
    assert KNOWN["log-loss"].function(outcome) == pytest.approx(log_loss(y, table, labels=[0, 1, 2]), abs=1e-9)
    assert KNOWN["brier"].function(outcome) == pytest.approx(np.square(table - np.eye(3)[y]).sum() / len(y), abs=1e-12)


def test_a_certain_wrong_answer_has_a_finite_log_loss():
    assert KNOWN["log-loss"].function(answered([0], [[0.0, 1.0]])) == pytest.approx(-np.log(1e-15))


def test_a_cost_matrix_decides_by_the_least_expected_cost():
    """Missing the second class costs 10: at probability 0.2, answering it costs 0.8, and not answering it 2."""
    matrix = np.array([[0.0, 1.0], [10.0, 0.0]])
    outcome = answered([0, 1, 0, 1], [[0.8, 0.2], [0.8, 0.2], [0.95, 0.05], [0.95, 0.05]])
    assert misclassification_cost(outcome, matrix) == pytest.approx((1 + 0 + 0 + 10) / 4)
    assert resolve_metric("misclassification-cost@10", KNOWN).function(outcome) == pytest.approx(11 / 4)
    assert resolve_metric("misclassification-cost@1", KNOWN).function(outcome) == pytest.approx(2 / 4)


@given(answers, st.integers(1, 20))
def test_equal_costs_of_errors_give_the_error_times_the_cost(labelled, cost):
    y, p = np.array([y for y, _ in labelled]), np.array([p for _, p in labelled])
    outcome = answered(y, np.column_stack([1 - p, p]))
    even = misclassification_cost(outcome, cost * (1 - np.eye(2)))
    assert even == pytest.approx(cost * KNOWN["error"].function(outcome))


def test_metrics_of_probabilities_name_what_is_missing():
    for name in ("log-loss", "brier"):
        with pytest.raises(RequestError, match="need class probabilities"):
            KNOWN[name].function(ranked([1, 0], [1, 0]))
