"""Records as one table: it does not depend on the order in which trials end, and trials may have different metrics."""

from __future__ import annotations

from itertools import permutations

import pandas as pd
import pytest
from bench_records.records import Records, tabulate
from support.synthetic import labelled, record_of

RECORDS = [
    record_of("D", "A", 0, {"cost": 1.0}),
    record_of("D", "A", 1, {"cost": 2.0, "error": 0.25}),
    record_of("D", "B", 0, {"error": 0.5}),
    record_of("D", "B", 1, None),
]


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=lambda order: "".join(map(str, order)))
def test_numbers_stay_with_their_trials_in_any_order_and_with_missing_metrics(order: tuple[int, ...]) -> None:
    found = tabulate(labelled([RECORDS[number] for number in order]))
    frame = found.policies
    assert list(zip(frame["method"], frame["seed"], strict=True)) == [("A", 0), ("A", 1), ("B", 0), ("B", 1)]
    assert list(frame["name"]) == [record["name"] for record in RECORDS]
    assert list(frame["status"]) == ["ok", "ok", "ok", "failed"]
    assert list(frame["policy"]) == [0, 0, 0, -1]
    nan = float("nan")
    for part in ("validation", "test"):
        pd.testing.assert_series_equal(frame[f"{part}.cost"], pd.Series([1.0, 2.0, nan, nan]), check_names=False)
        pd.testing.assert_series_equal(frame[f"{part}.error"], pd.Series([nan, 0.25, 0.5, nan]), check_names=False)


def test_the_order_of_columns_does_not_depend_on_the_order_of_trials() -> None:
    frames = [tabulate(labelled(RECORDS[at:] + RECORDS[:at])).policies for at in range(4)]
    assert len({tuple(frame.columns) for frame in frames}) == 1


def test_done_trials_are_found_by_data_set_costs_and_method_in_the_order_of_seeds() -> None:
    found = tabulate(labelled(reversed(RECORDS)))
    names = [record["name"] for record in RECORDS]
    assert found.trials == {("D", "uniform", "A"): names[:2], ("D", "uniform", "B"): names[2:3]}
    assert found.done == set(names[:3])
    assert found.identities[names[1]]["seed"] == 1


def test_a_record_with_two_labels_has_rows_under_both_and_one_entry_of_information() -> None:
    [(labels, record)] = labelled(RECORDS[:1])
    found: Records = tabulate([(labels, record), (labels._replace(method="other"), record)])
    assert sorted(found.policies["method"]) == ["A", "other"]
    assert list(found.infos) == [record["name"]]


def test_a_traceback_stays_in_the_store() -> None:
    found = tabulate(labelled(RECORDS))
    assert found.infos[RECORDS[3]["name"]]["error"] == {"type": "ValueError", "message": "it broke", "step": "fit"}
