"""The front page follows the records: others give other sentences, and unclear ones give "it cannot be told"."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from bench_analysis.analysed import Analysed
from bench_comparison.budget_table import budget_table
from bench_comparison.populations import comparison_of, populations
from bench_comparison.question import answer_once
from bench_comparison.render.answer_page import render_answer
from bench_comparison.render.budgets import render_absolute, render_rows
from bench_comparison.render.front import front_part
from bench_leaderboard.render.front import render_front
from bench_leaderboard.render.index import describe
from bench_records.records import Labels, Records, tabulate
from bench_site.links import as_html
from support.bench import Bench
from support.synthetic import family_of, record_of, suite_of

from bench_core import RequestError
from bench_core.run.suite import Suite

SIX = [f"D{i}" for i in range(6)]
SPLITS = 3
COMPARISON = """
[comparison]
budgets = [0.1, 1.0]
fallback = "majority"
reference = ["slow"]
"""
Families = Mapping[str, Sequence[tuple[float, float]]]
"""Method → its policies' cost and accuracy, alike on both parts and on all splits and data sets."""


def suite(datasets: Sequence[str] = SIX, methods: Sequence[str] = ("majority", "subset", "quick", "slow")) -> Suite:
    return suite_of(
        datasets,
        methods,
        seeds=SPLITS,
        threshold=None,
        metrics=("accuracy", "cost"),
        more=COMPARISON,
        title="All of it",
    )


def records(of: Suite, families: Families | Mapping[str, Families], costs: str = "uniform") -> Records:
    """Records of the same families on every data set, or of other ones by data set (where it is named)."""
    pieces = []
    for dataset in of.dataset_names():
        here: Any = families.get(dataset, families)
        for method, family in here.items():
            for seed in range(SPLITS):
                record = record_of(dataset, method, seed, {"accuracy": 0.0}, threshold=None)
                record["policies"] = family_of([(cost, accuracy + seed / 1000) for cost, accuracy in family])
                pieces.append((Labels(dataset, costs, method, seed, 0), record))
    return tabulate(pieces)


def test_a_method_that_lacks_a_third_of_the_data_sets_is_not_recommended() -> None:
    ordinary = {"majority": [(0.0, 0.5)], "subset": [(0.1, 0.7), (1.0, 0.8)], "slow": [(1.0, 0.9)]}
    of = suite()
    for lacking, recommended in ((2, "subset"), (1, "quick")):
        better = {**ordinary, "quick": [(0.05, 0.85), (1.0, 0.88)]}
        told = {name: ordinary if place < lacking else better for place, name in enumerate(SIX)}
        answer = answer_once(Analysed(of, records(of, told)))
        assert answer is not None
        step = answer["views"][0]["steps"][0]
        assert step["budget"] == 0.1
        assert step["recommended"]["algorithm"] == recommended
        assert {row["name"]: row["families"] for row in step["algorithms"]}["quick"] == 6 - lacking


@pytest.mark.parametrize("others", [0, 5])
def test_a_family_counts_where_a_method_has_all_of_its_data_sets(others: int) -> None:
    names = ["D0", "D1", *(f"E{i}" for i in range(others))]
    of = suite_of(
        names, list(QUICK_WINS), seeds=SPLITS, threshold=None, metrics=("accuracy", "cost"),
        more=COMPARISON + 'families = { F = ["D0", "D1"] }\n',
    )  # fmt: skip
    lacking = {name: family for name, family in QUICK_WINS.items() if name != "quick"}
    answer = answer_once(Analysed(of, records(of, {name: lacking if name == "D1" else QUICK_WINS for name in names})))
    assert answer is not None
    assert answer["views"][0]["families"] == others + 1
    counts = {row["name"]: row["families"] for row in answer["views"][0]["steps"][0]["methods"]}
    assert counts.pop("quick", 0) == others
    assert counts == dict.fromkeys(("majority", "subset", "slow"), others + 1)


