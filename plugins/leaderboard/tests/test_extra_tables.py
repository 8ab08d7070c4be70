"""Tables of diagnostics and of histories: a row for each method that the suite runs, by data set and prices."""

from __future__ import annotations

import pytest
from bench_leaderboard.render.extra_tables import extra_sections
from bench_records.records import Records
from support.families import synthetic_records, synthetic_suite

from bench_core.run.suite import Suite

PRICED_TWICE = """
[[datasets]]
use = "nothing"
name = "Pima"
costs = [{ use = "uniform", name = "unit" }, { use = "uniform", name = "odd" }]
[[methods]]
use = "idle"
name = "CO-T"
only = ["Pima"]
[[tables]]
kind = "diagnostics"
title = "Nodes"
methods = ["GM*", "CO-T"]
fields = ["nodes"]
[[tables]]
kind = "history"
title = "Losses"
methods = ["CO-T", "GM*"]
series = "loss"
at = [0, 2]
"""


@pytest.fixture
def suite() -> Suite:
    return synthetic_suite(["Heart"], ["GM*"], seeds=2, more=PRICED_TWICE)


@pytest.fixture
def records() -> Records:
    """GM* on Heart, and on Pima at both prices: 10, 20, 30 nodes and one more in seed 1; losses halve twice."""
    made = synthetic_records(["Heart", "Pima", "Credit"], ["GM*"], seeds=2, sizes=1)
    frame = made.policies
    frame.loc[frame["dataset"] == "Pima", "costs"] = "unit"
    credit = frame["dataset"] == "Credit"
    frame.loc[credit, "costs"], frame.loc[credit, "dataset"] = "odd", "Pima"
    nodes = {("Heart", "uniform"): 10, ("Pima", "unit"): 20, ("Pima", "odd"): 30}
    for row in frame.itertuples():
        many = nodes[str(row.dataset), str(row.costs)] + int(str(row.seed))
        made.infos[str(row.name)]["diagnostics"] = {"nodes": many}
        made.infos[str(row.name)]["history"] = {"loss": [many, many / 2, many / 4]}
    return made


def rows(suite: Suite, records: Records, title: str) -> list[list[str]]:
    page = "\n".join(extra_sections(suite, records))
    lines = page.split(f"## {title}")[1].split("## ")[0].splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_each_cost_scheme_has_a_row_and_methods_that_are_not_run_have_none(suite: Suite, records: Records) -> None:
    assert rows(suite, records, "Nodes") == [
        ["Heart", "GM\\*", "10.50 (10–11)", "2"],
        ["Pima · unit", "GM\\*", "20.50 (20–21)", "2"],
        ["Pima · unit", "CO-T", "–", "0"],
        ["Pima · odd", "GM\\*", "30.50 (30–31)", "2"],
        ["Pima · odd", "CO-T", "–", "0"],
    ]


def test_a_history_is_shown_at_its_places_for_the_methods_that_are_run(suite: Suite, records: Records) -> None:
    shown = rows(suite, records, "Losses")
    assert [row[:2] for row in shown] == [
        ["Heart", "GM\\*"],
        ["Pima · unit", "CO-T"],
        ["Pima · unit", "GM\\*"],
        ["Pima · odd", "CO-T"],
        ["Pima · odd", "GM\\*"],
    ]
    assert shown[0][2].startswith("10.50")
    assert shown[0][3].startswith("2.625")
    assert shown[1][2:] == ["–", "–"]
    assert shown[4][2].startswith("30.50")
