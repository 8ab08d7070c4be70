"""How much better a method looks on the rows that select its policy than on others, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from bench_analysis.analysed import Analysed
from bench_analysis.optimism import optimism_of
from bench_leaderboard.render.page import render_page
from bench_records.records import Records, tabulate
from support.synthetic import labelled, policies_of, record_of, suite_of

SUITE = suite_of(["X", "Y"], ["A", "B"], 2, metrics=["accuracy", "cost"], threshold=None)


def record(dataset: str, method: str, seed: int, policies: list[tuple[float, float]]) -> dict[str, Any]:
    """A record of policies: accuracy on validation, accuracy on test."""
    made = record_of(dataset, method, seed, {"cost": 1.0, "accuracy": 0.0}, threshold=None)
    cost = {"cost": [1.0] * len(policies)}
    validation, test = ({"accuracy": [numbers[part] for numbers in policies], **cost} for part in (0, 1))
    made["policies"] = policies_of(validation, test)
    return made


@pytest.fixture
def records() -> Records:
    return tabulate(
        labelled(
            [
                record("X", "A", 0, [(0.7, 0.9), (0.8, 0.7)]),  # the second is chosen: 0.1
                record("X", "A", 1, [(0.8, 0.8), (0.8, 0.1)]),  # the first of two equals: 0
                record("Y", "A", 0, [(0.5, 0.6)]),  # −0.1
                record("Y", "A", 1, [(0.5, 0.7)]),  # −0.2
                record("X", "B", 0, [(0.9, 0.9)]),
            ]
        )
    )


def test_the_mean_is_over_data_sets_of_the_best_policy_on_validation(records: Records) -> None:
    a, b = optimism_of(Analysed(SUITE, records))
    assert (a.method, a.datasets, a.worst[1]) == ("A", 2, "X")
    assert a.policies == pytest.approx((2 + 1) / 2)
    assert a.worst[0] == pytest.approx(0.05)
    assert a.value == pytest.approx((0.05 - 0.15) / 2)
    assert (b.method, b.datasets, b.value) == ("B", 1, 0.0)


def test_optimism_without_selection_is_the_mean_over_all_policies(records: Records) -> None:
    a, b = optimism_of(Analysed(SUITE, records))
    x = ((-0.2 + 0.1) / 2 + (0.0 + 0.7) / 2) / 2
    y = (-0.1 - 0.2) / 2
    assert a.every == pytest.approx((x + y) / 2)
    assert a.error == pytest.approx(abs(x - y) / 2)  # of two values
    assert b.every == 0.0


def test_the_page_has_a_row_for_each_method(records: Records) -> None:
    section = render_page(Analysed(SUITE, records)).partition("## Validation against test")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line]
    assert ["A", "1.50", "−5.0", "5.0", "X", "2"] in rows