def front(of: Suite, found: Records) -> str:
    entry = comparison_of(of)
    assert entry is not None
    described = json.loads(describe(Analysed(of, found), {}))
    # As it is read from the file.
    said = json.loads(json.dumps(answer_once(Analysed(of, found))))
    return render_front([{**described, "losses": said}], of.registry)


def line(page: str, start: str) -> str:
    return next(one for one in page.splitlines() if one.startswith(start))


QUICK_WINS: Families = {
    "majority": [(0.0, 0.5)],
    "subset": [(0.0, 0.5), (0.1, 0.6), (1.0, 0.8)],
    "quick": [(0.05, 0.7), (1.0, 0.75)],
    "slow": [(1.0, 0.9)],
}


@pytest.mark.slow
def test_a_run_that_has_begun_is_reported_from_what_there_is() -> None:
    of = suite()
    some = {d: QUICK_WINS if i < 5 else {"quick": QUICK_WINS["quick"]} for i, d in enumerate(SIX)}
    page = front(of, records(of, some))
    assert "over 5 data sets" in page
    assert "trials have a result so far" in page
    assert "trials have a result so far" not in front(of, records(of, dict.fromkeys(SIX, QUICK_WINS)))


def test_the_front_page_recommends_what_loses_least_and_fits_it() -> None:
    page = front(suite(), records(suite(), QUICK_WINS))
    at_10, at_100 = line(page, "| 10 %"), line(page, "| 100 %")
    # On the scale 0.5 is 0 and 0.9 is 1; all data sets agree.
    assert [cell.strip() for cell in at_10.split("|")][2:5] == ["**quick**", "50 % [50, 50]", "0.0 % [0.0, 0.0]"]
    assert [cell.strip() for cell in at_100.split("|")][2:5] == ["**slow**", "100 % [100, 100]", "0.0 % [0.0, 0.0]"]
    assert "bench fit table.csv --target COLUMN --prices prices.toml --method slopes --budget BUDGET" in page
    assert "This command fits quick (recommended at 10 % of the price) to your own table" in page
    summary = suite().registry.methods.described("slopes")["summary"]
    assert f"It is: {summary} BUDGET is" in page
    assert "(synthetic/answer.svg)" in page


def test_of_the_practically_equal_the_fastest_and_the_simplest_are_named() -> None:
    kinds = 'kinds = { quick = "neural", subset = "fixed subset", slow = "trees" }\n'
    of = suite_of(
        SIX, list(QUICK_WINS), seeds=SPLITS, threshold=None, metrics=("accuracy", "cost"),
        more=COMPARISON + kinds,
    )  # fmt: skip
    found = records(of, {**QUICK_WINS, "quick": [(0.05, 0.906)], "subset": [(0.1, 0.904)], "slow": [(1.0, 0.902)]})
    for (*_, method), names in found.trials.items():
        for name in names:
            found.runs[name]["timings"] = {"fit": 1.0 if method == "slow" else 2.0}
    row = [cell.strip() for cell in line(front(of, found), "| 100 %").split("|")]
    assert row[2] == "**quick**"
    assert row[6] == "slow · subset"


def test_each_kind_of_prices_has_its_own_recommendation() -> None:
    drawn = [f"R{i}" for i in range(5)]
    more = "".join(
        f'[[datasets]]\nuse = "blobs"\nname = "{name}"\ncosts = {{ use = "random", name = "uniform" }}\n'
        for name in drawn
    )
    of = suite_of(
        SIX, list(QUICK_WINS), seeds=SPLITS, threshold=None, metrics=("accuracy", "cost"), more=more + COMPARISON
    )
    subset_wins = {**QUICK_WINS, "subset": [(0.1, 0.8), (1.0, 0.95)], "quick": [(0.05, 0.6)]}
    page = front(of, records(of, dict.fromkeys(drawn, subset_wins) | dict.fromkeys(SIX, QUICK_WINS)))
    assert line(page, "| Budget").split(" | ")[-1] == "Unit prices · drawn prices ⁴ |"
    assert line(page, "| 10 %").split(" | ")[-1] == "quick · subset |"
    assert line(page, "| 100 %").split(" | ")[-1] == "slow · subset |"
    alone = front(suite(), records(suite(), QUICK_WINS))
    assert line(alone, "| 10 %").split(" | ")[-1] == "quick |"


