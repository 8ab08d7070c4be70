"""The section on hard budgets has a row for each method; the best mean of a column is bold."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pandas as pd
from bench_leaderboard.render.caps import caps_part

INFO = {"trial": json.dumps({"split": {"kind": "given"}}), "rows": {}, "empty": None}


def analysed(rows: list[tuple[str, float | None, float]], caps: tuple[int, ...] = (3,)) -> Any:
    """One data set, one seed, and a policy for each method: its accuracy at the cap, and without one at cost 3."""
    frame = pd.DataFrame(rows, columns=["method", "test.accuracy-at-cap@3", "test.accuracy"])
    frame = frame.assign(dataset="d", costs="unit", status="ok", point=0, policy=0, seed=0, name=frame["method"])
    for metric in ("accuracy-at-cap@3", "accuracy"):
        frame[f"validation.{metric}"] = frame[f"test.{metric}"]
    frame["validation.cost"] = 3.0
    methods = frame["method"].tolist()
    records = SimpleNamespace(
        policies=frame,
        infos=dict.fromkeys(methods, INFO),
        identities={method: {"method": {"use": method}} for method in methods},
    )
    records.once = lambda key, compute: compute(records)
    suite = SimpleNamespace(
        grids=[("d", "unit")], caps_of=lambda dataset: caps, methods_on=lambda dataset: methods,
        drawn_from=lambda dataset: None, seed_count=lambda dataset: 1, has_several_costs=lambda dataset: False,
    )  # fmt: skip
    return SimpleNamespace(records=records, suite=suite)


def test_the_best_mean_of_a_column_is_bold() -> None:
    part = caps_part(analysed([("asked", 0.6, 0.7), ("second", 0.5, 0.8), ("whole", None, 0.8)]))
    assert part is not None
    assert [line for line in part.lines if line.startswith("### ")] == ["### d under hard budgets"]
    table = next(line for line in part.lines if line.startswith("| method"))
    assert table.splitlines()[2:] == [
        "| asked | **60.0** | 70.0 |",
        "| second | 50.0 | **80.0** |",
        "| whole | – | **80.0** |",
    ]


def test_a_suite_without_caps_has_no_such_section() -> None:
    assert caps_part(analysed([("asked", 0.6, 0.7)], caps=())) is None
