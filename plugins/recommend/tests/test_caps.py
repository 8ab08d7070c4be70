"""A recommendation compares methods cut at the cap, in this process and in processes of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from bench_policies import Goal
from bench_recommend import recommend

PRICES = {"a": 4, "b": 3, "c": 2, "d": 1}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    return table.assign(y=np.where(table.sum(axis=1) + rng.normal(0, 0.3, 300) > 0, "yes", "no"))


def test_a_recommended_method_stays_below_the_cap(frame: pd.DataFrame) -> None:
    found = recommend(
        frame, PRICES, target="y", goal=Goal(cap=6), methods=("single-stage", "forward-selection"), splits=2,
        isolation="none",
    )  # fmt: skip
    assert found.best == "forward-selection"
    assert found.table.set_index("method").loc["forward-selection", "most"] <= 6
    assert "at most 6 in every row" in found.text


@pytest.mark.slow
def test_methods_are_compared_cut_at_the_cap_also_in_processes_of_their_own(frame: pd.DataFrame) -> None:
    found = {
        isolation: recommend(
            frame, PRICES, target="y", goal=Goal(cap=5), methods=("cost-ordered",), splits=1, isolation=isolation
        ).table.set_index("method")
        for isolation in ("process", "none")
    }
    for name in ("quality", "cost", "most"):
        assert found["process"].loc["cost-ordered", name] == found["none"].loc["cost-ordered", name]
    assert 3 <= found["process"].loc["cost-ordered", "most"] <= 5
