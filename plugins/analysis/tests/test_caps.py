"""Accuracy at a hard budget is that of the policy that validation chooses for it."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pandas as pd
import pytest
from bench_analysis.caps import cap_tables

INFO = {"trial": json.dumps({"split": {"kind": "given"}}), "rows": {}}
COLUMNS = [
    "method", "seed", "policy", "validation.accuracy", "test.accuracy", "validation.cost",
    "validation.accuracy-at-cap@3", "test.accuracy-at-cap@3",
]  # fmt: skip
ROWS = [
    ("asked", 0, 0, 0.9, 0.85, 9.0, 0.6, 0.55),
    ("asked", 0, 1, 0.8, 0.75, 3.0, 0.7, 0.65),
    ("asked", 0, 2, 0.85, 0.05, 4.5, 0.1, 0.05),
    ("asked", 1, 0, 0.9, 0.95, 2.0, 0.7, 0.75),
    ("asked", 1, 1, 0.9, 0.05, 2.0, 0.7, 0.05),
    ("whole", 0, 0, 0.9, 0.85, 9.0, None, None),
]
EMPTY = {"validation": {"accuracy": 0.6, "cost": 0.0}, "test": {"accuracy": 0.5, "cost": 0.0}}


def caps_of(info, drawn_from=None, expected=2):
    frame = pd.DataFrame(ROWS, columns=COLUMNS).assign(dataset="d", costs="unit", status="ok", point=0)
    frame["name"] = frame["method"] + frame["seed"].astype(str)
    identities = {name: {"method": {"use": name[:-1]}} for name in frame["name"]}
    infos = {name: info | {"empty": EMPTY if name == "whole0" else None} for name in frame["name"]}
    records = SimpleNamespace(policies=frame, infos=infos, identities=identities)
    records.once = lambda key, compute: compute(records)
    suite = SimpleNamespace(
        grids=[("d", "unit"), ("free", "unit")], caps_of={"d": (3,), "free": ()}.get,
        methods_on=lambda dataset: ["asked", "whole", "missing"], drawn_from=lambda dataset: drawn_from,
        seed_count=lambda dataset: expected,
    )  # fmt: skip
    (table,) = cap_tables(records, suite)
    return table


def test_validation_chooses_a_policy_for_each_number():
    # Of seed 0, the third policy is more accurate than the second, but its mean price is 1.5 times the cap.
    table = caps_of(INFO)
    assert list(table.rows) == ["asked", "whole"]
    at_cap, at_mean = table.rows["asked"]
    assert (at_cap.value, at_cap.count) == ((0.65 + 0.75) / 2, 2)
    assert (at_mean.value, at_mean.count) == ((0.75 + 0.95) / 2, 2)
    at_cap, at_mean = table.rows["whole"]
    assert at_cap.count == 0
    assert (at_mean.value, at_mean.count) == (0.5, 1)  # its only policy is too dear, the empty policy is not


@pytest.mark.parametrize(("expected", "missing"), [(2, False), (3, True), (5, True)])
def test_two_of_more_splits_give_no_interval(expected, missing):
    at_cap = caps_of(INFO, expected=expected).rows["asked"][0]
    assert at_cap.value == 0.7
    assert math.isnan(at_cap.margin) == missing


def test_samples_of_a_large_table_overlap_less_than_splits_that_use_it_up():
    split = {"kind": "random", "train": 100, "validation": 50, "test": 150}
    info = {"trial": json.dumps({"split": split}), "rows": {"train": 100, "validation": 50, "test": 150}}
    sampled, used_up = (caps_of(info, rows).rows["asked"][0].margin for rows in (15_150, None))
    independent = caps_of(info, "independent").rows["asked"][0].margin
    assert independent < sampled < used_up
    assert sampled / independent == pytest.approx(((1 / 2 + 150 / 15_000) / (1 / 2)) ** 0.5)
