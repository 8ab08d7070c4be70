"""What ``bench run`` ends with: the page's rows as a table, also when nothing had to be computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_leaderboard.render.results import results_table
from support import tiny_plugin
from support.bench import Bench
from support.publishing import PUBLISHING
from support.sessions import Place

from bench_core import hookimpl
from bench_core.suites import Written, load_registry

SUITE = '[protocol]\nseeds = 2\n[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n'


def test_a_run_ends_with_a_row_for_every_method_and_so_does_one_that_computes_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    first = place.run(SUITE)
    assert first.table is not None
    head, rows = first.table
    assert (head[:2], head[-1]) == (["data set", "method"], "seeds")
    assert [(row[0], row[1], row[-1]) for row in rows] == [("blobs", "slopes", "2")]
    page = (tmp_path / "out" / "s.md").read_text(encoding="utf-8")
    assert f"{rows[0][2]} ±" in page.replace("**", "")
    again = place.run(SUITE)
    assert again.summary.computed == 0
    assert again.table == first.table


def test_the_table_has_only_the_rows_that_the_run_was_asked_for(tmp_path: Path) -> None:
    place = Place(tmp_path)
    suite = SUITE + 'name = "first"\n[[methods]]\nuse = "slopes"\nname = "second"\n'
    place.run(suite)
    report = place.run(suite, only={"method": ["second"]})
    assert report.table is not None
    assert [row[:2] for row in report.table[1]] == [["blobs", "second"]]
    assert "first" in (tmp_path / "out" / "s.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_large_suite_shows_its_first_rows_and_says_how_many_there_are(tmp_path: Path) -> None:
    place = Place(tmp_path)
    names = [f"m{i:02}" for i in range(63)]
    methods = "".join(f'[[methods]]\nuse = "slopes"\nname = "{name}"\n' for name in names)
    place.run(SUITE.replace("seeds = 2", "seeds = 1").partition("[[methods]]")[0] + methods)
    table = results_table(tmp_path / "out" / "s")
    assert table is not None
    assert [row[1] for row in table[1][:-1]] == names[:60]
    assert table[1][-1][0] == "… 3 more"


def test_the_output_of_another_plugin_stands_beside_the_table(tmp_path: Path) -> None:
    said = hookimpl(specname="bench_run_finished")(lambda run: Written("and told", (["only"], [["one"]])))
    mine = type("Mine", (), {"BENCH_CONTRACT_VERSION": 1, "bench_run_finished": staticmethod(said)})()
    registry = load_registry([*PUBLISHING, ("tiny", tiny_plugin), ("mine", mine)], entry_points=False)
    report = Place(tmp_path, registry).run(SUITE)
    assert set(report.written) == {str(tmp_path / "out" / "s.md"), "and told"}
    assert report.table is not None


@pytest.mark.slow
def test_the_table_is_printed_before_the_line_that_names_the_page(bench: Bench) -> None:
    lines = bench("run", bench.suite(SUITE)).stdout.splitlines()
    assert lines[0].split()[:2] == ["data", "set"]
    assert lines[-1].endswith("s.md")
    assert any("slopes" in line for line in lines[1:-1])
