"""The measured quality of a fitted policy equals that of fits on random splits, which are recomputed here."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from bench_policies import fit_policy
from numpy.typing import NDArray
from scipy import stats

from bench_core import Costs, CostScheme, Dataset, SplitRule
from bench_core.execution import prepare
from bench_core.suites import load_registry
from bench_core.testing import make_dataset

ROWS, SPLITS = 160, 4


@dataclass(frozen=True)
class Fixed(CostScheme):
    """Prices of 1, 2, 3 … for the features."""

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        return Costs(1.0 + np.arange(dataset.n_features))


def accuracy(dataset: Dataset, seed: int) -> float:
    """Return the accuracy on the test part of a split, of the only policy that is fitted on its training part."""
    prepared = prepare(dataset, Fixed(), SplitRule(), "onehot", seed, 1)
    [policy] = load_registry().method("single-stage")().fit(prepared.problem)
    decisions = policy.decide(prepared.test.rows())
    return float((decisions.probabilities.argmax(axis=1) == prepared.test.y).mean())


def test_the_interval_is_corrected_for_the_rows_that_splits_share() -> None:
    dataset = make_dataset("binary", rows=ROWS)
    fitted = fit_policy("single-stage", dataset, Fixed(), splits=SPLITS)
    expected = np.array([accuracy(dataset, seed) for seed in range(1, SPLITS + 1)])
    measured = fitted.about["measured"]
    assert expected.std() > 0
    assert measured["quality"] == pytest.approx(expected.mean())
    # A quarter of the rows are test rows, three quarters training or validation rows.
    error = math.sqrt(expected.var(ddof=1) * (1 / SPLITS + 1 / 3))
    assert measured["quality_half"] == pytest.approx(stats.t.ppf(0.975, SPLITS - 1) * error)
