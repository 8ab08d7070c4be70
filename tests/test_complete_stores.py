"""Complete stores, checked and repaired by ``bench doctor``."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import click
import pytest
from bench_inspect.health import store_row
from bench_store import DAMAGED
from click.testing import CliRunner, Result
from support.bench import contents
from support.sessions import Place
from support.stores import done, every_file, of_done, store
from test_integrity import DAMAGES, SUITE, sealed_again

from bench_core.cli.main import main
from bench_core.run.store import Store

__all__ = ["done", "store"]


def checked(*arguments: object, expect: int = 0) -> Result:
    """The part of ``bench doctor`` that checks the store, because loading all plugins takes a second."""
    done = CliRunner().invoke(doctor, [str(argument) for argument in arguments])
    assert done.exit_code == expect, done.output
    return done


@click.command()
@click.option("--store", type=Path)
@click.option("--repair", is_flag=True)
def doctor(store: Path, repair: bool) -> None:
    row, damage, _ = store_row(store, repair)
    click.echo(row[1])
    for line in damage:
        click.echo(line, err=True)
    raise SystemExit(1 if damage and not repair else 0)


@pytest.mark.slow
def test_bench_doctor_checks_the_store(store: Path) -> None:
    record = of_done(store)[0]
    record.write_text("{}")
    asked = ["doctor", "--store", str(store)]
    said = CliRunner().invoke(main, asked)
    assert said.exit_code == 1
    assert "5 done, 3 failed, 1 damaged" in said.stdout
    assert record.name in said.stderr
    assert CliRunner().invoke(main, [*asked, "--repair"]).exit_code == 0
    assert not record.exists()


@pytest.mark.slow
def test_a_sound_store_is_reported_as_such_and_not_changed(store: Path) -> None:
    before = every_file(store)
    said = checked("--store", store, "--repair")
    assert "6 done, 3 failed, 0 damaged" in said.output
    assert every_file(store) == before


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_files_are_named_and_moved_aside_on_request(store: Path, how: str) -> None:
    record = of_done(store)[2]
    DAMAGES[how](record)
    for _ in range(2):
        said = checked("--store", store, expect=1)
        assert record.with_suffix("").name in said.stderr
        assert "5 done, 3 failed, 1 damaged" in said.output
        assert os.path.lexists(record)
    checked("--store", store, "--repair")
    assert not os.path.lexists(record)
    assert list((store / DAMAGED).iterdir())
    assert "5 done, 3 failed, 0 damaged" in checked("--store", store).output
    assert record.stem not in Store(store).names()[0]  # the next run computes it


@pytest.mark.parametrize("how", ["wrong folder", "no name", "data sets", "failure", "too few decisions"])
def test_damage_of_other_files_is_found_too(store: Path, how: str) -> None:
    record = of_done(store)[0]
    if how == "wrong folder":
        other = store / ("00" if record.parent.name != "00" else "01")
        other.mkdir(exist_ok=True)
        record = record.rename(other / record.name)
    elif how == "no name":
        record = record.with_name("notes.json")
        record.write_text("{}")
    elif how == "data sets":
        record = store / "datasets.json"
        record.write_text("{}")
    elif how == "failure":
        record = next(store.glob("??/*.failed.json"))
        record.write_text("{}")
    else:  # the checksum is valid, but the contents are of something else
        import hashlib

        import pyarrow.parquet as pq

        file = record.with_suffix(".parquet")
        table = pq.read_table(file)
        pq.write_table(table.slice(0, table.num_rows - 1), file)
        noted = {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        sealed_again(record, decisions=noted)
    said = checked("--store", store, expect=1)
    assert record.with_suffix("").name.removesuffix(".failed") in said.stderr
    checked("--store", store, "--repair")
    assert not record.exists()
    assert "0 damaged" in checked("--store", store).output


def test_decisions_without_a_record_are_not_damage_and_are_removed_when_old(store: Path) -> None:
    old, new = of_done(store)[:2]
    for record in (old, new):
        record.unlink()
        record.with_suffix(".parquet").touch()
    hour_ago = time.time() - 3600
    os.utime(old.with_suffix(".parquet"), (hour_ago, hour_ago))
    assert "1 decisions without a record" in checked("--store", store).output
    checked("--store", store, "--repair")
    assert not old.with_suffix(".parquet").exists()
    assert new.with_suffix(".parquet").exists()  # its record may be about to be written


def test_the_next_run_completes_a_repaired_store(store: Path, done: Path, tmp_path: Path) -> None:
    for record in of_done(store)[:3]:
        record.write_bytes(record.read_bytes()[:-9])
    checked("--store", store, "--repair")
    assert Place(tmp_path).run(SUITE.replace("seeds = 7", "seeds = 3")).summary.computed == 3
    shutil.rmtree(store / DAMAGED)
    assert contents(store) == contents(done)
