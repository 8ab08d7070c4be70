"""Figures of the fits' series: means computed by hand, and every method in the figure."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("bench_leaderboard")

from bench_leaderboard import style_of
from bench_polydom.figures.by_method import SeriesEntry, line_of, lines_figure


def info(**history: list[float | None]) -> dict[str, object]:
    return {"history": history, "trial": '{"split": {"kind": "given"}}'}


def test_a_line_is_the_mean_over_seeds_at_each_value_of_the_other_series() -> None:
    line = line_of([info(a=[1.0, 4.0], at=[10, 30]), info(a=[3.0, None, 5.0], at=[10, 30, 20])], "a", "at")
    assert line is not None
    assert line.x.tolist() == [10, 20, 30]
    assert line.mean.tolist() == [2, 5, 4]
    assert np.isfinite(line.margin).tolist() == [True, False, False]


def test_without_another_series_the_places_count_from_zero() -> None:
    line = line_of([info(a=[7.0, 8.0])], "a")
    assert line is not None
    assert (line.x.tolist(), line.mean.tolist()) == ([0, 1], [7, 8])


def test_a_series_that_no_record_has_gives_no_line() -> None:
    assert line_of([info(a=[1.0])], "b") is None


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_every_method_is_named_in_the_figure(scale: str) -> None:
    lines = {}
    for name, level in (("Fast", 1.0), ("Slow", 100.0)):
        line = line_of([info(a=[level, 2 * level]), info(a=[level, 3 * level])], "a")
        assert line is not None
        lines[name] = line
    styles = {name: style_of(place) for place, name in enumerate(lines)}
    drawn = lines_figure([("Metric", lines)], styles, "Title", ["x", "y"], scale)
    texts = [text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert {"Fast", "Slow", "Title", "Metric"} <= set(texts)


@pytest.mark.parametrize("wrong", [{}, {"series": ["a"], "panels": ["A", "B"]}, {"series": ["a"], "axes": ["x"]}])
def test_an_entry_that_cannot_be_drawn_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"series|panels|axes"):
        SeriesEntry.model_validate({"kind": "series-by-method", **wrong})
