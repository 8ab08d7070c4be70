"""Pages: missing results, ties and dominance; the same bytes whatever the order of the records."""

from __future__ import annotations

import csv
import io
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from bench_analysis.analysed import Analysed
from bench_analysis.cells import Cells
from bench_analysis.tables import Grid, grids
from bench_comparison.figures import rankings_of
from bench_comparison.overall import overall
from bench_leaderboard.render.dataset_pages import MOST_ON_A_PAGE
from bench_leaderboard.render.front import render_front
from bench_leaderboard.render.index import describe, read_descriptions, render_results
from bench_leaderboard.render.page import render_page
from bench_leaderboard.render.provenance import plugins_in_judge, provenance
from bench_leaderboard.render.splits import splits_so_far
from bench_leaderboard.render.tables import dominators
from bench_leaderboard.render.timings import render_timings
from bench_records.exports import read_export, write_export
from bench_records.files import write_files
from bench_records.records import Records, tabulate
from bench_records.selection import select
from hypothesis import given, settings
from hypothesis import strategies as st
from support import tiny_plugin
from support.bench import SMALL, Bench
from support.synthetic import METRICS, Values, labelled, record_of, records_of, stored, suite_of

from bench_core.plugins.manager import load_registry
from bench_core.run.record_file import seal, unseal
from bench_core.run.suite import Suite
from bench_core.run.suite_file import suite_of as suite_from

SEEDS = 6


def numbers(cost: float, coverage: float = 0.9, accuracy: float = 0.8, spread: float = 0.01) -> dict[str, list[float]]:
    """A method's numbers by seed, spread evenly about these."""
    steps = [spread * (2 * i / (SEEDS - 1) - 1) for i in range(SEEDS)]
    return {
        "coverage": [coverage + s for s in steps],
        "conclusive-accuracy": [accuracy - s for s in steps],
        "cost": [cost * (1 + s) for s in steps],
        "cost-share": [cost / 100 * (1 + s) for s in steps],
        "combined": [2.0 + s for s in steps],
    }


VALUES: Values = {
    ("D1", "good"): numbers(10.0),
    ("D1", "expensive"): numbers(20.0),
    ("D1", "odd"): numbers(10.1, coverage=0.5, spread=0.05),
    ("D2", "good"): numbers(30.0),
    ("D2", "expensive"): numbers(60.0),
    ("D2", "odd"): numbers(30.0, coverage=0.5),
}
METHODS = ["good", "expensive", "odd"]


def made(values: Values = VALUES, **more: object) -> tuple[Suite, Records]:
    suite = suite_of(sorted({d for d, _ in values}), METHODS, SEEDS, **more)  # type: ignore[arg-type]
    return suite, records_of(values)


def page(suite: Suite, records: Records) -> str:
    return render_page(Analysed(suite, records))


def tables(suite: Suite, records: Records) -> list[Grid]:
    return grids(records, suite, Cells(select(records, suite)))


def section(text: str, heading: str) -> str:
    return text.partition(f"\n{heading}\n")[2].partition("\n## ")[0]


def row(text: str, method: str) -> list[str]:
    rows = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in text.splitlines() if line[:1] == "|"]
    return next(cells for cells in rows if cells[0] == method)


def test_the_best_is_bold_and_means_that_are_not_distinguishable_are_marked() -> None:
    suite, records = made()
    cost = tables(suite, records)[0].marks["cost"]
    assert cost == {"good": "best", "odd": "near"}  # expensive differs by half in every seed
    said = row(section(page(suite, records), "## D1"), "good")
    assert said[3] == "**10.00 ± 0.14**"
    assert row(section(page(suite, records), "## D1"), "odd")[3].endswith(" ≈")


