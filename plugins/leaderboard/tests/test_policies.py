"""Policies one by one: means over seeds by label, as a table and as a figure."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench_analysis.analysed import Analysed
from bench_analysis.policies import by_policy
from bench_leaderboard.render.extra_tables import extra_sections
from bench_leaderboard.render.page_figures import figure_files, figures_of
from bench_records.records import Records
from support.families import synthetic_records, synthetic_suite

from bench_core.contract.errors import RequestError
from bench_core.run.suite import Suite

PLACE = ("Heart", "uniform")
QUANTITIES = ["validation.cost", "test.cost", "history.spent"]
TABLE = """
[[tables]]
kind = "policies"
title = "Estimated against actual"
methods = ["GM*"]
fields = ["validation.coverage", "history.spent", "test.cost"]
heads = ["Estimated", "Actual", "Cost | g3"]
[[figures]]
kind = "scatter"
x = ["validation.cost"]
y = ["history.spent"]
"""


@pytest.fixture
def records() -> Records:
    """Two seeds of three policies, p0 to p2: the first costs 1, 2, 3 and spends ten times that; the second 3, 4, 5."""
    made = synthetic_records(["Heart"], ["GM*"], seeds=2, sizes=3)
    frame = made.policies
    for seed, start in ((0, 1.0), (1, 3.0)):
        rows = frame["seed"] == seed
        for part in ("validation", "test"):
            frame.loc[rows, f"{part}.cost"] = [start, start + 1, start + 2]
        frame.loc[rows, "validation.coverage"] = 0.5
        (name,) = set(frame.loc[rows, "name"])
        made.infos[name]["history"] = {"spent": [10 * start, 10 * (start + 1), 10 * (start + 2)]}
    return made


def suite(more: str = TABLE) -> Suite:
    return synthetic_suite(["Heart"], ["GM*", "EMSCO"], seeds=2, more=more)


def values(records: Records) -> dict[str, list[float]]:
    return {
        label: [mean.value for mean in means] for label, means in by_policy(records, PLACE, "GM*", QUANTITIES).items()
    }


def test_means_over_seeds_of_every_policy(records: Records) -> None:
    assert values(records) == {"p0": [2.0, 2.0, 20.0], "p1": [3.0, 3.0, 30.0], "p2": [4.0, 4.0, 40.0]}
    assert by_policy(records, PLACE, "nobody", QUANTITIES) == {}
    assert by_policy(records, ("Pima", "uniform"), "GM*", QUANTITIES) == {}


def test_a_policy_is_the_same_in_another_seed_by_its_label_not_its_place(records: Records) -> None:
    frame = records.policies
    frame.loc[frame["seed"] == 1, "label"] = ["p2", "p0", ""]
    assert values(records) == {
        "p0": [2.5, 2.5, 25.0], "p1": [2.0, 2.0, 20.0], "p2": [3.0, 3.0, 30.0], "policy 2": [5.0, 5.0, 50.0],
    }  # fmt: skip


def test_a_series_without_a_number_per_policy_and_failed_trials_are_left_out(records: Records) -> None:
    frame = records.policies
    first, second = frame["name"].unique()
    records.infos[first]["history"] = {"spent": [1.0]}
    assert [means[2].count for means in by_policy(records, PLACE, "GM*", QUANTITIES).values()] == [1, 1, 1]
    records.infos[first]["history"] = {}
    frame.loc[frame["name"] == second, "status"] = "failed"
    found = by_policy(records, PLACE, "GM*", QUANTITIES)
    assert [means[0].value for means in found.values()] == [1.0, 2.0, 3.0]
    assert all(means[2].count == 0 and math.isnan(means[2].value) for means in found.values())


def test_the_table_has_a_row_for_every_policy(records: Records) -> None:
    page = "\n".join(extra_sections(suite(), records))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if "p1" in line]
    assert rows == [["Heart", "GM\\*", "p1", "50.0 ± 0", "30.00 [0.1266, 7109]", "3.000 [0.01266, 710.9]"]]
    assert "Estimated %" in page
    assert "Cost \\| g3" in page


def test_columns_are_called_by_their_quantities_and_shares_can_be_percentages(records: Records) -> None:
    without = TABLE.replace('heads = ["Estimated", "Actual", "Cost | g3"]', "percent = true")
    page = "\n".join(extra_sections(suite(without), records))
    assert "Coverage (validation) %" in page
    assert "spent %" in page
    assert "3000.0 [" in page


def test_the_figure_has_a_mark_for_every_policy_and_says_its_numbers(records: Records) -> None:
    files = {path.name: data for path, data in figure_files(figures_of(Analysed(suite(), records)), Path("f")).items()}
    tree = ElementTree.fromstring(files["scatter-heart.svg"])
    assert "GM* (Cost on validation, spent): 2.00, 20.0; 3.00, 30.0; 4.00, 40.0." in str(tree[1].text)
    texts = {element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Cost on validation", "spent", "GM*"} <= texts
    assert "EMSCO" not in texts


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('fields = ["validation.coverage", "history.spent", "test.cots"]', r"tables\[0\]\.fields: .*cots.*cost"),
        ('fields = ["a", "b", "c"]', r"tables\[0\]\.fields: 'a' must be"),
        ("fields = []", r"heads names every one of fields"),
    ],
)
def test_faults_are_said_with_their_place(wrong: str, said: str) -> None:
    right = 'fields = ["validation.coverage", "history.spent", "test.cost"]'
    with pytest.raises(RequestError, match=said):
        suite(TABLE.replace(right, wrong))


def test_metrics_that_only_such_a_table_shows_are_computed() -> None:
    more = TABLE.replace("validation.coverage", "validation.features")
    assert "features" in suite(more).needed_metrics()
