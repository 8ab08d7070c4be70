"""Mean prices, compared with the bills of rows."""

from __future__ import annotations

import numpy as np
import pytest
from bench_models.prices import MeanPrices

from bench_core import Costs
from bench_core.testing import make_problem


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_price_of_a_set_is_the_mean_bill(seed: int, grows: bool) -> None:
    rng = np.random.default_rng(seed)
    degree = 2 if grows else 1
    groups = np.array([-1, 0, 0, 1, 1, 1])
    costs = Costs(rng.uniform(0, 2, (6, degree)), groups, rng.uniform(0, 2, (2, degree)))
    sizes = rng.uniform(1, 9, 20)
    prices = MeanPrices.at(costs, sizes)
    for _ in range(10):
        chosen = rng.random(6) < 0.5
        bill = costs.bill(np.tile(chosen, (20, 1)), sizes).mean()
        assert prices.of_set(np.flatnonzero(chosen).tolist()) == pytest.approx(bill)
    assert prices.full == pytest.approx(costs.bill(np.ones((20, 6), dtype=bool), sizes).mean())
    assert prices.split.sum() == pytest.approx(prices.full)


def test_a_feature_without_a_group_opens_none() -> None:
    prices = MeanPrices.at(Costs(np.ones(3), np.array([-1, 0, 0]), np.array([5.0])), None)
    assert prices.opening.tolist() == [0.0, 5.0, 5.0]
    assert prices.split.tolist() == [1.0, 3.5, 3.5]
    without = MeanPrices.of(make_problem("binary"))
    assert not without.opening.any()
    assert without.split.tolist() == without.own.tolist()
