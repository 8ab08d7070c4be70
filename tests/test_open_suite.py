"""The open comparison: it is complete, and the documentation says how methods are configured or why one is left out."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from bench_comparison.kinds import OTHER, places_of
from bench_comparison.populations import comparison_of
from support.bench import ROOT

from bench_core import DataContext
from bench_core.contract.canonical import canonical_json
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.suite import Suite
from bench_core.run.suite_file import load_suite


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_registry()


@pytest.fixture(scope="module")
def suite(registry: Registry) -> Suite:
    return load_suite(Path(ROOT, "suites", "open.toml"), registry)


@pytest.fixture(scope="module")
def data(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Task, rows and content hash by data set; from a mirror, if there is one."""
    shared = os.environ.get("BUDGETBENCH_SHARED")
    if not shared:
        pytest.skip("BUDGETBENCH_SHARED is not set: it names a directory with the data")
    context = DataContext(tmp_path_factory.mktemp("cache"), mirror=Path(shared), offline=True)
    sources = {trial.dataset: trial.source for trial in suite.trials(seeds=1, only={"method": ["Majority"]})}
    loaded = {name: source.load(context) for name, source in sources.items()}
    return pd.DataFrame(
        {name: [d.task, d.n_rows, d.content] for name, d in loaded.items()}, ["task", "rows", "content"]
    ).T


def rows_under(heading: str) -> dict[str, list[str]]:
    """The method in the first cell of every row of the tables under a heading of the page → the row's other cells."""
    page = Path(ROOT, "docs", "explanation", "recommended.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {first.split("`")[1]: [cell.strip() for cell in rest] for first, *rest in rows}


@pytest.mark.weekly
def test_it_compares_on_many_data_sets_with_and_without_the_reject_option(suite: Suite, data: pd.DataFrame) -> None:
    counted = data.drop_duplicates("content").groupby("task").size().to_dict()
    families = suite.section("comparison").families.values()
    assert counted["binary"] + counted["multiclass"] >= 50 + sum(len(family) - 1 for family in families)
    assert (counted["regression"] >= 7, counted["ranking"] >= 3) == (True, True)
    refusing = [entry for entry in suite.file.datasets if entry.threshold is not None]
    assert len(refusing) >= 5
    assert {e.use for e in refusing} < {e.use for e in suite.file.datasets if e.threshold is None}


@pytest.mark.weekly
def test_small_sets_have_ten_splits_large_ones_three_and_others_five(suite: Suite, data: pd.DataFrame) -> None:
    rows = data["rows"].to_dict()
    due = {name: 10 if count < 300 else 3 if count > 5000 else 5 for name, count in rows.items()}
    assert {name: suite.seed_count(name) for name in suite.dataset_names()} == due


def test_a_data_set_without_prices_of_its_own_has_unit_prices_and_one_draw(suite: Suite) -> None:
    own = {"turney", "cost-classes", "from-data", "importance-quantiles"}
    for entry in suite.file.datasets:
        used = [costs.use for costs in entry.costs]
        assert used == ["uniform", "random"] or (len(used) == 1 and used[0] in own), entry.label


def test_methods_that_are_not_run_are_on_the_page(suite: Suite) -> None:
    labels = {entry.label: set(entry.without) for entry in suite.file.methods if entry.without}
    page = Path(ROOT, "docs", "explanation", "recommended.md").read_text(encoding="utf-8")
    section = page.partition("\n## Not run\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")][1:]
    assert {name.strip(): set(cell.strip().split("; ")) for name, cell in rows} == labels


def test_every_method_is_in_it_or_left_out_with_a_reason(suite: Suite, registry: Registry) -> None:
    ours = {name for name in registry.methods if registry.plugin_of("methods", name).distribution}
    entered, left_out = {entry.use for entry in suite.file.methods}, rows_under("Left out")
    assert not entered & left_out.keys()
    assert entered | left_out.keys() == ours
    assert all(len(reason) > 20 for (reason,) in left_out.values())


def test_a_method_has_one_configuration(suite: Suite) -> None:
    assert [entry.label for entry in suite.file.methods if entry.only] == []
    twice = [use for use, count in Counter(entry.use for entry in suite.file.methods).items() if count > 1]
    assert twice == ["forward-selection", "affordable-subset"]


def test_the_page_names_every_parameter_that_is_not_its_default(suite: Suite) -> None:
    rows = rows_under("In the comparison")
    assert rows.keys() == {entry.use for entry in suite.file.methods}
    for entry in suite.file.methods:
        given = {*entry.parameters, *entry.grid, *(name for on in entry.on.values() for name in on)}
        assert not [name for name in given if f"`{name}`" not in rows[entry.use][0]], entry.use


def test_the_small_suite_is_an_extract(suite: Suite, registry: Registry) -> None:
    small = load_suite(Path(ROOT, "suites", "open_small.toml"), registry)
    datasets = {(e.label, e.use, e.threshold, canonical_json(e.parameters)) for e in suite.file.datasets}
    assert {(e.label, e.use, e.threshold, canonical_json(e.parameters)) for e in small.file.datasets} < datasets
    methods = {(e.label, e.use, e.exit_threshold) for e in suite.file.methods}
    assert {(e.label, e.use, e.exit_threshold) for e in small.file.methods} < methods


def test_the_comparison_knows_the_kind_of_every_method(suite: Suite) -> None:
    entry = comparison_of(suite)
    assert entry is not None
    assert [name for name, place in places_of(suite, entry).items() if place.kind == OTHER] == []


def test_the_afabench_suite_configures_its_methods_as_the_open_comparison(suite: Suite, registry: Registry) -> None:
    peer = load_suite(Path(ROOT, "suites", "afabench.toml"), registry)
    recommended = {method.label: method for method in suite.file.methods}
    shared = [method for method in peer.file.methods if method.label in recommended]
    assert recommended.keys() <= {method.label for method in peer.file.methods}
    for method in shared:
        ours = recommended[method.label]
        assert (method.use, method.parameters, method.exit_threshold) == (
            ours.use,
            ours.parameters,
            ours.exit_threshold,
        )


def test_recommended_methods_are_tried_in_the_configuration_of_the_open_comparison(suite: Suite) -> None:
    portfolio = json.loads(Path(ROOT, "plugins", "recommend", "bench_recommend", "portfolio.json").read_bytes())
    tried = {entry["name"]: (entry["use"], entry["parameters"]) for entry in portfolio}
    assert tried == {method.label: (method.use, method.parameters) for method in suite.file.methods}
