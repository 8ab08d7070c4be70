"""Preparing a trial: the rows that a cost scheme gets, and the rows that policies get."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from bench_core import Costs, CostScheme, Dataset
from bench_core.builtin.cost_schemes import Uniform
from bench_core.protocol.prepare import prepare
from bench_core.protocol.split import SplitRule


def items(rows: int = 30) -> Dataset:
    """Items whose only feature is their size."""
    sizes = np.arange(1.0, rows + 1)
    return Dataset("items", "regression", sizes[:, None], ("size",), sizes, sizes=sizes)


@dataclass(frozen=True)
class ByRows(CostScheme):
    """Prices every feature at the sum of the row numbers that the scheme gets, plus one."""

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return Costs([float(train.sum()) + 1] * dataset.n_features)


@pytest.mark.parametrize("seed", range(3))
def test_a_cost_scheme_is_given_the_training_rows_and_no_others(seed: int) -> None:
    prepared = prepare(items(), ByRows(), SplitRule(), "raw", seed, 0)
    assert prepared.problem.costs.prices.tolist() == [[float(prepared.split.train.sum()) + 1]]


@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_shown_with_its_own_size(seed: int) -> None:
    prepared = prepare(items(), Uniform(), SplitRule(), "raw", seed, 0)
    for part, own in (("validation", prepared.split.validation), ("test", prepared.split.test)):
        shown = prepared.shown[part]
        assert shown.rows.sizes is not None
        np.testing.assert_array_equal(shown.rows.sizes, shown.rows.X[:, 0])
        np.testing.assert_array_equal(shown.rows.sizes[shown.place], own + 1.0)
