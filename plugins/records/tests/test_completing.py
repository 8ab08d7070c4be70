"""Every family is completed with the empty policy, from its own record or from another record of the same rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench_records.completing import EMPTY, complete
from bench_records.records import Records, tabulate
from support.synthetic import labelled, record_of

from bench_core.contract.canonical import canonical_json, sha256_text


def holding(method: str, seed: int, empty: float | None, **more: Any) -> dict[str, Any]:
    """A record of a policy with accuracy 0.9 at cost 3, and of an empty policy if its accuracy is given."""
    record = record_of("D", method, seed, {"accuracy": 0.9, "cost": 3.0}, **more)
    part = {"accuracy": empty, "cost": 0.0}
    return record if empty is None else {**record, "empty": {"answer": [0.4, 0.6], "validation": part, "test": part}}


def added(records: Records) -> dict[tuple[str, int], float]:
    frame = complete(records)
    assert (frame.loc[frame[EMPTY], "test.cost"] == 0).all()
    rows = frame.loc[frame[EMPTY], ["method", "seed", "test.accuracy"]]
    return {(method, seed): accuracy for method, seed, accuracy in rows.itertuples(index=False)}


def test_a_missing_empty_policy_is_taken_from_another_record_of_the_same_rows() -> None:
    records = tabulate(labelled([holding("new", 0, 0.6), holding("old", 0, None), holding("old", 1, None)]))
    assert added(records) == {("new", 0): 0.6, ("old", 0): 0.6}


@pytest.mark.parametrize("other", [{"split": "given"}, {"threshold": 0.8}])
def test_an_empty_policy_is_not_taken_from_another_split_or_threshold(other: dict[str, Any]) -> None:
    records = tabulate(labelled([holding("new", 0, 0.6, **other), holding("old", 0, None)]))
    assert added(records) == {("new", 0): 0.6}


def test_a_threshold_that_refuses_no_row_does_not_matter() -> None:
    stops = holding("stops", 0, None, threshold=0.9)
    identity = {**json.loads(stops["trial"]), "reject": False}
    text = canonical_json(identity)
    stops = {**stops, "trial": text, "name": sha256_text(text)}
    records = tabulate(labelled([holding("new", 0, 0.6, threshold=None), stops]))
    assert added(records) == {("new", 0): 0.6, ("stops", 0): 0.6}


def test_a_family_of_several_grid_points_is_completed_once_and_last() -> None:
    [(labels, first)] = labelled([holding("m", 0, 0.6)])
    second = holding("m", 0, 0.6, version=2)
    frame = complete(tabulate([(labels, first), (labels._replace(point=1), second)]))
    assert frame[EMPTY].tolist() == [False, False, True]
    assert frame[["point", "policy"]].iloc[-1].tolist() == [1, 1]


def test_a_failed_trial_is_not_completed() -> None:
    records = tabulate(labelled([holding("m", 0, 0.6), record_of("D", "broken", 0, None)]))
    assert added(records) == {("m", 0): 0.6}


def test_a_record_keeps_its_own_metrics_and_lacks_none_that_another_has() -> None:
    """The first record has a metric at a cap and no area; the second has an area and another accuracy."""
    first, second = holding("first", 0, 0.6), holding("second", 0, 0.6)
    added_metrics = {"first": {"accuracy-at-cap@3": 0.6, "auc": None}, "second": {"auc": 0.5, "mean-features": 0.0}}
    pieces = []
    for record, method in ((first, "first"), (second, "second")):
        metrics = added_metrics[method]
        table = record["policies"]
        parts = {part: {**table[part], **{metric: [0.9] for metric in metrics}} for part in ("validation", "test")}
        empty = {part: {**record["empty"][part], **metrics} for part in ("validation", "test")}
        empty["test"] |= {"accuracy": {"first": 0.6, "second": 0.7}[method]}
        pieces.append({**record, "policies": {**table, **parts}, "empty": {"answer": [0.4, 0.6], **empty}})
    frame = complete(tabulate(labelled(pieces)))
    rows = frame[frame[EMPTY]].set_index("method")
    assert rows["test.accuracy"].to_dict() == {"first": 0.6, "second": 0.7}
    for metric, value in (("accuracy-at-cap@3", 0.6), ("auc", 0.5), ("mean-features", 0.0)):
        assert rows[f"test.{metric}"].tolist() == rows[f"validation.{metric}"].tolist() == [value, value]
