"""Accuracy at a hard budget is that of the policy that validation chooses for it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pandas as pd
from bench_analysis.caps import cap_tables

INFO = {"trial": json.dumps({"split": {"kind": "given"}}), "rows": {}}
COLUMNS = [
    "method", "seed", "policy", "validation.accuracy", "test.accuracy", "validation.cost",
    "validation.accuracy-at-cap@3", "test.accuracy-at-cap@3",
]  # fmt: skip
ROWS = [
    ("asked", 0, 0, 0.9, 0.85, 9.0, 0.6, 0.55),
    ("asked", 0, 1, 0.8, 0.75, 3.0, 0.7, 0.65),
    ("asked", 1, 0, 0.9, 0.95, 2.0, 0.7, 0.75),
    ("asked", 1, 1, 0.9, 0.05, 2.0, 0.7, 0.05),
    ("whole", 0, 0, 0.9, 0.85, 9.0, None, None),
]


def test_validation_chooses_a_policy_for_each_number():
    frame = pd.DataFrame(ROWS, columns=COLUMNS).assign(dataset="d", costs="unit", status="ok", point=0)
    frame["name"] = frame["method"] + frame["seed"].astype(str)
    records = SimpleNamespace(policies=frame, infos=dict.fromkeys(frame["name"], INFO))
    suite = SimpleNamespace(
        grids=[("d", "unit"), ("free", "unit")], caps_of={"d": (3,), "free": ()}.get,
        methods_on=lambda dataset: ["asked", "whole", "missing"],
    )  # fmt: skip
    (table,) = cap_tables(records, suite)
    assert list(table.rows) == ["asked", "whole"]
    at_cap, at_mean = table.rows["asked"]
    assert (at_cap.value, at_cap.count) == ((0.65 + 0.75) / 2, 2)
    assert (at_mean.value, at_mean.count) == ((0.75 + 0.95) / 2, 2)
    assert [mean.count for mean in table.rows["whole"]] == [0, 0]
