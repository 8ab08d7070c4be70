"""Estimated and actual costs and accuracies of an index's models, computed by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_polydom.by_size import accuracy_largest, accuracy_smallest
from bench_polydom.candidates import Candidates, set_curves
from bench_polydom.estimates import ActualCosts, by_budget
from bench_polydom.greedy import GreedyIndex, grow
from bench_polydom.index import PolyDomIndex
from bench_polydom.methods import Greedy, PolyDom
from bench_polydom.pricing import Measurements, load_measurements
from bench_polydom.units import units_of

from bench_core import DataError, DataUnavailable, Decisions, Outcome, Problem, as_family
from bench_core.testing.problems import make_case

# Two features, t(0, n) = 1 + n and t(1, n) = 5; three models beside the empty set.
PRICES = np.array([[1.0, 1.0], [5.0, 0.0]])
MASKS = np.array([0b00, 0b01, 0b10, 0b11])
ACCURACY = np.array([0.5, 0.6, 0.7, 0.8])
ACTUAL = ActualCosts(
    {
        2.0: np.array([[2.0, 4.0], [3.0, 4.0], [4.0, 10.0]]),  # three items of size 2
        10.0: np.array([[8.0, 4.0], [10.0, 6.0]]),
    }
)


def accuracy(features: tuple[int, ...]) -> float:
    return float(ACCURACY[sum(1 << f for f in features)])


def test_polydom_estimates_costs_at_each_items_own_size() -> None:
    index = PolyDomIndex.build(Candidates(MASKS, ACCURACY, set_curves(MASKS, PRICES)))
    series = by_budget(index, np.array([2.0, 10.0, 10.0, 2.0]), [0.0, 8.0, 16.0], ACTUAL)
    # Size 2: costs 0, 3, 5, 8; size 10: costs 0, 11, 5, 16.
    assert series["estimated_accuracy_smallest"] == [0.5, 0.8, 0.8]
    assert series["estimated_cost_smallest"] == [0.0, 8.0, 8.0]
    np.testing.assert_allclose(series["actual_cost_smallest"], [0.0, 9.0, 9.0])
    np.testing.assert_allclose(series["actual_over_budget_smallest"], [0.0, 1 / 3, 0.0])
    assert series["estimated_accuracy_largest"] == [0.5, 0.7, 0.8]
    assert series["estimated_cost_largest"] == [0.0, 5.0, 16.0]
    assert series["actual_cost_largest"] == [0.0, 5.0, 14.0]
    np.testing.assert_allclose(series["estimated_cost"], [0.0, 6.5, 12.0])
    np.testing.assert_allclose(series["estimated_accuracy"], [0.5, 0.75, 0.8])


def test_greedy_estimates_costs_at_the_size_it_was_built_for() -> None:
    search = grow(accuracy, 2, lambda masks: set_curves(masks, PRICES), 4.0, (0.0,))
    index = GreedyIndex(search, lambda masks: set_curves(masks, PRICES))
    series = by_budget(index, np.array([2.0, 10.0]), [16.0], ACTUAL)
    assert series["estimated_cost_smallest"] == series["estimated_cost_largest"] == [10.0]
    assert series["actual_cost_smallest"] == [9.0]
    assert series["actual_cost_largest"] == [14.0]


def test_without_measured_times_or_sizes_only_estimates_are_there() -> None:
    index = PolyDomIndex.build(Candidates(MASKS, ACCURACY, set_curves(MASKS, PRICES)))
    assert by_budget(index, np.zeros(1), [5.0]) == {"estimated_accuracy": [0.7], "estimated_cost": [5.0]}


def test_an_item_without_a_fitting_model_counts_zero() -> None:
    index = PolyDomIndex.build(Candidates(MASKS[1:], ACCURACY[1:], set_curves(MASKS[1:], PRICES)))
    series = by_budget(index, np.array([2.0]), [1.0], ACTUAL)
    assert set(series) == {"estimated_accuracy", "estimated_cost", "actual_cost", "actual_over_budget"}
    assert all(values == [0.0] for values in series.values())


def measured_for(problem: Problem, least: float = 1.0) -> Measurements:
    parts = (problem.train.sizes, problem.validation.sizes)
    sizes = tuple(np.unique(np.concatenate([part for part in parts if part is not None])).tolist())
    times = {name: [[least, 2 * least] for _ in sizes] for name in problem.feature_names}
    return Measurements("here", sizes, times)


@pytest.mark.parametrize("kind", [PolyDom, Greedy])
def test_measured_times_add_actual_costs_and_do_not_change_decisions(
    kind: type[PolyDom] | type[Greedy], tmp_path: Path
) -> None:
    case = make_case("binary", "item-sizes")
    measured_for(case.problem).save(tmp_path / "times.json")
    plain = kind(budgets=(0.0, 8.0, 60.0), learner="tree", strength=3.0)
    before = as_family(plain.fit(case.problem), "x")
    after = as_family(replace(plain, measured=str(tmp_path / "times.json")).fit(case.problem), "x")
    assert "actual_cost" not in before.history
    actual = list(after.history["actual_cost"])
    # Every feature takes 1 on one item and 2 on the other: the mean is 1.5 for each that is acquired.
    acquired = []
    for policy in after.policies:
        decisions = policy.decide(replace(case.rows, X=case.problem.validation.X, sizes=case.problem.validation.sizes))
        acquired.append(float(decisions.acquired.sum(axis=1).mean()))
    np.testing.assert_allclose(actual, 1.5 * np.array(acquired))
    assert actual[0] == 0.0 < actual[-1]
    for a, b in zip(before.policies, after.policies, strict=True):
        assert (a.decide(case.rows).acquired == b.decide(case.rows).acquired).all()


def test_missing_measurements_are_named() -> None:
    case = make_case("binary", "item-sizes")
    problem = case.problem
    units, sizes = units_of(problem, "groups", 22), problem.validation.sizes
    assert sizes is not None
    measured = measured_for(problem)
    name = problem.feature_names[1]
    some = {key: value for key, value in measured.times.items() if key != name}
    with pytest.raises(DataError, match=f"no measured times of '{name}'"):
        ActualCosts.of(replace(measured, times=some), problem, units, sizes)
    with pytest.raises(DataError, match="no items of size"):
        ActualCosts.of(measured, problem, units, sizes + 0.5)
    uneven = {**measured.times, name: [[1.0] for _ in measured.sizes]}
    with pytest.raises(DataError, match="different numbers of items"):
        ActualCosts.of(replace(measured, times=uneven), problem, units, sizes)
    with pytest.raises(DataUnavailable, match=r"no measurements 'referense'.*reference"):
        load_measurements("referense")


def test_the_shipped_times_of_digits_are_of_the_features_that_are_priced() -> None:
    prices, actual = load_measurements("reference"), load_measurements("mnist")
    assert list(actual.times) == list(prices.times)
    assert set(actual.sizes) <= set(prices.sizes)


def test_accuracy_by_size_groups_items_by_the_price_of_all_features() -> None:
    full = np.array([3.0, 7.0, 3.0, 5.0, 7.0, 7.0])
    shares = np.eye(2)[[0, 0, 0, 1, 1, 0]]
    outcome = Outcome(
        task="binary", y=np.array([0, 1, 1, 1, 1, 0]), decisions=Decisions(np.ones((6, 1), bool), probabilities=shares),
        bill=full, full_bill=full, evaluation_bill=np.zeros(6),
    )  # fmt: skip
    assert accuracy_smallest(outcome) == 0.5
    assert accuracy_largest(outcome) == pytest.approx(2 / 3)
    nobody = replace(
        outcome, y=np.zeros(0, int), decisions=Decisions(np.ones((0, 1), bool), probabilities=np.zeros((0, 2))),
        bill=full[:0], full_bill=full[:0], evaluation_bill=full[:0],
    )  # fmt: skip
    assert accuracy_smallest(nobody) == accuracy_largest(nobody) == 0.0
