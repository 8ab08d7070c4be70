"""The default policy of a family: chosen by the default metric, on validation only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_core import Decisions, Part, Policy
from bench_core.builtin.default_policy import default_policy_first, spread_by_cost, validation_score
from bench_core.builtin.metrics import BUILT_IN
from bench_core.contract.metric import DEFAULT_METRICS, default_metric, resolve_metric
from bench_core.testing import make_problem


class Named(Policy):
    def __init__(self, label):
        self.label = label

    def decide(self, rows):
        raise NotImplementedError


def first_of(validation_scores):
    ordered = default_policy_first([Named(str(i)) for i in range(len(validation_scores))], validation_scores)
    return "".join(policy.label for policy in ordered)


def test_classes_with_a_threshold_are_judged_by_the_combined_measure():
    problem = make_problem("binary", threshold=0.9)
    part = problem.validation
    table = np.column_stack([np.linspace(0, 1, len(part)), np.linspace(1, 0, len(part))])
    acquired = np.zeros((len(part), problem.n_features), dtype=bool)
    acquired[::2, 0] = True
    value, bill = validation_score(problem, Decisions(acquired, probabilities=table))
    sure = table.max(axis=1) >= 0.9
    right = table.argmax(axis=1) == part.y
    mean = problem.costs.bill(acquired).mean()
    share = mean / problem.costs.cost_of(range(problem.n_features))
    assert value == pytest.approx(sure.mean() + right[sure].mean() + 1 - share, abs=1e-12)
    assert bill == -mean < 0


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_classes_without_a_threshold_are_judged_by_accuracy(task):
    problem = make_problem(task, threshold=None)
    part = problem.validation
    wrong = (part.y + 1) % problem.n_classes
    some = np.where(np.arange(len(part)) % 4 == 0, wrong, part.y)
    decisions = Decisions(
        np.zeros((len(part), problem.n_features), dtype=bool), probabilities=np.eye(problem.n_classes)[some]
    )
    assert validation_score(problem, decisions) == (pytest.approx((some == part.y).mean() - 1, abs=1e-12), 0.0)


def test_regression_is_judged_by_the_squared_error():
    problem = make_problem("regression")
    acquired = np.zeros((len(problem.validation), problem.n_features), dtype=bool)
    acquired[:, 0] = True
    decisions = Decisions(acquired, score=problem.validation.y + 2.0)
    assert validation_score(problem, decisions) == (pytest.approx(-4.0), pytest.approx(-problem.costs.cost_of([0])))


def test_ranking_is_judged_within_its_queries():
    problem = make_problem("ranking")
    # Two queries of two rows: the first in right order, the second reversed; gains 1 and 0, discounts 1 and log2(3).
    part = Part(problem.validation.X[:4], np.array([1.0, 0, 1, 0]), query=np.array([7, 7, 9, 9]))
    decisions = Decisions(np.zeros((4, problem.n_features), dtype=bool), score=np.array([2.0, 1, 3, 4]))
    value, _ = validation_score(replace(problem, validation=part), decisions)
    assert value == pytest.approx((1 + 1 / np.log2(3)) / 2)


def test_without_validation_rows_all_policies_have_the_same_score():
    problem = make_problem("binary")
    part = Part(problem.validation.X[:0], problem.validation.y[:0])
    none = Decisions(np.zeros((0, problem.n_features), dtype=bool), probabilities=np.zeros((0, 2)))
    assert validation_score(replace(problem, validation=part), none) == (0.0, 0.0)


def test_the_best_comes_first_and_the_others_keep_their_order():
    assert first_of([(0.0, 0.0), (1.0, 0.0), (3.0, -9.0), (2.0, 0.0)]) == "2013"


def test_ties_go_to_the_cheaper_then_to_the_first():
    assert first_of([(1.0, -3.0), (2.0, -5.0), (2.0, -4.0), (2.0, -4.0)]) == "2013"


@pytest.mark.parametrize("validation_scores", [[], [(1.0, 0.0)]])
def test_a_family_needs_policies_and_a_score_for_each(validation_scores):
    with pytest.raises(ValueError, match="one validation score for each"):
        default_policy_first([Named("a"), Named("b")][: 2 * len(validation_scores)], validation_scores)


class Priced(Named):
    """Buys the first feature for a share of the rows, and is right on a share of them."""

    def __init__(self, bought, right, y):
        super().__init__(f"{bought} {right}")
        self.bought, self.right, self.y = bought, right, y

    def decide(self, rows):
        count = len(rows)
        acquired = np.zeros((count, rows.X.shape[1]), dtype=bool)
        acquired[: self.bought] = True
        label = np.where(np.arange(count) < self.right, self.y, 1 - self.y)
        return Decisions(acquired, np.eye(2)[label])


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=60), st.integers(1, 8))
def test_a_thinned_family_has_the_best_of_each_piece_of_the_cost(numbers, most):
    problem = make_problem("binary", threshold=None, rows=40)
    y = problem.validation.y
    count = len(y)
    family = [Priced(min(bought, count), min(right, count), y) for bought, right in numbers]
    kept = spread_by_cost(problem, family, most)

    def piece(policy):
        return min(int((policy.bought / count) ** 0.5 * most), most - 1)

    best = max(family, key=lambda policy: (policy.right, -policy.bought))
    assert (kept[0].right, kept[0].bought) == (best.right, best.bought)
    rest = [policy.bought for policy in kept[1:]]
    assert rest == sorted(rest)
    if len(family) <= most:
        assert len(kept) == len(family)
        return
    assert len({piece(policy) for policy in kept}) == len(kept)
    assert {piece(policy) for policy in kept} == {piece(policy) for policy in family}
    for policy in kept:
        rivals = [other for other in family if piece(other) == piece(policy)]
        wanted = max(rivals, key=lambda other: (other.right, -other.bought))
        assert (policy.right, policy.bought) == (wanted.right, wanted.bought)


def test_every_default_metric_is_built_in():
    asked = {
        default_metric(task, threshold)
        for task in ("binary", "multiclass", "regression", "ranking")
        for threshold in (None, 0.8)
    }
    assert asked == set(DEFAULT_METRICS)
    for name in asked:
        assert resolve_metric(name, {metric.name: metric for metric in BUILT_IN}).name == name
