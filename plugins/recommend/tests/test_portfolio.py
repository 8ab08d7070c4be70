"""The methods that are tried without being named: the open comparison's, in order, within the budget."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from bench_policies.goals import Goal
from bench_recommend.page import fit_command
from bench_recommend.portfolio import entries
from bench_recommend.tradeoff import spread
from hypothesis import given
from hypothesis import strategies as st

from bench_core.suites import load_registry

SUITE = Path(__file__).parents[3] / "suites" / "open.toml"


def test_the_entries_of_the_open_comparison_are_tried_once_each() -> None:
    suite = tomllib.loads(SUITE.read_text(encoding="utf-8"))["methods"]
    found = entries(load_registry(), (), Goal(), 100.0)  # methods of plugins without an entry come after them
    wanted = sorted((one["use"], str(one.get("parameters", {}))) for one in suite)
    assert sorted((one.use, str(dict(one.parameters))) for one in found[: len(wanted)]) == wanted
    assert not {one.use for one in found[len(wanted) :]} & {one["use"] for one in suite}
    assert len({one.name for one in found}) == len(found)


def test_methods_with_budgets_get_the_goals_budget() -> None:
    (found,) = entries(load_registry(), ["affordable-subset"], Goal(budget=20.0), 80.0)
    assert max(found.parameters["budgets"]) == 0.25
    command = fit_command(found.use, "t.csv", {"budget": 20.0}, parameters=found.parameters)
    assert "--method affordable-subset" in command
    assert '--parameters \'{"budgets": [' in command


@given(st.lists(st.floats(0, 100), max_size=8), st.floats(0.1, 20))
def test_names_beside_curves_do_not_overlap_and_keep_their_order(places: list[float], gap: float) -> None:
    moved = spread(sorted(places), gap)
    assert all(b - a >= gap - 1e-6 for a, b in pairwise(moved))
    apart = all(b - a >= gap for a, b in pairwise(sorted(places)))
    if apart:
        assert moved == pytest.approx(sorted(places))
