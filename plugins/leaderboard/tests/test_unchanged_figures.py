"""A figure is drawn again when its numbers, its code or its file have changed, and only then."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_leaderboard.render.figure import Figure
from bench_leaderboard.render.figure_files import NOTES, figure_files, notes_of, unchanged_figures
from bench_leaderboard.render.fingerprint import UnknownValueError, fingerprint
from bench_leaderboard.render.page_figures import figures_of
from hypothesis import given
from hypothesis import strategies as st
from support.families import made_up_records, made_up_suite


def figure(draw: Callable[[], bytes], file: str = "one.svg") -> Figure:
    return Figure("bars", file, "Bars", "Heart", "bars", "", draw)


def picture(*numbers: Any, title: str = "") -> bytes:
    return f"<svg>{numbers}{title}</svg>".encode()


def published(folder: Path, *figures: Figure) -> dict[Path, bytes]:
    """Draw figures into a folder, with their notes; what was drawn."""
    drawn = figure_files(figures, folder)
    for path, data in {**drawn, **notes_of(figures, folder, drawn)}.items():
        path.write_bytes(data)
    return drawn


def never() -> bytes:
    raise AssertionError("it was drawn")


def test_what_was_drawn_from_the_same_is_not_drawn_again(tmp_path: Path) -> None:
    drawn = published(tmp_path, figure(partial(picture, 1.5, title="a")), figure(partial(picture, 2), "two.svg"))
    same = [figure(partial(picture, 1.5, title="a")), figure(partial(picture, 2), "two.svg")]
    unchanged = unchanged_figures(same, tmp_path)
    assert unchanged == drawn
    assert figure_files([replace(one, draw=never) for one in same], tmp_path, unchanged) == drawn


def test_what_is_drawn_from_other_numbers_is_drawn(tmp_path: Path) -> None:
    published(tmp_path, figure(partial(picture, 1.5)), figure(partial(picture, 2), "two.svg"))
    now = [figure(partial(picture, np.nextafter(1.5, 2.0))), figure(partial(picture, 2), "two.svg")]
    unchanged = unchanged_figures(now, tmp_path)
    assert [path.name for path in unchanged] == ["two.svg"]
    assert figure_files(now, tmp_path, unchanged)[tmp_path / "one.svg"] == now[0].draw()


def test_a_file_that_was_edited_or_is_gone_is_drawn(tmp_path: Path) -> None:
    one = figure(partial(picture, 1))
    [path] = published(tmp_path, one)
    path.write_bytes(path.read_bytes() + b" ")
    assert unchanged_figures([one], tmp_path) == {}
    path.unlink()
    assert unchanged_figures([one], tmp_path) == {}


@pytest.mark.parametrize(
    "notes", ["", "[]", "{}", "null", '{"format": 2, "figures": {}}', '{"format": 1, "figures": 5}']
)
def test_without_notes_everything_is_drawn(tmp_path: Path, notes: str) -> None:
    one = figure(partial(picture, 1))
    published(tmp_path, one)
    (tmp_path / NOTES).write_text(notes)
    assert unchanged_figures([one], tmp_path) == {}
    (tmp_path / NOTES).unlink()
    assert unchanged_figures([one], tmp_path) == {}


def test_a_page_of_the_same_records_has_the_same_fingerprints_and_one_number_changes_its_figures() -> None:
    entries = [
        {"kind": "feature-usage"}, {"kind": "stage-by-cost-class"}, {"kind": "base-models"}, {"kind": "tree"},
        {"kind": "history", "series": "front_members"},
        {"kind": "scatter", "x": ["validation.cost"], "y": ["test.cost"]},
    ]  # fmt: skip

    def prints(shift: float) -> dict[str, str]:
        suite = made_up_suite(["Heart"], seeds=2)
        suite.file.__dict__["figures"] = entries
        records = made_up_records(["Heart"], seeds=2)
        records.policies[[name for name in records.policies if name.startswith("test.")]] += shift
        return {one.file: fingerprint(one.draw) for one in figures_of(suite, records)}

    before, again, shifted = prints(0.0), prints(0.0), prints(1e-3)
    assert before == again
    changed = {file for file in before if before[file] != shifted[file]}
    assert {"curve-heart.svg", "bars-heart.svg", "scatter-heart.svg"} <= changed
    assert not {"feature-usage-heart.svg", "tree-heart.svg"} & changed
    assert len(before) > 6


def test_changed_code_of_a_drawing_or_of_what_it_imports_changes_its_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "drawn_by_us"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "figures.py").write_text(
        "from drawn_by_us.colours import hue\n\ndef draw():\n    from . import later\n    return b'' + hue\n"
    )
    for name in ("colours", "later", "other"):
        (package / f"{name}.py").write_text("hue = b'red'\n")
    monkeypatch.syspath_prepend(tmp_path)
    draw = import_module("drawn_by_us.figures").draw
    prints = [fingerprint(draw)]
    for name in ("other", "figures", "colours", "later"):
        path = package / f"{name}.py"
        path.write_text(path.read_text() + "# changed\n")
        prints.append(fingerprint(draw))
    for name in [name for name in sys.modules if name.startswith("drawn_by_us")]:
        monkeypatch.delitem(sys.modules, name)
    assert prints[0] == prints[1]
    assert len(set(prints[1:])) == 4


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        | st.builds(Point, inner, inner)
    ),
    max_leaves=6,
)


def exactly(value: Any) -> str:
    """A text that tells values apart which ``==`` does not: 1, True and 1.0; 0.0 and -0.0."""
    return repr(value)


@given(plain, plain)
def test_values_that_differ_have_other_fingerprints(one: Any, other: Any) -> None:
    prints = [fingerprint(partial(picture, value)) for value in (one, other)]
    assert (prints[0] == prints[1]) == (exactly(one) == exactly(other))


def test_arrays_count_by_type_shape_and_content() -> None:
    arrays = [
        np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.ones(4), np.array(["a", "b"]),
        np.array(["a", None], dtype=object),
    ]  # fmt: skip
    assert len({fingerprint(partial(picture, array)) for array in arrays}) == len(arrays)
    assert fingerprint(partial(picture, arrays[0])) == fingerprint(partial(picture, np.zeros(8)[::2]))


def test_what_a_function_closes_over_counts() -> None:
    def drawing(number: int) -> Callable[[], bytes]:
        return lambda: picture(number)

    assert fingerprint(drawing(1)) == fingerprint(drawing(1)) != fingerprint(drawing(2))


def test_a_figure_of_what_nobody_can_compare_is_drawn_each_time(tmp_path: Path) -> None:
    one = figure(partial(picture, os.environ.__class__))
    with pytest.raises(UnknownValueError):
        fingerprint(one.draw)
    assert notes_of([one], tmp_path, figure_files([one], tmp_path)) == {}
