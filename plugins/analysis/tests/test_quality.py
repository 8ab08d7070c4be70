"""Costs as shares, where records hold no ``cost-share``: worked out by hand from the prices they hold."""

from __future__ import annotations

import numpy as np
import pytest
from bench_analysis.quality import RIGHT_ANSWERS, cost_shares, largest_cost, quality_named
from bench_records.records import Records, tabulate
from support.synthetic import labelled, record_of

from bench_core import Costs
from bench_core.builtin.metrics import BUILT_IN

METRICS = {metric.name: metric for metric in BUILT_IN}


def records_at(costs: Costs, paid: float, **more: float) -> Records:
    record = record_of("D", "A", 0, {"cost": paid, **more})
    record["costs"] = costs.as_plain()
    return tabulate(labelled([record]))


@pytest.mark.parametrize(
    ("costs", "share"),
    [
        (Costs([1.0, 2.0, 5.0]), 0.5),  # of 8
        (Costs([1.0, 2.0, 0.0], groups=np.array([-1, 0, 0]), group_prices=np.array([7.0])), 0.4),  # of 10
        (Costs([0.0, 0.0, 0.0], groups=np.array([0, 1, 1]), group_prices=np.array([12.0, 4.0])), 0.25),
        (Costs([1.0, 1.0], groups=np.array([1, 1]), group_prices=np.array([50.0, 6.0])), 0.5),  # none is in group 0
        (Costs([0.0, 0.0]), 0.0),
    ],
)
def test_the_full_price_is_that_of_all_features_and_of_each_group_once(costs: Costs, share: float) -> None:
    records = records_at(costs, 4.0)
    for part in ("validation", "test"):
        assert cost_shares(records, records.policies, part, "cost").tolist() == [share]


def test_the_share_is_unknown_where_the_full_price_depends_on_the_item() -> None:
    records = records_at(Costs([[1.0, 2.0], [0.0, 1.0]]), 4.0)
    assert np.isnan(cost_shares(records, records.policies, "test", "cost")).all()


def test_a_stored_share_takes_precedence_over_a_computed_one() -> None:
    records = records_at(Costs([8.0]), 4.0, **{"cost-share": 0.125})
    assert cost_shares(records, records.policies, "test", "cost").tolist() == [0.125]


def test_another_cost_is_a_share_of_the_largest_on_either_part() -> None:
    records = records_at(Costs([1.0]), 1.0, **{"mean-base-models": 5.0})
    frame = records.policies.assign(**{"validation.mean-base-models": 20.0})
    assert largest_cost(frame, "mean-base-models") == 20.0
    assert cost_shares(records, frame, "test", "mean-base-models").tolist() == [0.25]
    assert np.isnan(cost_shares(records, frame, "test", "mean-stages")).all()


def test_targets_are_shares_of_the_way_from_the_worst_to_the_full_models_quality() -> None:
    more, less, unbounded = RIGHT_ANSWERS, quality_named("error", METRICS), quality_named("mse", METRICS)
    assert more.target(0.8, 0.95) == pytest.approx(0.76)
    assert less.target(0.2, 0.95) == pytest.approx(0.24)  # 1 − 0.95 · 0.8
    assert unbounded.target(1.9, 0.95) == pytest.approx(2.0)
    values = np.array([0.7, 0.76, 0.8])
    assert more.reaches(values, 0.76).tolist() == [False, True, True]
    assert less.reaches(values, 0.76).tolist() == [True, True, False]
