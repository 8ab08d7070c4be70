"""The table over all data sets marks the best mean, and those that a test cannot distinguish from it."""

from __future__ import annotations

from dataclasses import replace

from bench_analysis.analysed import Analysed
from bench_comparison.overall import overall_of
from bench_comparison.render.cross_dataset import overall_sections
from support.synthetic import records_of, suite_of

DATASETS = [f"D{i}" for i in range(6)]


def test_a_method_that_is_worse_on_all_of_six_data_sets_is_not_near_the_best() -> None:
    """Worse on every one of six sets has p = 2/2⁶; worse on three and better on two has a p above 5 %."""
    rows = {"best": 0.9, "worse": 0.8}
    assert marks({method: [value] * 6 for method, value in rows.items()}) == {"best": "best"}
    assert marks({"best": [0.9] * 6, "close": [0.95, 0.93, 0.9, 0.85, 0.84, 0.8]}) == {"best": "best", "close": "near"}


def test_without_a_method_that_is_complete_on_every_data_set_there_is_no_section() -> None:
    suite = suite_of(DATASETS, ["a", "b"], 3, metrics=["accuracy", "cost-share"], threshold=None)
    row = {"accuracy": [0.9] * 3, "cost": [1.0] * 3}
    values = {(dataset, method): row for method in ("a", "b") for dataset in DATASETS}
    found = overall_of(Analysed(suite, records_of(values, threshold=None)))
    assert found is not None
    assert "## Over all data sets" in overall_sections(suite, found)
    assert overall_sections(suite, replace(found, metrics=[], refused="a lacks D0")) == []


def marks(accuracy: dict[str, list[float]]) -> dict[str, str]:
    """The marks of methods, by their accuracy on the data sets; each data set adds a little, so that means differ."""
    values = {
        (dataset, method): {"accuracy": [numbers[i] - i / 100] * 3, "cost": [1.0] * 3}
        for method, numbers in accuracy.items()
        for i, dataset in enumerate(DATASETS)
    }
    suite = suite_of(DATASETS, list(accuracy), 3, metrics=["accuracy", "cost-share"], threshold=None)
    found = overall_of(Analysed(suite, records_of(values, threshold=None)))
    assert found is not None
    return found.marks["accuracy"]