def test_an_algorithm_named_on_the_front_page_is_shown_with_the_data_sets_that_it_lacks() -> None:
    equal = {**QUICK_WINS, "subset": [(0.05, 0.7)]}
    lacking = {name: family for name, family in equal.items() if name != "subset"}
    of = suite()
    page = front(of, records(of, {name: lacking if name == "D0" else equal for name in SIX}))
    assert "Run on fewer than all: subset (5)." in page
    assert "Run on fewer than all" not in front(of, records(of, equal))


def test_with_few_data_sets_nothing_is_recommended() -> None:
    of = suite(SIX[:4])
    page = front(of, records(of, QUICK_WINS))
    assert "fewer than five data sets" in page
    assert "bench fit" not in page


def test_kinds_of_prices_and_tasks_are_compared_separately() -> None:
    more = "".join(
        f'[[datasets]]\nuse = "blobs"\nname = "R{i}"\ncosts = {{ use = "random", name = "drawn 1" }}\n'
        for i in range(5)
    )
    of = suite_of(
        SIX, list(QUICK_WINS), seeds=SPLITS, threshold=None, metrics=("accuracy", "cost"), more=more + COMPARISON
    )
    entry = comparison_of(of)
    assert entry is not None
    unit = records(suite(), QUICK_WINS)
    assert [(p.task, p.prices, len({a.dataset for a in p.answers})) for p in populations(of, unit, entry)] == [
        ("classification", "unit", 6)
    ]
    drawn = records(
        suite_of([f"R{i}" for i in range(5)], ["quick"]), {"quick": [(0.1, 0.9)], "slow": [(0.1, 0.8)]}, "drawn 1"
    )
    found = populations(of, drawn, entry)
    assert [(p.task, p.prices, len({a.dataset for a in p.answers})) for p in found] == [("classification", "drawn", 5)]


def test_the_rows_have_the_status_of_a_method_on_every_data_set() -> None:
    of = suite()
    found, entry = (
        records(of, {d: QUICK_WINS if d != "D5" else {"quick": [(0.2, 0.9)]} for d in SIX}),
        comparison_of(of),
    )
    assert entry is not None
    text = render_rows(of, found, entry, populations(of, found, entry))
    rows = {(r["dataset"], r["method"]): r for r in csv.DictReader(io.StringIO(text))}
    assert rows["D0", "quick"]["status@10"] == "ok"
    assert float(rows["D0", "quick"]["quality@10"]) == pytest.approx(0.701)
    assert float(rows["D0", "slow"]["cost_to_reach@99"]) == 1.0
    assert rows["D0", "slow"]["status@10"] == "no policy"
    assert rows["D0", "slow"]["none@10"] == str(SPLITS)
    assert rows["D5", "slow"]["status@10"] == "not run"
    assert float(rows["D0", "quick"]["fit_seconds"]) == pytest.approx(0.1234)


def test_absolute_budgets_are_answered_in_the_unit_of_the_prices() -> None:
    of = suite_of(
        SIX, list(QUICK_WINS), seeds=SPLITS, threshold=None, more="[comparison]\nabsolute = { D1 = [0.1, 2] }\n"
    )
    entry = comparison_of(of)
    assert entry is not None
    rows = list(csv.DictReader(io.StringIO(render_absolute(of, records(of, QUICK_WINS), entry))))
    assert {row["dataset"] for row in rows} == {"D1"}
    statuses = {(row["method"], row["budget"]): (row["status"], row["cost"]) for row in rows}
    assert statuses["quick", "0.1"] == ("ok", "0.1")
    assert statuses["slow", "0.1"] == ("no policy", "")
    assert statuses["slow", "2"] == ("ok", "2")


