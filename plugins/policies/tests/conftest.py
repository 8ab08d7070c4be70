"""A small table with prices, and policies fitted on it once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from bench_policies import FittedPolicy, Setup, fit_policy

sys.path.insert(0, str(Path(__file__).parents[3] / "tests"))

from support.patients import PRICES, make_table


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    return make_table()


@pytest.fixture(scope="session")
def fitted(table: pd.DataFrame) -> Callable[..., FittedPolicy]:
    """A function that returns the policy of a method at a threshold, and fits each only once."""

    @cache
    def fit(method: str, threshold: float | None = None) -> FittedPolicy:
        return fit_policy(method, table, PRICES, target="outcome", setup=Setup(threshold=threshold), splits=0)

    return fit
