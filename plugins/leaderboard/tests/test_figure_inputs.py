"""Figures are compared by their inputs: nothing is drawn for a check, and no change is missed."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from bench_analysis.analysed import Analysed
from bench_leaderboard.publish import check
from bench_leaderboard.render.figure_inputs import FIGURES, inputs_of
from bench_leaderboard.render.page_figures import figures_of
from support.bench import SMALL, Bench
from support.families import METHODS, synthetic_records, synthetic_suite
from support.sessions import Place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("published"))
    assert place.run(SMALL).exit_code == 0
    return place


def wrong(place: Place, draw: bool = False) -> list[str]:
    return [Path(line.split(" is ")[0]).name for line in check(place.session(SMALL), private=True, draw=draw)]


def test_every_kind_of_figure_has_inputs_and_each_number_counts() -> None:
    datasets = ["D"]
    records, other = (synthetic_records(datasets, METHODS, seeds=3) for _ in range(2))
    column = next(
        name for name in other.policies.columns if name.startswith("test.") and other.policies[name].notna().any()
    )
    other.policies[column] = other.policies[column] * 1.01
    suite = synthetic_suite(datasets, METHODS)
    first, again, changed = (
        {figure.file: inputs_of(figure.draw) for figure in figures_of(Analysed(suite, of))}
        for of in (records, synthetic_records(datasets, METHODS, seeds=3), other)
    )
    assert first
    assert all(first.values())
    assert first == again
    assert first != changed


def test_what_has_no_plain_form_is_drawn_every_time() -> None:
    value = object()
    assert inputs_of(lambda: str(value).encode()) == ""


@pytest.mark.slow
def test_a_figure_or_hash_that_was_edited_is_found(place: Place) -> None:
    assert wrong(place) == []
    folder = place.folder / "out" / "s"
    svg, hashes = next(folder.glob("*.svg")), folder / FIGURES
    drawn, known = svg.read_bytes(), hashes.read_bytes()
    svg.write_bytes(drawn + b" ")
    assert wrong(place) == [svg.name]
    # Together with its hash, it is found where figures are drawn.
    edited = known.replace(sha256(drawn).hexdigest().encode(), sha256(drawn + b" ").hexdigest().encode())
    hashes.write_bytes(edited)
    assert wrong(place) == []
    assert wrong(place, draw=True) == [svg.name, FIGURES]
    svg.write_bytes(drawn)
    found = json.loads(known)
    found["figures"][svg.name]["inputs"] = "0" * 64
    hashes.write_text(json.dumps(found))
    assert wrong(place) == [FIGURES]
    hashes.write_bytes(known)
    assert wrong(place) == []


@pytest.mark.slow
def test_a_check_does_not_import_matplotlib(bench: Bench) -> None:
    made = bench.suite(SMALL)
    bench("run", made)
    code = (
        "import sys\nfrom bench_core.cli.main import main\n"
        f"try: main(['leaderboard', {str(made)!r}, '--check'])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert 'matplotlib' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=bench.folder,
        env=bench.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
