"""Budgets as questions to the records: what a trial answers, checked by hand and by brute force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from bench_analysis.points import cells_of
from bench_analysis.quality import quality_named
from bench_comparison.budgets import Answers, answers_of, relative
from bench_comparison.populations import comparison_of, populations
from bench_comparison.render.budgets import render_rows
from bench_comparison.steps import NONE, Steps
from bench_records.records import Records, tabulate
from hypothesis import given
from hypothesis import strategies as st
from support.synthetic import labelled, record_of, suite_of

from bench_core.builtin.metrics import BUILT_IN

KNOWN = {metric.name: metric for metric in BUILT_IN}
ACCURACY, ERROR, MSE = (quality_named(name, KNOWN) for name in ("accuracy", "error", "mse"))
Family = Sequence[tuple[float, float, float, float]]
"""Policies: cost and accuracy on validation, cost and accuracy on test."""


def family_record(
    method: str, seed: int, family: Family, dataset: str = "D", metric: str = "accuracy"
) -> dict[str, Any]:
    record = record_of(dataset, method, seed, {"accuracy": 0.0})
    columns = np.array(family, dtype=float).T.tolist()
    parts = {"validation": columns[:2], "test": columns[2:]}
    both = {part: {"cost-share": cost, "cost": [20 * c for c in cost], metric: q} for part, (cost, q) in parts.items()}
    count = len(family)
    table = {"label": [""] * count, "details": [{}] * count, "budget": [None] * count, **both}
    return {**record, "policies": table}


def records_of(families: Mapping[tuple[str, int], Family], metric: str = "accuracy") -> Records:
    return tabulate(labelled(family_record(m, s, family, metric=metric) for (m, s), family in families.items()))


def asked(records: Records, methods: Sequence[str], budgets: Sequence[float], **more: Any) -> Answers:
    (cell,) = cells_of(records).values()
    answers = answers_of(records, cell, methods, more.pop("quality", ACCURACY), budgets, **more)
    assert answers is not None
    return answers


def test_a_family_without_a_cheap_policy_answers_a_low_budget_by_buying_nothing() -> None:
    nothing = {"cost-share": 0.0, "cost": 0.0, "accuracy": 0.6}
    record = family_record("a", 0, [(0.5, 0.9, 0.5, 0.8)])
    records = tabulate(labelled([{**record, "empty": {"answer": [1.0, 0.0], "validation": nothing, "test": nothing}}]))
    answers = asked(records, ["a"], [0.1, 0.5])
    assert answers.test[0, 0].tolist() == [0.6, 0.8]
    assert answers.cost[0, 0].tolist() == [0.0, 0.5]
    assert [answers.status("a", budget, 0.1) for budget in (0, 1)] == ["ok", "ok"]


# The last policy is the best on validation, and the second best on test; the third is the best on test only.
CHEAP = [(0.0, 0.5, 0.0, 0.55), (0.1, 0.7, 0.12, 0.65), (0.3, 0.7, 0.3, 0.99), (0.6, 0.9, 0.5, 0.8)]


def test_the_answer_is_the_test_quality_of_the_best_policy_on_validation() -> None:
    answers = asked(records_of({("a", 0): CHEAP}), ["a"], [0.05, 0.1, 0.4, 1.0])
    assert answers.validation[0, 0].tolist() == [0.5, 0.7, 0.7, 0.9]
    assert answers.test[0, 0].tolist() == [0.55, 0.65, 0.65, 0.8]
    assert answers.cost[0, 0].tolist() == [0.0, 0.12, 0.12, 0.5]


def test_an_answer_that_costs_more_on_the_test_part_than_the_tolerance_grants_is_over_budget() -> None:
    answers = asked(records_of({("a", 0): CHEAP}), ["a"], [0.1, 0.4])
    assert answers.over(0.1)[0, 0].tolist() == [True, False]
    assert answers.over(0.2)[0, 0].tolist() == [False, False]
    assert [answers.status("a", 0, tolerance) for tolerance in (0.1, 0.2)] == ["over budget", "ok"]


def test_a_row_is_over_budget_by_its_mean_over_the_splits() -> None:
    split = {seed: [(0.1, 0.7, cost, 0.7)] for seed, cost in enumerate((0.16, 0.05))}
    answers = asked(records_of({("a", seed): family for seed, family in split.items()}), ["a"], [0.1])
    assert answers.over(0.1)[0, :, 0].tolist() == [True, False]
    assert answers.status("a", 0, 0.1) == "ok"
    assert answers.status("a", 0, 0.0) == "over budget"


def test_a_budget_that_no_policy_fits_has_no_policy() -> None:
    answers = asked(records_of({("a", 0): CHEAP[2:], ("b", 0): CHEAP}), ["a", "b"], [0.05, 0.3])
    assert np.isnan(answers.test[0, 0, 0])
    assert answers.status("a", 0, 0.1) == "no policy"
    assert answers.status("a", 1, 0.1) == "ok"


def test_a_missing_split_that_others_have_done_is_not_imputed() -> None:
    answers = asked(records_of({("a", 0): CHEAP, ("b", 0): CHEAP, ("b", 1): CHEAP}), ["a", "b", "c"], [0.5])
    assert answers.status("a", 0, 0.1) == "incomplete"
    assert answers.status("b", 0, 0.1) == "ok"
    assert answers.status("c", 0, 0.1) == "not run"
    assert np.isnan(answers.test[0, 1]).all()


def test_the_full_model_of_a_split_is_the_best_of_all_methods_by_validation() -> None:
    records = records_of({("a", 0): [(1.0, 0.9, 1.0, 0.6)], ("b", 0): [(1.0, 0.8, 1.0, 0.99), (0.2, 0.4, 0.2, 0.3)]})
    answers = asked(records, ["b", "a"], [0.2, 1.0])
    assert answers.reference == ("a",)
    assert answers.full.tolist() == [0.6]
    assert relative(ACCURACY, answers.test[0, 0], answers.full).tolist() == pytest.approx([0.5, 1.65])


def test_the_area_is_below_the_steps_and_0_where_no_policy_fits() -> None:
    answers = asked(records_of({("a", 0): CHEAP[1:]}), ["a"], [1.0])
    assert answers.area[0, 0] == pytest.approx(0.5 * 0.65 + 0.4 * 0.8)


def test_the_cost_to_reach_a_share_of_the_full_model_is_the_mean_test_cost_of_that_step() -> None:
    families = {("a", 0): CHEAP, ("a", 1): CHEAP, ("b", 0): [(1.0, 0.9, 1.0, 0.7)], ("b", 1): [(1.0, 0.9, 1.0, 0.7)]}
    answers = asked(records_of(families), ["b", "a"], [1.0])
    assert answers.reference == ("b", "b")
    assert answers.reach[0.95].tolist() == [1.0, 0.5]  # 0.665: 0.65 at a tenth is not enough


def test_absolute_budgets_are_in_the_unit_of_the_prices() -> None:
    answers = asked(records_of({("a", 0): CHEAP}), ["a"], [1.9, 2.0, 12.0], cost=None)
    assert answers.validation[0, 0].tolist() == [0.5, 0.7, 0.9]


def test_less_is_better_is_measured_from_the_worst_or_as_a_ratio() -> None:
    assert relative(ERROR, np.array([0.2, 1.0]), np.array([0.2])).tolist() == pytest.approx([1.0, 0.0])
    assert relative(MSE, np.array([2.0, 4.0]), np.array([2.0])).tolist() == pytest.approx([1.0, 0.5])
    assert np.isnan(relative(ACCURACY, np.array([0.5]), np.array([0.0]))).all()
    answers = asked(records_of({("a", 0): CHEAP}, metric="mse"), ["a"], [0.1, 1.0], quality=MSE)
    assert answers.validation[0, 0].tolist() == [0.5, 0.5]


policies = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0]), st.sampled_from([0.1, 0.5, 0.9])),
    max_size=12,
)


@given(policies, st.sampled_from([0.0, 0.1, 0.15, 0.5, 1.0]))
def test_a_budget_gets_what_brute_force_gets(policies: list[tuple[int, float, float]], budget: float) -> None:
    group, cost, quality = (np.array([one[i] for one in policies]) for i in range(3))
    found = Steps(group.astype(np.int64), cost, quality, 3).at(np.full((3, 1), budget))[:, 0]
    for trial in range(3):
        fits = [i for i in range(len(policies)) if group[i] == trial and cost[i] <= budget]
        best = min(fits, key=lambda i: (-quality[i], cost[i], i), default=NONE)
        assert found[trial] == best


@given(policies)
def test_more_budget_is_never_worse_on_validation(policies: list[tuple[int, float, float]]) -> None:
    group, cost, quality = (np.array([one[i] for one in policies]) for i in range(3))
    found = Steps(group.astype(np.int64), cost, quality, 3).at(np.tile([0.0, 0.1, 0.3, 1.0], (3, 1)))
    values = np.where(found == NONE, -1.0, quality[np.maximum(found, 0)] if len(policies) else -1.0)
    assert (np.diff(values, axis=1) >= 0).all()


def test_the_table_of_every_budget_has_no_spreadsheet_formula() -> None:
    methods, more = ["majority", "=cmd|A1"], '[comparison]\nfallback = "majority"\nbudgets = [1.0]\n'
    suite = suite_of(["D"], methods, 1, metrics=("accuracy", "cost"), threshold=None, more=more)
    stored = [record_of("D", name, 0, {"accuracy": 0.5, "cost": 1.0}, threshold=None) for name in methods]
    records = tabulate(labelled(stored))
    entry = comparison_of(suite)
    assert entry is not None
    text = render_rows(suite, records, entry, populations(suite, records, entry))
    assert ",'=cmd|A1," in text


@pytest.mark.parametrize("stopping", ["a", "b"])
def test_a_threshold_that_refuses_no_row_leaves_the_task_classification(stopping: str) -> None:
    numbers = {"accuracy": 0.8, "cost": 1.0, "cost-share": 0.5}
    thresholds = {method: {"threshold": 0.9, "reject": False} if method == stopping else {} for method in ("a", "b")}
    found = tabulate(
        labelled(record_of("D", m, 0, numbers, **{"threshold": None, **more}) for m, more in thresholds.items())
    )
    more = "[comparison]\nbudgets = [1.0]\n"
    suite = suite_of(["D"], ["a", "b"], 1, metrics=["accuracy", "cost"], threshold=None, more=more)
    entry = comparison_of(suite)
    assert entry is not None
    assert [population.task for population in populations(suite, found, entry)] == ["classification"]


def test_below_the_cheapest_policy_the_area_counts_the_floor() -> None:
    steps = Steps(np.array([0, 1, 1]), np.array([0.5, 0.25, 0.75]), np.array([0.9, 0.8, 0.9]), 2)
    areas = steps.areas(np.array([0.2, 0.4, 0.8]), floor=1.0)
    # From 0 to 0.5 the floor, then 0.2; from 0 to 0.25 the floor, then 0.4, from 0.75 on 0.8.
    assert areas.tolist() == pytest.approx([0.5 * 1 + 0.5 * 0.2, 0.25 * 1 + 0.5 * 0.4 + 0.25 * 0.8])
