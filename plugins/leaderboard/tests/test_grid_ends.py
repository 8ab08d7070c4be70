"""Grids whose end wins are named from the records, whether the grid is the suite's or the method's own."""

from __future__ import annotations

import json
from typing import Any

from bench_analysis.analysed import Analysed
from bench_analysis.cells import Cells
from bench_analysis.grid_ends import GridEnd, grid_ends_of
from bench_leaderboard.render.page import render_page
from bench_records.records import Labels, Records, tabulate
from bench_records.selection import select
from support.synthetic import record_of, suite_of

from bench_core.contract.canonical import canonical_json, sha256_text

SUITE = suite_of(["X"], ["A"], 4, metrics=["cost"])


def records_of(chosen: list[float], **more: Any) -> Records:
    """A record per seed whose policy has one of the values of the method's list ``lambdas``."""
    pieces = []
    for seed, value in enumerate(chosen):
        record = record_of("X", "A", seed, {"cost": 1.0}, **more)
        identity = json.loads(record["trial"])
        identity["method"]["parameters"] = {"lambdas": [0.3, 0.0, 0.1, 1.0], "depth": 3, "flags": [True, False, True]}
        record["trial"] = canonical_json(identity)
        record["name"] = sha256_text(record["trial"])
        record["policies"]["details"] = [{"lambda": value, "depth": 3}]
        pieces.append((Labels("X", "uniform", "A", seed, 0), record))
    return tabulate(pieces)


def found(chosen: list[float], **more: Any) -> list[GridEnd]:
    records = records_of(chosen, **more)
    return grid_ends_of(records, Cells(select(records, SUITE)))


def test_an_end_that_wins_on_half_of_the_seeds_is_named() -> None:
    assert found([1.0, 1.0, 0.1, 0.3]) == [
        GridEnd("X", "uniform", "A", "lambdas", (0.0, 0.1, 0.3, 1.0), 1.0, seeds=2, of=4)
    ]


def test_a_value_inside_the_grid_or_an_end_on_few_seeds_is_not_named() -> None:
    assert found([1.0, 0.3, 0.1, 0.3]) == []


def test_zero_is_a_natural_end() -> None:
    assert found([0.0, 0.0, 0.0, 0.0]) == []


def test_what_the_fit_chose_is_read_from_its_diagnostics() -> None:
    records = records_of([0.1] * 4, diagnostics={"learning_rate": 0.1})
    for info in records.infos.values():
        identity = json.loads(info["trial"])
        identity["method"]["parameters"] = {"learning_rates": [0.02, 0.05, 0.1]}
        info["trial"] = canonical_json(identity)
    [one] = grid_ends_of(records, Cells(select(records, SUITE)))
    assert (one.parameter, one.end, one.seeds) == ("learning_rates", 0.1, 4)


def test_an_automatic_grid_is_read_from_the_diagnostics_of_each_fit() -> None:
    """Each seed has a grid of its own; the selected value is its least on two of three."""
    pieces = []
    for seed, value in enumerate([0.1, 0.2, 0.9]):
        diagnostics = {"lambdas": [0.1 * (seed + 1), 0.5, 0.9, 2.0], "constant": [1, 1, 1]}
        record = record_of("X", "A", seed, {"cost": 1.0}, diagnostics=diagnostics)
        record["policies"]["details"] = [{"lambda": value}]
        pieces.append((Labels("X", "uniform", "A", seed, 0), record))
    records = tabulate(pieces)
    [one] = grid_ends_of(records, Cells(select(records, SUITE)))
    assert (one.parameter, one.grid, one.end, one.seeds) == ("lambdas", (0.1, 0.5, 0.9, 2.0), 0.1, 2)


def test_points_of_the_suites_grid_are_a_grid_too() -> None:
    pieces = []
    for seed in range(2):
        for point, depth in enumerate((1, 2, 3)):
            record = record_of("X", "A", seed, {"cost": float(4 - depth), "coverage": 1.0})
            identity = json.loads(record["trial"])
            identity["method"]["parameters"] = {"depth": depth}
            record["trial"] = canonical_json(identity)
            record["name"] = sha256_text(record["trial"])
            pieces.append((Labels("X", "uniform", "A", seed, point), record))
    suite = suite_of(["X"], [], 2, metrics=["cost"], more='[[methods]]\nuse = "slopes"\nname = "A"\nselect = "cost"\n')
    records = tabulate(pieces)
    [one] = grid_ends_of(records, Cells(select(records, suite)))
    assert (one.parameter, one.grid, one.end, one.seeds) == ("depth", (1.0, 2.0, 3.0), 3.0, 2)


def test_the_page_lists_them() -> None:
    page = render_page(Analysed(SUITE, records_of([1.0] * 4)))
    assert "## Grids whose end wins" in page
    assert "1, the greatest" in page
    assert "## Grids whose end wins" not in render_page(Analysed(SUITE, records_of([0.1] * 4)))