def test_an_interval_stays_in_range_and_undefined_values_are_counted() -> None:
    values: Values = {
        ("D1", "skewed"): {
            "coverage": [0.0, *[0.5] * (SEEDS - 1)],
            "conclusive-accuracy": [0.0, *[1.0, 1.0, 0.9, 1.0, 0.8]],
            "cost": [1.0] * (SEEDS - 1) + [100.0],
            "combined": [2.0] * SEEDS,
        },
        ("D1", "good"): numbers(10.0),
    }
    suite, records = suite_of(["D1"], ["skewed", "good"], SEEDS), records_of(values)
    cells = row(section(page(suite, records), "## D1"), "skewed")
    low, high = (float(end) for end in cells[3].partition("[")[2].rstrip("]≈ ").split(","))
    assert cells[3].startswith("17.50 [")
    assert 0 < low < 17.5 < high
    assert "94.0 [38.6, 99.7] (undefined on 1)" in cells[2]


def test_dominating_methods_are_named() -> None:
    suite, records = made()
    assert tables(suite, records)[0].dominated == {"expensive": ["good"], "odd": ["good"]}
    assert row(section(page(suite, records), "## D1"), "expensive")[-1] == "good"


def test_without_a_threshold_accuracy_and_cost_are_the_objectives() -> None:
    values = {
        ("D", "good"): {"accuracy": [0.9] * 3, "cost": [1.0] * 3},
        ("D", "expensive"): {"accuracy": [0.9] * 3, "cost": [2.0] * 3},
    }
    suite = suite_of(["D"], ["good", "expensive"], 3, metrics=["accuracy", "cost"], threshold=None)
    [grid] = tables(suite, records_of(values, threshold=None))
    assert (grid.objectives, grid.dominated) == (["accuracy", "cost"], {"expensive": ["good"]})


ROWS = st.lists(st.lists(st.integers(0, 60).map(lambda n: n / 64), min_size=4, max_size=4), min_size=2, max_size=5)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(ROWS, st.sampled_from(["random", "given"]))
def test_a_row_marked_near_has_an_interval_that_meets_the_best_rows(
    numbers_by_seed: list[list[float]], split: str
) -> None:
    """≈ is what the paired test with the intervals' variance does not reject, unless it is beyond both margins."""
    methods = [f"m{i}" for i in range(len(numbers_by_seed))]
    values = {("D", m): {"accuracy": row} for m, row in zip(methods, numbers_by_seed, strict=True)}
    suite = suite_of(["D"], methods, 4, metrics=["accuracy"], threshold=None)
    [grid] = tables(suite, records_of(values, threshold=None, split=split))
    means = {row.method: row.means["accuracy"] for row in grid.rows}
    marks = grid.marks["accuracy"]
    best = next((m for m, mark in marks.items() if mark == "best"), None)
    for m in methods if best is not None else ():
        if marks.get(m) == "best":
            assert means[m].value == max(mean.value for mean in means.values())
            continue
        apart = np.array(values["D", best]["accuracy"]) - values["D", m]["accuracy"]
        shared = 1 / 3 if split == "random" else 0.0
        error = (apart.var(ddof=1) * (1 / 4 + shared)) ** 0.5
        limit = 3.182446305 * error  # t(0.975, 3)
        reach = max(means[best].margin, means[m].margin)
        if min(abs(apart.mean() - limit), abs(apart.mean() - reach)) > 1e-9:
            assert (marks.get(m) == "near") == (apart.mean() < min(limit, reach))
        if marks.get(m) == "near":
            assert means[best].value - means[m].value <= means[best].margin + means[m].margin + 1e-12


def test_a_row_names_at_most_four_of_the_undominated_rows_that_dominate_it() -> None:
    dominated = {"worst": ["bad", "a", "b", "c", "d, e", "f"], "bad": ["a", "b", "c", "d|e"]}
    assert dominators(dominated, "worst") == "a; b; c; 2 more"
    assert dominators(dominated, "bad") == "a; b; c; d\\|e"
    assert dominators(dominated, "a") == "–"