def test_the_answer_of_every_trial_is_a_row_of_the_export() -> None:
    table = budget_table(records(suite(), QUICK_WINS), suite())
    assert len(table) == len(SIX) * len(QUICK_WINS) * SPLITS * 2
    mine = table[(table["dataset"] == "D2") & (table["method"] == "subset") & (table["seed"] == 1)]
    assert mine["budget"].tolist() == [0.1, 1.0]
    assert mine["test"].tolist() == pytest.approx([0.601, 0.801])
    assert mine["relative"].tolist() == pytest.approx([0.601 / 0.901, 0.801 / 0.901])
    assert set(mine["reference"]) == {"slow"}
    slow = table[(table["method"] == "slow") & (table["budget"] == 0.1)]
    assert set(slow["status"]) == {"no policy"}


def test_reasons_for_a_missing_number_are_distinguished() -> None:
    of = suite(SIX[:2])
    pieces = [
        (Labels("D0", "uniform", "quick", 0, 0), record_of("D0", "quick", 0, {"accuracy": 0.5, "cost-share": 0.1}))
    ]
    for method, kind in (("slow", "time"), ("subset", "error")):
        record = record_of("D0", method, 0, None)
        record["error"]["kind"] = kind
        pieces.append((Labels("D0", "uniform", method, 0, 0), record))
    entry = comparison_of(of)
    assert entry is not None
    (population,) = populations(of, tabulate(pieces), entry)
    (answers,) = population.answers
    statuses = {name: answers.status(name, 0, tolerance=0.1) for name in ("majority", "slow", "subset", "quick")}
    assert statuses == {"majority": "not run", "slow": "over the limit", "subset": "failed", "quick": "ok"}


def test_trials_that_will_have_no_result_are_not_waited_for() -> None:
    of, pieces = suite(SIX[:2]), []
    for seed in range(SPLITS):
        for name, kind in (("slow", "time"), ("subset", "error")):
            record = record_of("D0", name, seed, None)
            record["error"]["kind"] = kind
            pieces.append((Labels("D0", "uniform", name, seed, 0), record))
        some = records(of, {"quick": QUICK_WINS["quick"], "majority": QUICK_WINS["majority"]})
    known = pd.concat([some.policies, tabulate(pieces).policies], ignore_index=True)
    inapplicable = known["method"].eq("subset") & known["seed"].eq(0)
    known.loc[inapplicable, "status"] = "not applicable"
    page = front(of, replace(some, policies=known, infos={**some.infos, **tabulate(pieces).infos}))
    # Of 24 trials, 12 have a result, and 4 will have none.
    assert "12 of 20 trials have a result so far" in page
    assert "Not counted: 1 are not applicable and 3 are over the limit." in page


def test_a_suite_that_recommends_nothing_is_only_linked_beside_one_that_does() -> None:
    def described(name: str, datasets: Sequence[str]) -> dict[str, Any]:
        analysed = Analysed(of := suite(datasets), records(of, QUICK_WINS))
        return {**json.loads(describe(analysed, {})), "name": name, "losses": answer_once(analysed)}

    few, answering = described("few", SIX[:2]), described("answering", SIX)
    both = front_part([few, answering], 0)
    assert both.lines == front_part([answering], 0).lines
    assert front_part([described("smaller", SIX[:5]), answering], 0).lines == both.lines, (
        "the front page has one answer"
    )
    assert "few/answer.md" in both.links["few"]
    assert "nothing is recommended" in "\n".join(front_part([few], 0).lines)


def test_few_data_sets_have_mean_qualities_without_intervals() -> None:
    for datasets, shown in ((SIX[:3], False), (SIX, True)):
        of = suite(datasets)
        answer = answer_once(Analysed(of, records(of, QUICK_WINS)))
        assert answer is not None
        page = render_answer(of, answer)
        kinds = page.split("### Kinds of methods\n")[1].split("\n## ")[0].split("\n### ")[0]
        table = "\n".join(row for row in kinds.splitlines() if row.startswith("|"))
        assert "%" in table
        assert ("loses" in table, "[" in table) == (shown, shown)
        assert ("### Row by row, or a fixed subset\n" in page) == (shown and bool(answer["views"][0]["dynamic"]))


