"""A row that exceeds the cap of its selection rule is shown as such, and never marked, ranked or used by a claim."""

from __future__ import annotations

from typing import Any

import pytest
from bench_analysis.analysed import Analysed
from bench_analysis.cells import Cells
from bench_analysis.tables import Grid, grids
from bench_claims.claims import check_claims
from bench_comparison.overall import overall
from bench_leaderboard.render.page import render_page
from bench_records.records import Records, tabulate
from bench_records.selection import select
from support.bench import Bench
from support.synthetic import labelled, record_of, records_of, suite_of

from bench_core.run.suite import Suite

CAPPED = '[[methods]]\nuse = "slopes"\nname = "capped"\nselect = "accuracy-under@2"\n'
CLAIM = """
[[claims]]
kind = "extreme"
metric = "accuracy"
which = "highest"
method = "capped"
among = ["capped", "plain"]
text = "capped is the most accurate"
source = "nowhere"
standing = "same data"
"""
GOOD = [0.9, 0.91, 0.92]


def suite(datasets: list[str], more: str = "") -> Suite:
    return suite_of(datasets, ["plain", "other"], metrics=("accuracy", "cost"), more=CAPPED + more)


def capped_records(**capped: list[float]) -> Records:
    """The capped method is the most accurate; ``capped``: data set → values of the metric that selects it."""
    values = {}
    for dataset, said in capped.items():
        values[dataset, "plain"] = numbers([0.7, 0.71, 0.72], 1.0)
        values[dataset, "other"] = numbers([0.6, 0.62, 0.61], 1.0)
        values[dataset, "capped"] = {**numbers(GOOD, 0.5), "accuracy-under@2": said}
    return records_of(values)


def numbers(accuracy: list[float], cost: float) -> dict[str, list[float]]:
    sure = {"coverage": [1.0] * 3, "conclusive-accuracy": accuracy, "accuracy-under@2": accuracy}
    return {"accuracy": accuracy, "cost": [cost] * 3, **sure}


WITHIN, OVER, ONCE = [0.9, 0.91, 0.92], [-3.0, -3.0, -3.0], [0.9, -3.0, 0.92]


def cells_of(records: Records, of: Suite) -> Cells:
    return Cells(select(records, of))


def grid_of(records: Records) -> Grid:
    of = suite(["D1"])
    return grids(records, of, cells_of(records, of))[0]


def test_selection_marks_policies_that_exceed_the_cap_of_their_rule() -> None:
    chosen = select(capped_records(D1=ONCE), suite(["D1"]))
    over = chosen.loc[chosen["method"] == "capped", ["seed", "over_budget"]]
    assert dict(over.itertuples(index=False)) == {0: False, 1: True, 2: False}
    assert chosen["over_budget"].dtype == bool
    assert not chosen.loc[chosen["method"] != "capped", "over_budget"].any()


def test_a_policy_within_the_cap_is_selected_if_there_is_one() -> None:
    def family(seed: int, values: list[float]) -> dict[str, Any]:
        record = record_of("D1", "capped", seed, {"accuracy": 0.5, "cost": 1.0, "accuracy-under@2": 0.0})
        policies = record["policies"]
        for part in ("validation", "test"):
            policies[part] = {"accuracy": [0.1, 0.2, 0.3], "cost": [9.0, 5.0, 1.0], "accuracy-under@2": values}
        return {**record, "policies": {**policies, "label": [""] * 3, "details": [{}] * 3, "budget": [None] * 3}}

    pieces = labelled([family(0, [-9.0, 0.2, 0.3]), family(1, [-9.0, -5.0, -6.0])])
    chosen = select(tabulate(pieces), suite(["D1"]))
    assert chosen["policy"].tolist() == [2, 1]
    assert chosen["over_budget"].tolist() == [False, True]


@pytest.mark.parametrize("said", [OVER, ONCE])
def test_a_row_over_budget_takes_no_part_in_marks_and_dominance(said: list[float]) -> None:
    within, over = grid_of(capped_records(D1=WITHIN)), grid_of(capped_records(D1=said))
    assert within.marks["accuracy"]["capped"] == "best"
    assert "plain" in within.dominated
    assert "capped" in within.dominated["plain"]
    assert over.marks["accuracy"] == {"plain": "best"} | {
        name: mark for name, mark in over.marks["accuracy"].items() if name == "other"
    }
    assert "capped" not in over.compared
    assert all("capped" not in by for by in over.dominated.values())
    row = next(row for row in over.rows if row.method == "capped")
    assert row.over_budget == sum(value < 0 for value in said)
    assert row.means["accuracy"].value == pytest.approx(0.91)  # it is still shown


def test_no_ranks_and_no_mean_over_data_sets_for_a_method_that_is_over_budget_on_one() -> None:
    both = ["D1", "D2"]
    for said, ranked in ((WITHIN, True), (ONCE, False)):
        records, of = capped_records(D1=WITHIN, D2=said), suite(both)
        cells = cells_of(records, of)
        found = overall(grids(records, of, cells), of, cells)
        assert found is not None
        assert ("capped" in found.means) == ("capped" in found.comparisons["accuracy"].methods) == ranked
        assert found.over_budget == ([] if ranked else ["capped"])
        assert found.partial == []


def test_no_claim_rests_on_a_row_over_budget() -> None:
    of = suite(["D1"], CLAIM)
    verdicts = {}
    for name, said in (("within", WITHIN), ("over", OVER)):
        records = capped_records(D1=said)
        verdicts[name] = check_claims(of, records, cells_of(records, of))[0]
    assert verdicts["within"].verdict == "holds"
    assert verdicts["over"].verdict == "cannot be told"
    assert "capped is over its cap on 3 of 3 seeds of D1" in verdicts["over"].why


def test_the_page_says_over_budget_and_prints_nothing_bold_there() -> None:
    page = render_page(Analysed(suite(["D1"]), capped_records(D1=ONCE)))
    row = next(line for line in page.splitlines() if line.startswith("| capped"))
    assert "*over budget* on 1 of 3 seeds" in row
    assert "**" not in row
    assert "≈" not in row
    assert "*over budget*" not in render_page(Analysed(suite(["D1"]), capped_records(D1=WITHIN)))


@pytest.mark.slow
def test_a_run_in_which_nothing_is_cheap_enough_says_so(bench: Bench) -> None:
    text = (
        '[protocol]\nseeds = 2\n[[datasets]]\nuse = "blobs"\n'
        'costs = { use = "uniform", parameters = { price_each = 5.0 } }\n'
        '[[methods]]\nuse = "slopes"\nname = "expensive"\nselect = "accuracy-under@4"\n'
        '[[methods]]\nuse = "slopes"\nname = "cheap"\nselect = "accuracy-under@5"\n'
    )
    bench("run", bench.suite(text))
    section = bench.page().partition("## ")[2].partition("\n#")[0]
    rows = {line.split("|")[1].strip(): line for line in section.splitlines() if line.startswith("| ")}
    assert "*over budget*" in rows["expensive"]
    assert "*over budget*" not in rows["cheap"]
