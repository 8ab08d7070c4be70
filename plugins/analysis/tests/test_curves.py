"""Trade-off curves: by hand, against brute force, and the rules their numbers follow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_analysis.curves import LEVELS, Curve, Panel, curves_of, panel_of
from bench_analysis.fronts import hull
from bench_analysis.leading import leading
from bench_analysis.points import cells_of
from bench_analysis.quality import RIGHT_ANSWERS, Quality, cost_shares, default_quality, quality_named
from bench_records.records import Records
from hypothesis import given, settings
from hypothesis import strategies as st
from support.families import METHODS, synthetic_records, synthetic_suite

from bench_core.builtin.metrics import BUILT_IN

METRICS = {metric.name: metric for metric in BUILT_IN}
ERROR = quality_named("error", METRICS)
MSE = quality_named("mse", METRICS)
TRIAL = '{"threshold":null,"split":{"kind":"random","train":0.5,"validation":0.25,"test":0.25}}'
ROWS = {"train": 4, "validation": 4, "test": 2}
UNIT = st.integers(0, 20).map(lambda n: n / 20)
Policy = tuple[float, float, float, float]
"""Validation cost and quality, test cost and quality."""


def records_of(families: dict[str, list[list[Policy]]], metric: str = "accuracy", **info: Any) -> Records:
    """Records of one data set: method → seed → policies."""
    rows = [
        {
            "dataset": "D", "costs": "c", "method": method, "seed": seed, "point": 0,
            "name": f"{method}{seed}", "status": "ok", "policy": p, "details": "{}", "budget": math.nan,
            "validation.cost-share": policy[0], f"validation.{metric}": policy[1],
            "test.cost-share": policy[2], f"test.{metric}": policy[3],
        }
        for method, seeds in families.items()
        for seed, policies in enumerate(seeds)
        for p, policy in enumerate(policies)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    infos = {name: {"trial": TRIAL, "rows": ROWS, "task": "binary", "costs": None, **info} for name in frame["name"]}
    return Records(frame, infos)


def panel(
    records: Records, quality: Quality | str = "accuracy", reference: str | None = None, cost: str = "cost"
) -> Panel:
    (cell,) = cells_of(records).values()
    chosen = quality_named(quality, METRICS) if isinstance(quality, str) else quality
    found = panel_of(records, cell, list(dict.fromkeys(cell["method"])), chosen, cost, reference)
    assert found is not None
    return found


def only(records: Records, quality: Quality | str = "accuracy") -> Curve:
    (curve,) = panel(records, quality).curves
    return curve


def test_a_curve_by_hand() -> None:
    first = [(0.2, 0.6, 0.25, 0.5), (0.4, 0.7, 0.5, 0.8), (0.6, 0.65, 0.6, 0.99)]
    second = [(0.4, 0.9, 0.4, 0.7), (0.8, 0.8, 0.9, 1.0)]
    curve = only(records_of({"m": [first, second]}))
    assert curve.seeds == (0, 1)
    assert curve.policies == 2.5
    assert curve.budgets.tolist() == [0.4]
    assert curve.quality == pytest.approx([0.75])
    assert curve.cost == pytest.approx([0.45])
    assert curve.validation == pytest.approx([0.8])
    assert curve.start.value == pytest.approx(0.3)
    # Seed 0: nothing to 0.2, then 0.5, from 0.4 on 0.8. Seed 1: nothing to 0.4, then 0.7.
    assert curve.area.value == pytest.approx(((0.2 * 0.5 + 0.6 * 0.8) + 0.6 * 0.7) / 2)
    assert curve.full == pytest.approx(0.75)


def test_a_curve_begins_with_the_policy_that_buys_nothing() -> None:
    records = records_of({"m": [[(0.4, 0.7, 0.5, 0.8)], [(0.6, 0.8, 0.6, 0.9)]]})
    nothing = {"accuracy": 0.6, "cost-share": 0.0}
    for seed, info in enumerate(records.infos.values()):
        info["trial"] = TRIAL.replace("{", f'{{"seed":{seed},', 1)
        info["empty"] = {"answer": [0.6, 0.4], "validation": nothing, "test": nothing}
    curve = only(records)
    assert curve.budgets.tolist() == [0.0, 0.4, 0.6]
    assert curve.quality == pytest.approx([0.6, 0.7, 0.85])
    assert curve.cost == pytest.approx([0.0, 0.25, 0.55])
    assert curve.area.value == pytest.approx(((0.4 * 0.6 + 0.6 * 0.8) + (0.6 * 0.6 + 0.4 * 0.9)) / 2)
    # The numbers of the method's own family do not change.
    assert curve.policies == 1
    assert curve.start.value == pytest.approx(0.5)


def test_the_dearer_policy_that_is_no_better_on_validation_is_never_used() -> None:
    family = [(0.1, 0.8, 0.1, 0.6), (0.9, 0.8, 0.9, 1.0), (0.1, 0.8, 0.1, 0.0)]
    curve = only(records_of({"m": [family]}))
    assert curve.quality.tolist() == [0.6]


def test_less_is_better_is_drawn_downwards_and_starts_from_the_worst() -> None:
    family = [(0.25, 0.4, 0.25, 0.5), (0.5, 0.2, 0.5, 0.1), (0.75, 0.3, 0.75, 0.0)]
    curve = only(records_of({"m": [family]}, "error"), ERROR)
    assert curve.quality.tolist() == [0.5, 0.1]
    assert curve.area.value == pytest.approx(0.25 * 1.0 + 0.25 * 0.5 + 0.5 * 0.1)


def test_a_quality_without_a_bound_takes_the_worst_value_of_any_policy() -> None:
    families = {"a": [[(0.5, 2.0, 0.5, 3.0)]], "b": [[(0.25, 9.0, 0.25, 8.0)]]}
    found = panel(records_of(families, "mse"), MSE)
    assert found.floor == 8.0
    assert [curve.area.value for curve in found.curves] == pytest.approx([0.5 * 8 + 0.5 * 3, 8.0])


def test_a_policy_at_the_full_price_has_no_area() -> None:
    curve = only(records_of({"m": [[(1.0, 0.9, 1.0, 0.9)]]}))
    assert curve.area.value == 0.0
    assert curve.reach == dict.fromkeys(LEVELS, 1.0)


def test_cost_to_reach_is_that_of_the_first_step_that_is_good_enough() -> None:
    family = [(0.1, 0.1, 0.11, 0.5), (0.2, 0.2, 0.22, 0.955), (0.3, 0.3, 0.33, 0.9), (0.4, 0.4, 0.44, 0.992)]
    full = [(1.0, 0.9, 1.0, 1.0)]
    records = records_of({"m": [family], "full": [full]})
    curve = panel(records, reference="full").curves[0]
    assert curve.reach[0.95] == 0.22
    assert curve.reach[0.99] == 0.44
    assert math.isnan(curve.reach[1.0])
    # If the suite names no reference, the method that is best at any cost is the reference of every curve.
    unnamed = panel(records)
    assert (unnamed.reference, unnamed.named) == ("full", False)
    assert dict(unnamed.curves[0].reach) == pytest.approx(dict(curve.reach), nan_ok=True)
    alone = panel(records_of({"m": [family]}))
    assert (alone.reference, alone.curves[0].reach[1.0]) == ("m", 0.44)


@pytest.mark.parametrize(("quality", "good", "bad"), [("accuracy", 0.9, 0.8), ("error", 0.1, 0.2)])
def test_the_full_model_is_chosen_by_validation(quality: str, good: float, bad: float) -> None:
    families = {"luckier on test": [[(1.0, bad, 1.0, good)]], "better": [[(1.0, good, 1.0, bad)]]}
    assert panel(records_of(families, quality), quality).reference == "better"


def test_the_reference_counts_only_the_seeds_that_both_have() -> None:
    records = records_of({"m": [[(0.5, 0.5, 0.5, 0.8)]], "full": [[(1.0, 0.9, 1.0, 0.8)], [(1.0, 0.9, 1.0, 0.9)]]})
    assert panel(records, reference="full").curves[0].reach[1.0] == 0.5


@pytest.mark.parametrize(
    ("quality", "full", "target"), [("accuracy", 0.8, 0.76), ("error", 0.2, 0.24), ("mse", 1.9, 2.0)]
)
def test_95_percent_of_a_quality(quality: str, full: float, target: float) -> None:
    assert quality_named(quality, METRICS).target(full, 0.95) == pytest.approx(target)


POLICY = st.tuples(*[st.integers(0, 8).map(lambda n: n / 8)] * 4)
FAMILIES = st.lists(st.lists(POLICY, min_size=1, max_size=8), min_size=1, max_size=4)


@pytest.mark.slow
@given(FAMILIES)
@settings(max_examples=60, deadline=None)
def test_every_budget_buys_the_best_policy_on_validation(seeds: list[list[Policy]]) -> None:
    curve = only(records_of({"m": seeds}))
    assert (np.diff(curve.budgets) > 0).all()
    assert (np.diff(curve.validation) >= -1e-12).all()
    assert curve.budgets[0] == max(min(p[0] for p in policies) for policies in seeds)
    grid = [n / 8 for n in range(9)]
    assert set(curve.budgets) <= set(grid)
    area = 0.0
    for budget in grid:
        chosen_by_seed = [
            min(
                (p for p in policies if p[0] <= budget),
                key=lambda p: (-p[1], p[0], policies.index(p)),
                default=(0.0, 0.0, 0.0, 0.0),
            )
            for policies in seeds
        ]
        means = np.mean(chosen_by_seed, axis=0)
        area += means[3] / 8 if budget < 1 else 0.0
        if budget >= curve.budgets[0]:
            place = int(np.searchsorted(curve.budgets, budget, side="right")) - 1
            assert curve.validation[place] == pytest.approx(means[1])
            assert curve.cost[place] == pytest.approx(means[2])
            assert curve.quality[place] == pytest.approx(means[3])
    assert curve.area.value == pytest.approx(area)
    assert 0.0 <= curve.area.value <= 1.0


@given(FAMILIES, st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_records_does_not_matter(seeds: list[list[Policy]], random: Any) -> None:
    records = records_of({"m": seeds})
    order = list(range(len(records.policies)))
    random.shuffle(order)
    shuffled = Records(records.policies.iloc[order].reset_index(drop=True), records.infos)
    one, other = only(records), only(shuffled)
    assert one.quality.tolist() == other.quality.tolist()
    assert repr((one.area, one.volume)) == repr((other.area, other.volume))


def test_policies_without_a_number_are_left_out() -> None:
    curve = only(records_of({"m": [[(0.1, math.nan, 0.1, 0.9), (0.2, 0.5, 0.2, 0.5)]]}))
    assert curve.budgets.tolist() == [0.2]


def test_prices_give_the_shares_when_the_records_have_none() -> None:
    costs = {"prices": [[2.0], [6.0]], "groups": None, "group_prices": None, "classes": None, "evaluation": 0.0}
    records = records_of({"m": [[(2.0, 0.5, 4.0, 0.5)]]}, costs=costs)
    records.policies.columns = records.policies.columns.str.replace("cost-share", "cost")
    assert only(records).budgets.tolist() == [0.25]
    assert only(records).cost.tolist() == [0.5]
    for info in records.infos.values():
        info["costs"] = {**costs, "prices": [[2.0, 1.0], [6.0, 0.0]]}
    assert np.isnan(cost_shares(records, records.policies, "test", "cost")).all()


def test_another_cost_is_a_share_of_the_largest() -> None:
    records = records_of({"a": [[(10.0, 0.5, 20.0, 0.5)]], "b": [[(40.0, 0.5, 30.0, 0.5)]]})
    records.policies.columns = records.policies.columns.str.replace("cost-share", "mean-base-models")
    curves = panel(records, cost="mean-base-models").curves
    assert [curve.cost.tolist() for curve in curves] == [[0.5], [0.75]]


def test_right_answers_are_coverage_times_accuracy() -> None:
    records = synthetic_records(["Heart"], ["GM*"], seeds=2)
    cell = cells_of(records)["Heart", "uniform"]
    product = cell["test.coverage"] * cell["test.conclusive-accuracy"]
    assert RIGHT_ANSWERS.values(cell, "test").tolist() == product.tolist()
    assert default_quality(synthetic_suite(["Heart"], ["GM*"]), records, cell) is RIGHT_ANSWERS


def test_hypervolume_counts_the_policies_that_are_non_dominated_on_validation() -> None:
    family = [(0.5, 0.9, 0.5, 0.5), (0.75, 0.8, 0.25, 1.0)]  # the second is dominated on validation
    curve = only(records_of({"m": [family]}))
    assert curve.volume is not None
    assert curve.volume.value == pytest.approx(0.5 * 0.5)


def test_a_suite_has_a_panel_per_data_set_and_a_curve_per_method() -> None:
    suite, records = synthetic_suite(seeds=3), synthetic_records(seeds=3)
    panels = curves_of(suite, records, reference="Single-Stage")
    assert [found.dataset for found in panels] == suite.dataset_names()
    for found in panels:
        assert tuple(curve.method for curve in found.curves) == METHODS
        assert found.rejects
        single = found.curves[-1]
        assert single.coverage is None
        assert single.volume is not None
        assert single.volume.value == 0.0
        assert single.reach[1.0] == 1.0


def test_nothing_done_gives_no_curve() -> None:
    suite, records = synthetic_suite(["Heart"], ["GM*"]), synthetic_records(["Heart"], ["GM*"], seeds=1)
    records.policies["status"] = "failed"
    assert curves_of(suite, records) == []
    assert curves_of(suite, Records(pd.DataFrame(), {})) == []


def test_the_band_is_the_corrected_interval_at_every_budget() -> None:
    curve = only(records_of({"m": [[(0.2, 0.6, 0.2, 0.5), (0.5, 0.7, 0.5, q)] for q in (0.6, 0.8, 0.7)]}))
    assert curve.budgets.tolist() == [0.2, 0.5]
    assert curve.margin[0] == 0.0
    # t(0.975, 2) = 4.303, variance 0.01; three splits, and 2 test rows for 8 that are learnt from.
    assert curve.margin[1] == pytest.approx(4.303 * (0.01 * (1 / 3 + 1 / 4)) ** 0.5, rel=1e-3)
    assert np.isnan(only(records_of({"m": [[(0.2, 0.6, 0.2, 0.5)]]})).margin).all()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12))
def test_no_point_lies_above_the_hull(points: list[tuple[int, int]]) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*sorted(dict(points).items()), strict=True))
    corners = hull(x, y)
    assert corners[[0, -1]].tolist() == [0, len(x) - 1]
    assert (np.interp(x, x[corners], y[corners]) >= y - 1e-9).all()
    slopes = np.diff(y[corners]) / np.diff(x[corners])
    assert (np.diff(slopes) < 0).all()


@pytest.mark.parametrize(
    ("most", "kept"), [(1, ["a"]), (2, ["a", "c"]), (3, ["a", "b", "c"]), (9, ["a", "b", "c", "d"])]
)
def test_curves_lead_by_the_length_of_the_budgets_at_which_they_are_best_on_validation(
    most: int, kept: list[str]
) -> None:
    def family(*policies: tuple[float, float]) -> list[list[Policy]]:
        return [[(0.0, 0.5, 0.0, 0.5), *((cost, quality, cost, 1 - quality) for cost, quality in policies)]]

    found = panel(
        records_of({
            "a": family((0.2, 0.8)),  # best from 0.2 to 0.9
            "b": family((0.3, 0.7)),  # never best, with a greater area than d
            "c": family((0.9, 0.9)),  # best from 0.9 to 1
            "d": family(),  # best only where all are equal
        })
    )  # fmt: skip
    assert [curve.method for curve in leading(found, most).curves] == kept


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=4), min_size=2, max_size=5), st.integers(1, 5))
def test_leading_curves_are_those_of_a_fine_grid_of_budgets(
    families: list[list[tuple[float, float]]], most: int
) -> None:
    found = panel(
        records_of({
            f"m{i}": [[(0.0, 0.0, 0.0, 0.0), *((cost, quality, cost, quality) for cost, quality in policies)]]
            for i, policies in enumerate(families)
        })
    )  # fmt: skip
    grid = (np.arange(20) + 0.5) / 20
    values = np.array([[max([0.0, *(q for c, q in policies if c <= b)]) for b in grid] for policies in families])
    best = (values == values.max(axis=0)) & (values != values.max(axis=0)).any(axis=0)
    order = sorted(range(len(families)), key=lambda i: (-best[i].sum(), -round(values[i].sum(), 9), i))
    assert [c.method for c in leading(found, most).curves] == [f"m{i}" for i in sorted(order[:most])]