def test_a_row_far_from_the_best_is_not_marked_however_many_rows_there_are() -> None:
    """A spread of ten points around 32.5 beside a best of 11.8, ten splits, among sixteen rivals."""
    far = [0.325 + 0.1 * s for s in (-1.4, -1.1, -0.8, -0.5, -0.2, 0.2, 0.5, 0.8, 1.1, 1.4)]
    near = [0.118 + 0.001 * s for s in (1, -1) * 5]
    rows = {"best": near, "far": far} | {f"m{i}": [v + 0.1 for v in near] for i in range(15)}
    suite = suite_of(["D"], list(rows), 10, metrics=["error"], threshold=None)
    records = records_of({("D", m): {"error": row} for m, row in rows.items()}, threshold=None)
    [grid] = tables(suite, records)
    assert grid.marks["error"] == {"best": "best"}


def test_the_list_of_data_sets_gives_the_planned_trials_of_each_unless_all_are_complete() -> None:
    values: Values = {(f"D{i}", "good"): numbers(10.0) for i in range(MOST_ON_A_PAGE + 1)}
    suite = suite_of([name for name, _ in values], ["good"], SEEDS)
    assert row(page(suite, records_of(values)), "[D0](synthetic/d0.md)")[-1] == f"{SEEDS}"
    values["D1", "good"] = {name: each[:-1] for name, each in numbers(10.0).items()}
    text = page(suite, records_of(values))
    assert row(text, "[D0](synthetic/d0.md)")[-1] == f"{SEEDS} of {SEEDS}"
    assert row(text, "[D1](synthetic/d1.md)")[-1] == f"{SEEDS - 1} of {SEEDS}"


def test_a_failed_trial_leaves_a_count_no_ranks_and_its_reason() -> None:
    kept = stored(VALUES)
    broken = record_of("D2", "odd", SEEDS - 1, None, error="the well | ran dry")
    records = tabulate(labelled([*(r for r in kept if r["name"] != broken["name"]), broken]))
    suite, _ = made()
    text = page(suite, records)
    assert f"{SEEDS - 1} of {SEEDS}" in row(section(text, "## D2"), "odd")
    assert "No ranks: the grid has holes" in text
    assert f"odd on D2 ({SEEDS - 1} of {SEEDS})" in text
    across = row(section(text, "## Over all data sets"), "odd")
    assert across[1:5] == ["–", "–", "–", "–"]
    assert "–" not in row(section(text, "## Over all data sets"), "good")[1:5]
    assert "the well \\| ran dry" in section(text, "## Failed trials")
    assert "odd" not in tables(suite, records)[1].compared


def test_unavailable_data_is_left_out_by_name_and_the_rest_is_averaged_and_ranked() -> None:
    suite = suite_of(["D1", "D2", "D3"], METHODS, SEEDS)
    found = overall(tables(suite, records_of(VALUES)), suite, Cells(select(records_of(VALUES), suite)))
    assert found is not None
    assert ([d for d, _ in found.datasets], found.absent, found.refused) == (["D1", "D2"], ["D3"], "")
    assert sorted(found.means) == sorted(METHODS)
    assert found.comparisons
    assert "Without a record, so not here: D3" in page(suite, records_of(VALUES))


def test_rankings_are_by_all_compared_metrics_or_by_those_that_a_figure_names() -> None:
    analysed = Analysed(*made())
    every = rankings_of(analysed)
    assert len(every) > 1
    (named,) = rankings_of(analysed, ["coverage"])
    assert named in every
    assert named.title == analysed.suite.metric("coverage").title


def test_an_incomplete_data_set_is_left_out_if_two_are_complete() -> None:
    suite = suite_of(["D1", "D2", "D3"], METHODS, SEEDS)
    values = {**VALUES, ("D3", "good"): numbers(5.0), ("D3", "odd"): numbers(6.0)}
    records = records_of(values)
    found = overall(tables(suite, records), suite, Cells(select(records, suite)))
    assert found is not None
    assert ([d for d, _ in found.datasets], found.incomplete, found.refused) == (["D1", "D2"], ["D3"], "")


