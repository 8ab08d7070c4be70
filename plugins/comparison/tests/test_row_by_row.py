"""Choosing features row by row against the best fixed subset, on all data sets and on groups of them."""

from __future__ import annotations

import numpy as np
import pytest
from bench_comparison.layout import Layout
from bench_comparison.row_by_row import row_by_row
from bench_comparison.scale import Measured

LAYOUT = Layout(methods=(), places={}, seconds={}, algorithms=(), kinds=(), ways=())


def measured(number: int, features: int) -> Measured:
    nothing = np.zeros((0, 3, 1))
    return Measured(
        dataset=f"D{number}", costs="uniform", prices="unit", task="classification", family=f"D{number}",
        metric="accuracy", seeds=(0, 1, 2), quality=nothing, beside=nothing[:, 0], points=0.4, empty=0.5,
        reference=0.9, gain=(0.4, 0.35, 0.45), facts={"features": features, "rows": 500, "classes": 2},
    )  # fmt: skip


def test_a_group_of_data_sets_is_shown_if_it_has_at_least_five() -> None:
    gaps = [0.1, 0.2, 0.3, 0.4, 0.5, -1.0, -2.0]
    cells = [measured(number, 30 if gap < 0 else 10) for number, gap in enumerate(gaps)]
    drawn = [np.full((50, 2, 1), 0.5) + np.array([gap, 0.0])[:, None] for gap in gaps]
    (found,) = row_by_row(cells, drawn, LAYOUT, [0.1])
    assert found["families"] == 7
    assert found["difference"][0] == pytest.approx(np.mean(gaps), rel=1e-4)
    (group,) = found["groups"]
    assert (group["title"], group["families"]) == ("up to 20 features", 5)
    assert group["difference"][0] == pytest.approx(0.3)


@pytest.mark.parametrize("outlier", [0.9, -0.9])
def test_the_data_set_that_changes_the_mean_most_is_named(outlier: float) -> None:
    gaps = np.array([0.1, -0.2, outlier, 0.05, 0.3])
    cells = [measured(number, 10) for number in range(5)]
    drawn = [np.full((50, 2, 1), 0.5) + np.array([gap, 0.0])[:, None] for gap in gaps]
    (found,) = row_by_row(cells, drawn, LAYOUT, [0.1])
    without = {f"D{place}": np.delete(gaps, place).mean() for place in range(5)}
    family = max(without, key=lambda name: abs(without[name] - gaps.mean()))
    assert found["without"] == {"family": family, "difference": pytest.approx(without[family], abs=1e-4)}


def test_without_a_second_data_set_none_is_named() -> None:
    (found,) = row_by_row([measured(0, 10)], [np.full((50, 2, 1), 0.5)], LAYOUT, [0.1])
    assert found["without"] is None
