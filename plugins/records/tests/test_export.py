"""``bench export``: one table for analysis with other programs, the same in every format."""

from __future__ import annotations

import csv
import io
import json
import math

import pandas as pd
import pytest
from bench_leaderboard.render.index import render_results
from bench_records.records import tabulate
from bench_records.spreadsheet import csv_text
from bench_records.tables import FORMATS, export_table, exported
from support.bench import SMALL, Bench
from support.synthetic import labelled, record_of, suite_of

EXPORTED = (
    SMALL.replace('use = "blobs"', 'use = "blobs"\nname = "a, \\"b\\" | c"')
    + 'grid = { noise = [0.0, 0.5] }\n\n[[methods]]\nuse = "fails"\n'
)


@pytest.mark.slow
def test_there_is_a_row_per_trial_policy_and_part_and_one_is_selected(bench: Bench) -> None:
    suite = bench.suite(EXPORTED)
    bench("run", suite, expect=1)
    bench("export", suite, "--output", "out/table.csv")
    found = pd.read_csv(bench.folder / "out" / "table.csv")
    done = found[found["status"] == "ok"]
    assert len(done) == 2 * 2 * 3 * 2  # seeds × grid points × slopes × parts
    assert set(found["dataset"]) == {'a, "b" | c'}
    assert done.groupby(["seed", "part"])["selected"].sum().tolist() == [1, 1, 1, 1]
    assert done["cost"].notna().all()
    failed = found[found["status"] == "failed"]
    assert len(failed) == 2
    assert failed["failure"].str.contains("no reason").all()
    assert failed["part"].isna().all()
    assert {json.loads(p)["noise"] for p in done["parameters"]} == {0.0, 0.5}


@pytest.mark.slow
def test_all_formats_hold_the_same_numbers(bench: Bench) -> None:
    suite = bench.suite(EXPORTED)
    bench("run", suite, expect=1)
    for form in FORMATS:
        bench("export", suite, "--format", form, "--output", f"t.{form}")
    parquet = pd.read_parquet(bench.folder / "t.parquet")
    csv = pd.read_csv(bench.folder / "t.csv")
    rows = json.loads((bench.folder / "t.json").read_text(encoding="utf-8"))
    assert len(parquet) == len(csv) == len(rows)
    for column in ("cost", "coverage", "error", "seed"):
        told = [math.nan if row[column] is None else row[column] for row in rows]
        assert parquet[column].equals(csv[column])
        assert parquet[column].astype(float).equals(pd.Series(told, name=column, dtype=float))


@pytest.mark.slow
def test_standard_output_is_the_csv_and_nothing_else(bench: Bench) -> None:
    suite = bench.suite(EXPORTED)
    bench("run", suite, expect=1)
    found = pd.read_csv(io.StringIO(bench("export", suite).stdout))
    assert list(found.columns[:6]) == ["dataset", "costs", "method", "seed", "point", "trial"]


@pytest.mark.slow
def test_an_export_replaces_a_table_but_nothing_that_it_is_made_from(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    bench("run", suite)
    (bench.folder / "link.csv").symlink_to("table.csv")
    for _ in range(2):
        bench("export", suite, "--output", "link.csv")
    assert (bench.folder / "link.csv").is_symlink()
    assert len(pd.read_csv(bench.folder / "table.csv"))
    before = (bench.folder / suite).read_bytes()
    for output in (suite, "/dev/full", ".bench-store/datasets.json", "leaderboard/s/suite.json"):
        assert f"--output {output} is " in bench("export", suite, "--output", output, expect=2).stderr
    assert (bench.folder / suite).read_bytes() == before


@pytest.mark.slow
def test_pages_are_not_written_into_the_store(bench: Bench) -> None:
    suite = bench.suite(SMALL)
    for out in ("x", "x/pages"):
        assert (
            f"--out {out} is the store x or inside it"
            in bench("run", suite, "--store", "x", "--out", out, expect=2).stderr
        )
    assert not (bench.folder / "x").exists()


@pytest.mark.parametrize("form", FORMATS)
def test_a_suite_without_records_gives_an_empty_table(form: str) -> None:
    suite = suite_of(["D"], ["A"])
    assert len(export_table(tabulate([]), suite)) == 0
    assert exported(export_table(tabulate([]), suite), form)


def test_a_metric_called_like_a_column_does_not_replace_it() -> None:
    records = tabulate(labelled([record_of("D", "A", 0, {"cost": 1.0, "seed": 7.0})]))
    table = export_table(records, suite_of(["D"], ["A"], metrics=["cost"]))
    assert table["seed"].tolist() == [0, 0]
    assert table["metric.seed"].tolist() == [7.0, 7.0]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_that_a_spreadsheet_would_run_is_made_inert_in_csv_only(sign: str) -> None:
    evil = f"{sign}HYPERLINK(1)"
    records = tabulate(labelled([record_of("D", evil, 0, {"cost": -1.5, evil: 2.0}), record_of("D", evil, 1, None)]))
    table = export_table(records, suite_of(["D"], ["A"], metrics=["cost"]))
    text = exported(table, "csv").decode()
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    safe = f"'{evil}".replace("\r", "\n")
    assert safe in cells
    assert evil not in cells
    assert "-1.5" in cells
    assert evil in json.loads(exported(table, "json"))[0].values()
    described = {"name": "s", "columns": ["cost"], "rows": [
        {"dataset": evil, "costs": evil, "method": evil, "done": 1, "expected": 1, "means": {"cost": [-1.5, None]}}
    ]}  # fmt: skip
    row = list(csv.reader(io.StringIO(render_results([described]), newline="")))[1]
    assert row == [safe] * 3 + ["s", "cost", "-1.5", "", "1", "1"]
    assert csv_text(["a", evil], [[evil, -0.123456]], digits=4) == csv_text(["a", safe], [[safe, -0.1235]])