def test_an_algorithm_that_was_run_on_fewer_than_half_of_the_data_sets_is_named_below_the_table() -> None:
    lacking = {name: family for name, family in QUICK_WINS.items() if name != "quick"}
    for present, named in ((2, True), (3, False)):
        of = suite()
        told = {name: QUICK_WINS if place < present else lacking for place, name in enumerate(SIX)}
        answer = answer_once(Analysed(of, records(of, told)))
        assert answer is not None
        page = render_answer(of, answer)
        assert ("run on fewer than half of the data sets: quick." in page) == named
        assert any(row.startswith("| quick |") for row in page.splitlines()) != named


def test_names_are_escaped_on_these_pages() -> None:
    odd = "<script>alert(1)</script> | `x` ![i](http://e.vil)"
    of = suite_of(
        SIX, ["majority", "subset", odd], seeds=SPLITS, threshold=None, metrics=("accuracy", "cost"),
        more=COMPARISON.replace('["slow"]', '["subset"]'),
    )  # fmt: skip
    families = {"majority": [(0.0, 0.5)], "subset": [(0.1, 0.6)], odd: [(0.1, 0.9)]}
    found = records(of, families)
    answer = answer_once(Analysed(of, found))
    assert answer is not None
    for page in (front(of, found), render_answer(of, answer)):
        html = as_html(page)
        assert "<script" not in html
        assert 'src="http' not in html


TINY = """
[protocol]
seeds = 2

[[datasets]]
use = "blobs"

[[methods]]
use = "slopes"
"""


@pytest.mark.slow
def test_a_run_writes_the_comparison_and_check_compares_it(bench: Bench) -> None:
    made = bench.suite(TINY + '\n[comparison]\nmetrics = ["auc"]\n')
    bench("run", made)
    out = bench.folder / "leaderboard"
    assert "Which method, at which budget?" in (out / "README.md").read_text()
    names = ("losses.json", "answer.md", "scale.json", "budgets.csv")
    kept = {name: (out / "s" / name).read_text() for name in names}
    for name, text in kept.items():
        (out / "s" / name).write_text(text + " ")
    said = bench("leaderboard", made, "--check", expect=1).stderr
    assert [name for name in names if f"{name} is not what" in said] == list(names)
    for name, text in kept.items():
        (out / "s" / name).write_text(text)
    other = bench.suite(TINY, "other")
    bench("run", other)
    assert "Which method, at which budget?" in (out / "README.md").read_text()
    bench("leaderboard", made, other, "--check")
    (out / "s" / "losses.json").write_text("{}")
    assert "losses.json is damaged" in bench("leaderboard", other, expect=2).stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('fallback = "majority"', 'fallback = "majorty"'), "comparison.fallback: there is no method 'majorty'"),
        (('["slow"]', '["slw"]'), "comparison.reference: there is no method 'slw'; did you mean 'slow'"),
        (("[0.1, 1.0]", "[1.0, 0.1]"), "comparison.budgets: must rise"),
        (("[0.1, 1.0]", "[0.1, 2.0]"), "comparison.budgets[1]"),
        (
            ("reference", 'families = { F = ["D0", "D9"] }\nreference'),
            "comparison.families.F: there is no data set 'D9'",
        ),
        (("budgets", "budget"), "comparison.budget: unknown key 'budget'; did you mean 'budgets'"),
        (
            ("reference", 'prices = { fees = ["unifrm"] }\nreference'),
            "comparison.prices.fees: there is no cost scheme 'unifrm'",
        ),
        (("reference", 'metrics = ["aucc"]\nreference'), "metric 'aucc' is unknown; did you mean 'auc'"),
    ],
)
def test_a_wrong_comparison_is_refused_with_one_line(change: tuple[str, str], said: str) -> None:
    with pytest.raises(RequestError) as error:
        suite_of(SIX, list(QUICK_WINS), threshold=None, more=COMPARISON.replace(*change))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
