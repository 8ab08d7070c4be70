"""The open comparison: it is whole, and the documentation says how methods are configured, or why one is left out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from bench_comparison.kinds import OTHER, places_of
from bench_comparison.populations import comparison_of
from support.bench import ROOT

from bench_core.contract.canonical import canonical_json
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.suite import Suite, load_suite


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_registry()


@pytest.fixture(scope="module")
def suite(registry: Registry) -> Suite:
    return load_suite(Path(ROOT, "suites", "open.toml"), registry)


def rows_under(heading: str) -> dict[str, list[str]]:
    """The method in the first cell of every row of the tables under a heading of the page → the row's other cells."""
    page = Path(ROOT, "docs", "explanation", "recommended.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {first.split("`")[1]: [cell.strip() for cell in rest] for first, *rest in rows}


def test_it_compares_on_at_least_twenty_data_sets_with_and_without_the_reject_option(suite: Suite) -> None:
    entries = suite.file.datasets
    assert len({(entry.use, canonical_json(entry.parameters)) for entry in entries}) >= 20
    assert {suite.seed_count(name) for name in suite.dataset_names()} == {3, 10}
    refusing = [entry for entry in entries if entry.threshold is not None]
    assert len(refusing) >= 5
    assert {entry.use for entry in refusing} < {entry.use for entry in entries if entry.threshold is None}


def test_every_method_is_in_it_or_left_out_with_a_reason(suite: Suite, registry: Registry) -> None:
    ours = {name for name in registry.methods if registry.plugin_of("methods", name).distribution}
    entered, left_out = {entry.use for entry in suite.file.methods}, rows_under("Left out")
    assert not entered & left_out.keys()
    assert entered | left_out.keys() == ours
    assert all(len(reason) > 20 for (reason,) in left_out.values())


def test_a_method_has_one_configuration_and_is_tried_on_every_data_set(suite: Suite) -> None:
    assert [entry.label for entry in suite.file.methods if entry.only] == []
    twice = [use for use, count in Counter(entry.use for entry in suite.file.methods).items() if count > 1]
    assert twice == ["forward-selection", "affordable-subset"]


def test_the_page_names_every_parameter_that_is_not_its_default(suite: Suite) -> None:
    told = rows_under("In the comparison")
    assert told.keys() == {entry.use for entry in suite.file.methods}
    for entry in suite.file.methods:
        given = {*entry.parameters, *entry.grid, *(name for on in entry.on.values() for name in on)}
        assert not [name for name in given if f"`{name}`" not in told[entry.use][0]], entry.use


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