def test_with_few_data_sets_the_page_says_that_power_is_low() -> None:
    text = page(*made())
    assert "**Power is low.** 2 data sets are fewer than 10" in text
    assert "cannot give a p-value below 0.5" in text
    assert "p-values of Wilcoxon" not in text


def test_with_enough_data_sets_pairs_are_tested_without_a_warning_on_power() -> None:
    values = {(f"D{i:02}", m): told for i in range(12) for (d, m), told in VALUES.items() if d == "D1"}
    text = page(*made(values))
    assert "Power is low" not in text
    assert "p-values of Wilcoxon" in text
    assert "p-values of Nemenyi" in text
    assert "Friedman χ² = 24.00" in text  # cost: the same order on twelve data sets: N(k − 1)


def test_raw_cost_is_not_averaged_over_data_sets_its_share_is() -> None:
    suite, records = made()
    found = overall(tables(suite, records), suite, Cells(select(records, suite)))
    assert found is not None
    assert found.metrics == ["coverage", "conclusive-accuracy", "cost-share", "combined"]
    assert found.means["good"]["cost-share"].value == pytest.approx(0.2)
    assert found.comparisons["cost"].ranks.tolist() == [1.25, 3.0, 1.75]


def test_a_method_that_is_not_run_everywhere_is_left_out_by_name() -> None:
    suite = suite_of(
        ["D1", "D2"], ["good", "expensive"], SEEDS, more='[[methods]]\nuse="slopes"\nname="odd"\nonly=["D1"]\n'
    )
    records = records_of({k: v for k, v in VALUES.items() if k != ("D2", "odd")})
    text = section(page(suite, records), "## Over all data sets")
    assert "Not run on every data set, so not here: odd." in text
    assert "| odd " not in text


def test_the_papers_number_stands_beside_ours_also_for_a_method_we_lack() -> None:
    more = "".join(
        f'[[paper]]\ndataset = "D1"\nmethod = "{m}"\nmetric = "coverage"\nvalue = 0.876\n' for m in ("good", "GM*")
    )
    suite, records = made(more=more)
    text = section(page(suite, records), "## D1")
    assert row(text, "good")[1] == "**90.0 ± 1.4** (paper 87.6)"
    assert row(text, "GM\\*")[1] == "– (paper 87.6)"


def test_a_suite_names_the_plugins_whose_code_runs_with_its_judge() -> None:
    plugins = [("tiny", tiny_plugin), ("cost-trees", import_module("bench_cost_trees.plugin"))]
    tables = {
        "suite": {"name": "s"},
        "metrics": ["cost", "test-plus-error-cost@50"],
        "datasets": [{"use": "blobs"}],
        "methods": [{"use": "slopes"}],
    }
    suite = suite_from(tables, "s.toml", load_registry(plugins, entry_points=False))
    assert plugins_in_judge(suite) == {"cost-trees": ["metrics"], "tiny": ["data sets"]}


def test_provenance_is_on_the_page_and_times_are_not() -> None:
    suite, records = made()
    text = page(suite, records)
    said = section(text, "## Provenance")
    for fact in ("bench run suites/synthetic.toml", "a processor", "2026-01-01", "1\\.0 abc", "numpy", "SHA-256"):
        assert fact in said
    for name, brought in plugins_in_judge(suite).items():
        assert f"{name} ({', '.join(brought)})" in said
    blocks = said.split("```")[1::2]
    assert [block.strip().split()[:2] for block in blocks] == [["bench", "run"], ["bench", "verify"]]
    assert not any("bench" in block.strip().removeprefix("bench") for block in blocks)
    assert "0.123" not in text
    assert "0.123 (0.123)" in render_timings(Analysed(suite, records))


