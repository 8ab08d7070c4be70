"""A threshold without the reject option only says when to stop, whichever method's records come first."""

from __future__ import annotations

import pytest
from bench_analysis.cells import Cells
from bench_analysis.points import cells_of, points_of
from bench_analysis.quality import RIGHT_ANSWERS, default_quality
from bench_analysis.tables import grids
from bench_records.records import Records, tabulate
from bench_records.selection import select
from support.synthetic import labelled, record_of, suite_of

NUMBERS = {"accuracy": 0.8, "cost": 1.0, "cost-share": 0.5}
WITH_REFUSALS = {**NUMBERS, "coverage": 0.9, "conclusive-accuracy": 0.8}
orders = pytest.mark.parametrize("methods", [("stops", "other"), ("other", "stops")])


def table(methods: tuple[str, str], numbers: dict[str, float], threshold: float | None) -> Records:
    """Records of a method that only stops at a threshold, and of one that refuses rows below it if it is given."""
    other = record_of("D", "other", 0, numbers, threshold=threshold)
    stops = record_of("D", "stops", 0, numbers, threshold=threshold or 0.9, reject=False)
    # Records are sorted by the method's name, so the names say which is first.
    pieces = labelled([other, stops])
    return tabulate((labels._replace(method=f"{methods.index(labels.method)}"), record) for labels, record in pieces)


@orders
@pytest.mark.parametrize(("threshold", "refuses"), [(None, False), (0.7, True)])
def test_quality_and_objectives_are_those_of_refusals_if_any_method_refuses(
    methods: tuple[str, str], threshold: float | None, refuses: bool
) -> None:
    records = table(methods, WITH_REFUSALS, threshold)
    suite = suite_of(["D"], ["0", "1"], 1, metrics=list(WITH_REFUSALS), threshold=threshold)
    (cell,) = cells_of(records).values()
    found = default_quality(suite, records, cell)
    assert found is not None
    assert (found is RIGHT_ANSWERS) == refuses
    (grid,) = grids(records, suite, Cells(select(records, suite)))
    assert grid.objectives == (["coverage", "conclusive-accuracy", "cost"] if refuses else ["accuracy", "cost"])


@orders
def test_every_row_is_answered_where_the_threshold_only_says_when_to_stop(methods: tuple[str, str]) -> None:
    records = table(methods, NUMBERS, None)
    (cell,) = cells_of(records).values()
    quality = default_quality(suite_of(["D"], ["0", "1"], 1, metrics=list(NUMBERS)), records, cell)
    assert quality is not None
    points = points_of(records, cell, quality)
    assert points["coverage"].tolist() == [1.0, 1.0]
    assert points["accuracy"].tolist() == [0.8, 0.8]
