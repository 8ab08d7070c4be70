"""Grids whose end wins are named from the records, whether the grid is the suite's or the method's own."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from bench_analysis.analysed import Analysed
from bench_analysis.cells import Cells
from bench_analysis.grid_ends import GridEnd, grid_ends_of
from bench_leaderboard.render.page import render_page
from bench_records.records import Labels, Records, tabulate
from bench_records.selection import select
from support.synthetic import record_of, suite_of

from bench_core import RequestError
from bench_core.contract.canonical import canonical_json, sha256_text

SUITE = suite_of(["X"], ["A"], 4, metrics=["cost"])


def pieces_of(
    chosen: list[float], dataset: str = "X", parameter: str = "lambdas", **more: Any
) -> list[tuple[Labels, dict[str, Any]]]:
    """A record per seed whose policy has one of the values of a list parameter of the method."""
    pieces = []
    for seed, value in enumerate(chosen):
        record = record_of(dataset, "A", seed, {"cost": 1.0}, **more)
        identity = json.loads(record["trial"])
        identity["method"]["parameters"] = {parameter: [0.3, 0.0, 0.1, 1.0], "depth": 3, "flags": [True, False, True]}
        record["trial"] = canonical_json(identity)
        record["name"] = sha256_text(record["trial"])
        record["policies"]["details"] = [{parameter.removesuffix("s"): value, "depth": 3}]
        pieces.append((Labels(dataset, "uniform", "A", seed, 0), record))
    return pieces


def records_of(chosen: list[float], **more: Any) -> Records:
    return tabulate(pieces_of(chosen, **more))


def found(chosen: list[float], **more: Any) -> list[GridEnd]:
    records = records_of(chosen, **more)
    return grid_ends_of(records, Cells(select(records, SUITE)))


def test_an_end_that_wins_on_half_of_the_seeds_is_named() -> None:
    assert found([1.0, 1.0, 0.1, 0.3]) == [GridEnd("A", "lambdas", "greatest", ((0.0, 0.1, 0.3, 1.0),), ("X",), of=1)]


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
    assert (one.parameter, one.end) == ("learning_rates", "greatest")


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
    assert (one.parameter, one.grids, one.end) == ("lambdas", ((0.1, 0.5, 0.9, 2.0),), "least")


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
    assert (one.parameter, one.grids, one.end) == ("depth", ((1.0, 2.0, 3.0),), "greatest")


def test_the_page_lists_an_end_with_its_reason_if_it_wins_on_more_than_a_tenth_of_the_data_sets() -> None:
    names = [f"D{i}" for i in range(20)]
    reason = ""
    for end, why in (("least", "0 ignores prices"), ("greatest", "at 1, nothing is bought")):
        reason += f'[[grid_ends]]\nparameter = "slopes"\nend = "{end}"\nmethods = ["A"]\nwhy = "{why}"\n'
    suite = suite_of(names, ["A"], 1, metrics=["cost"], more=reason)

    def row(wins: int) -> str | None:
        values = [1.0] * wins + [0.3] * (len(names) - wins)
        pieces = [pieces_of([value], name, "slopes") for name, value in zip(names, values, strict=True)]
        page = render_page(Analysed(suite, tabulate([piece for one in pieces for piece in one])))
        return next((line for line in page.splitlines() if line.startswith("| A | slopes |")), None)

    assert row(3) == "| A | slopes | 0 to 1, 4 values | 1, the greatest | at 1, nothing is bought | 3 of 20 |"
    assert row(2) is None


def test_a_page_without_such_ends_has_no_table() -> None:
    assert "## Grids whose end wins" in render_page(Analysed(SUITE, records_of([1.0] * 4)))
    assert "## Grids whose end wins" not in render_page(Analysed(SUITE, records_of([0.1] * 4)))


def test_a_reason_for_an_unknown_method_is_refused() -> None:
    more = '[[grid_ends]]\nparameter = "slopes"\nend = "least"\nwhy = "it is"\nmethods = ["B"]'
    with pytest.raises(RequestError, match=re.escape("grid_ends[0].methods: there is no method 'B'")):
        suite_of(["X"], ["A"], 1, metrics=["cost"], more=more)