def test_the_page_does_not_depend_on_how_the_path_of_the_suite_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, records = made()
    folder = tmp_path / "suites"
    folder.mkdir()
    (folder / "mine.toml").write_text(suite.text)
    paths = {"suites/mine.toml": tmp_path, "mine.toml": folder, "../suites/mine.toml": folder}
    for path, here in {**paths, str(folder / "mine.toml"): folder}.items():
        monkeypatch.chdir(here)
        monkeypatch.setattr(suite, "path", path)
        assert provenance(suite, records, {})["command"] == "bench run suites/mine.toml --out results"
    monkeypatch.setattr(suite, "path", "quickstart")  # a suite that comes with the core
    assert provenance(suite, records, {})["command"] == "bench run quickstart --out results"


@pytest.mark.weekly
@settings(deadline=None, max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_show(random: object) -> None:
    suite, _ = made()
    shuffled = labelled([*stored(VALUES), record_of("D1", "good", 99, None)])
    whole = page(suite, tabulate(shuffled))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    records = tabulate(shuffled)
    assert page(suite, records) == whole
    assert render_timings(Analysed(suite, records)) == render_timings(
        Analysed(suite, tabulate(labelled(stored(VALUES))))
    )
    folder = Path("x")
    assert write_export(records, folder) == write_export(tabulate(sorted(shuffled)), folder)


def test_the_export_gives_the_page_that_its_records_gave(tmp_path: Path) -> None:
    suite, records = made()
    write_files(write_export(records, tmp_path))
    again = read_export(tmp_path)
    assert again is not None
    assert page(suite, again) == page(suite, records)
    assert write_export(again, tmp_path) == write_export(records, tmp_path)
    assert "/somewhere" not in str(records.infos)


def test_the_results_hold_every_method_on_every_data_set_and_the_front_page_every_suite(tmp_path: Path) -> None:
    suite, records = made(title="A | title")
    (tmp_path / "other").mkdir()
    said = unseal(describe(Analysed(suite, records), {}))
    (tmp_path / "other" / "suite.json").write_bytes(seal({**said, "name": "other"}))
    found = read_descriptions(tmp_path, {tmp_path / "synthetic" / "suite.json": seal(said)}, suite.registry)
    assert [one["name"] for one in found] == ["other", "synthetic"]
    rows = list(csv.DictReader(io.StringIO(render_results(found))))
    assert len(rows) == 2 * 2 * len(METHODS) * len(suite.metrics)
    for name in ("synthetic", "other"):
        assert {row["method"] for row in rows if row["suite"] == name and row["dataset"] == "D1"} == set(METHODS)
    assert render_results(found) == render_results(found[::-1])
    assert "[A \\| title](synthetic.md)" in render_front(found, suite.registry)


def test_a_data_set_that_every_method_leaves_out_has_a_section_without_rows() -> None:
    suite = suite_of(["D1", "D2"], ["good"], SEEDS, more='without = ["D2"]')
    said = page(suite, records_of({("D1", "good"): VALUES["D1", "good"]}))
    assert "good" in section(said, "## D1")
    assert "\n## D2\n" in said
    assert "good" not in section(said, "## D2")


def test_a_data_set_on_which_nothing_is_done_is_in_the_results_without_numbers() -> None:
    suite, _ = made()
    records = records_of({key: values for key, values in VALUES.items() if key[0] == "D1"})
    rows = csv.DictReader(io.StringIO(render_results([json.loads(describe(Analysed(suite, records), {}))])))
    idle = [row for row in rows if row["dataset"] == "D2"]
    assert [row["method"] for row in idle] == sorted(METHODS)
    assert {(row["metric"], row["mean"], row["done"]) for row in idle} == {("", "", "0")}


@pytest.mark.weekly
def test_a_run_resumes_from_the_committed_export_and_leaves_the_page_as_it_was(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite)
    before = bench.page()
    assert "0 trial(s) computed, 2 kept" in bench("run", suite, "--store", "fresh").stdout
    assert bench.page() == before
    more = bench.suite(SMALL.replace("seeds = 2", "seeds = 3"))
    assert "1 trial(s) computed, 2 kept" in bench("run", more, "--store", "fresh").stdout
    assert row(bench.page(), "slopes")[-2:] == ["3", "combined"]
    bench("leaderboard", more, "--check", "--store", "fresh")
    bench("leaderboard", more, "--check", "--store", "none-at-all")


@pytest.mark.slow
def test_a_metric_that_the_export_lacks_is_computed_anew(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite)
    (bench.folder / suite).write_text('metrics = ["max-cost"]\n[suite]\nname = "s"\n' + SMALL)
    assert "2 trial(s) computed, 0 kept" in bench("run", suite, "--store", "fresh").stdout
    assert "Dearest row" in bench.page()


@pytest.mark.weekly
def test_an_unavailable_data_set_is_not_needed_if_its_trials_are_committed(bench: Bench) -> None:
    lent = SMALL.replace('use = "blobs"', 'use = "lent"\nname = "X"')
    suite = bench.suite(lent)
    bench("run", suite)
    page_before = bench.page()
    bench("run", suite, "--store", "fresh", TINY_GONE="1")
    assert bench.page() == page_before
    more = bench.suite(lent.replace("seeds = 2", "seeds = 3"))
    assert "out on loan" in bench("run", more, "--store", "fresh", expect=1, TINY_GONE="1").stderr


@pytest.mark.slow
def test_check_names_the_files_that_differ_from_what_the_records_give(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    assert "there is no committed export" in bench("leaderboard", suite, "--check", expect=1).stderr
    bench("run", suite)
    bench("leaderboard", suite, "--check")
    figure = next((bench.folder / "leaderboard" / "s").glob("*.svg"))
    for file in ("s.md", "README.md", "results.csv", "s/timings.md", "s/suite.json", f"s/{figure.name}"):
        path = bench.folder / "leaderboard" / file
        kept = path.read_text()
        path.write_text(kept + " ")
        said = bench("leaderboard", suite, "--check", expect=1).stderr
        assert file in said
        path.write_text(kept)
    bench("leaderboard", suite, "--check")


@pytest.mark.weekly
def test_several_suites_are_checked_at_once(bench: Bench) -> None:
    suites = [bench.suite(SMALL, name) for name in ("s", "t", "u")]
    for suite in suites:
        bench("run", suite)
    bench("leaderboard", *suites, "--check")
    for name in "st":
        page = bench.folder / "leaderboard" / f"{name}.md"
        page.write_text(page.read_text() + "more")
    said = bench("leaderboard", *suites, "--check", expect=1).stderr
    assert [f"{name}.md is not what" in said for name in "stu"] == [True, True, False]
    bench("leaderboard", *suites)
    bench("leaderboard", *suites, "--check")


@pytest.mark.slow
def test_check_fails_when_the_store_holds_other_records(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite)
    [record, *_] = sorted((bench.folder / ".bench-store").glob("??/*.json"))
    said = json.loads(record.read_text())
    said["policies"]["test"]["cost"][0] += 1.0
    del said["checksum"]
    record.write_bytes(seal(said))
    assert "is not what the suite and the store give" in bench("leaderboard", suite, "--check", expect=1).stderr
    bench("leaderboard", suite, "--check", "--store", "none-at-all")


def test_metrics_of_the_tests_are_the_default_ones() -> None:
    assert METRICS == ("coverage", "conclusive-accuracy", "cost", "combined")


def test_a_metric_without_values_has_no_column_and_is_named() -> None:
    shown = "No table has a column for NDCG@5, Combined: no data set here has values of it."
    values: Values = {key: {"cost": found["cost"]} for key, found in VALUES.items()}
    assert shown in page(*made(values, metrics=["ndcg@5", "combined", "cost"]))
    assert "No table has a column" not in page(*made(values, metrics=["cost"]))


def test_data_sets_with_different_numbers_of_splits_give_a_range() -> None:
    rows = [("D1", 3, 3), ("D2", 2, 10), ("D2", 1, 10), ("D3", 0, 5)]
    assert splits_so_far(rows) == "Of the 3 to 10 splits of each data set, 2 to 3 have been run so far."
    assert splits_so_far(rows[:1]) == ""
