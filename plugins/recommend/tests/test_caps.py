"""A recommendation compares methods cut at the cap, in this process and in processes of their own."""

from __future__ import annotations

import pandas as pd
import pytest
from bench_policies import Goal
from bench_recommend import recommend
from support.patients import SUM_PRICES as PRICES
from support.patients import make_sum_table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return make_sum_table()


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
