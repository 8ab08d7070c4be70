"""A suite from Python: the numbers of the page as data frames, and figures for notebooks."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from bench_notebook import Results, run

import bench_core
from bench_core import RequestError

SUITE = """
metrics = ["accuracy", "cost"]
[suite]
name = "small"
[protocol]
seeds = 2
[[datasets]]
use = "iris"
name = "Iris"
costs = { use = "table", parameters = { prices = [1.0, 2.0, 3.0, 4.0] } }
[[methods]]
use = "majority"
[[methods]]
use = "stump"
[[methods]]
use = "single-stage"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("notebook")
    path = folder / "small.toml"
    path.write_text(SUITE, encoding="utf-8")
    return run(path, store=folder / "store", out=folder / "out", isolation="none")


@pytest.mark.slow
def test_the_table_has_the_means_of_the_records(results: Results) -> None:
    table, records = results.table(), results.records()
    assert list(table.index) == [("Iris", "majority"), ("Iris", "stump"), ("Iris", "single-stage")]
    all_features = records[records["method"] == "single-stage"]
    assert table.loc[("Iris", "single-stage"), "accuracy"] == pytest.approx(all_features["test.accuracy"].mean())
    assert table.loc[("Iris", "single-stage"), "cost"] == 10.0
    assert table.loc[("Iris", "majority"), "cost"] == 0.0
    assert (table["seeds"] == 2).all()


def test_a_curve_ends_at_the_quality_for_the_price_of_all_features(results: Results) -> None:
    curves = results.curves()
    assert set(curves["method"]) == {"majority", "stump", "single-stage"}
    last = curves[curves["method"] == "single-stage"].iloc[-1]
    assert last["cost"] == 1.0
    assert last["quality"] == pytest.approx(results.table().loc[("Iris", "single-stage"), "accuracy"])


def test_notebooks_display_results_and_figures(results: Results, tmp_path: Path) -> None:
    assert "single-stage" in results._repr_html_()
    drawing = results.plot("Iris")
    assert drawing._repr_svg_().startswith("<?xml")
    drawing.save(tmp_path / "iris.svg")
    assert (tmp_path / "iris.svg").read_bytes() == drawing.svg


def test_the_error_for_an_unknown_data_set_suggests_the_nearest(results: Results) -> None:
    with pytest.raises(RequestError, match="did you mean 'Iris'"):
        results.plot("Irsi")


def test_a_second_run_computes_nothing_and_gives_the_same_results(results: Results) -> None:
    folder = results.session.out.parent
    again = bench_core.run(folder / "small.toml", store=folder / "store", out=folder / "out", isolation="none")
    pd.testing.assert_frame_equal(again.table(), results.table())
    assert not again.failures


def test_the_module_bench_core_run_can_be_called(results: Results) -> None:
    import bench_core.run.suite

    assert bench_core.run.suite.Suite
    folder = results.session.out.parent
    again = bench_core.run(folder / "small.toml", store=folder / "store", out=folder / "out", isolation="none")
    assert len(again.records()) == len(results.records())


def test_an_absent_suite_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there is no suite"):
        run(tmp_path / "absent.toml", store=tmp_path / "store", out=tmp_path / "out", isolation="none")
