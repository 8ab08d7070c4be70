"""A fitted policy, saved once, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bench_core

PRICES = {
    "prices": {"age": 1.0, "smoker": 1.0, "glucose": 8.0, "insulin": 5.0},
    "groups": {"blood": ["glucose", "insulin"]},
    "group_prices": {"blood": 2.0},
}


def make_table(rows: int = 300) -> pd.DataFrame:
    """Two free features, one of them a category, and two values of one blood sample."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["age", "glucose", "insulin"])
    table["smoker"] = rng.choice(["no", "yes"], rows)
    sick = table.age + 2 * table.glucose + (table.smoker == "yes") + 0.3 * rng.normal(size=rows) > 0.5
    return table.assign(outcome=np.where(sick, "sick", "well"))


@pytest.fixture(scope="session")
def patients() -> Callable[..., pd.DataFrame]:
    return make_table


@pytest.fixture(scope="session")
def policy() -> Any:
    return bench_core.fit_policy("cost-ordered", make_table(), PRICES, target="outcome", splits=0)


@pytest.fixture(scope="session")
def saved(policy: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from bench_policies import save_policy

    return save_policy(policy, tmp_path_factory.mktemp("serve") / "policy")
