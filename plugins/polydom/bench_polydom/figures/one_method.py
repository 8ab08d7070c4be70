"""The figure kind ``series-of-one-method``: several series of one method in a panel, other methods as level lines.

It draws the paper's figures over the tolerance e. Needs the leaderboard plugin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from bench_analysis import mean_with_margin, overlap
from bench_leaderboard import Figure, FigureBuilder, FigureKind, style_of
from pydantic import BaseModel, ConfigDict, Field, model_validator

from bench_core import Metric, RequestError, did_you_mean
from bench_core.suites import Suite
from bench_polydom.figures.by_method import Line, LinesEntry, infos_of, line_of, lines_figure

__all__ = ["SeriesOfOneMethod"]


class PanelEntry(BaseModel):
    """One panel of the figure.

    Attributes:
        title: the panel's heading.
        lines: for each label, a series of the method's history.
        levels: for each label, another method and the name of one of its diagnostics, drawn as a level line.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: str
    lines: dict[str, str]
    levels: dict[str, Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=dict)


class OneMethodEntry(LinesEntry):
    """``kind = "series-of-one-method"``; ``methods`` must name exactly one method.

    Attributes:
        panels: the panels, from left to right.
        over: a series of the history that gives the x values; required.
    """

    panels: list[PanelEntry]
    over: str

    @model_validator(mode="after")
    def _has_one_method(self) -> OneMethodEntry:
        if len(self.methods) != 1:
            raise ValueError("a series-of-one-method figure needs exactly one method")
        if not self.panels or not all(panel.lines for panel in self.panels):
            raise ValueError("a series-of-one-method figure needs panels with lines")
        return self


class SeriesOfOneMethod(FigureKind):
    """Several series of one method's history, one line each."""

    title = "Series"
    entry = OneMethodEntry

    def check(self, suite: Suite, entry: OneMethodEntry, where: str) -> Mapping[str, Metric]:
        known = suite.method_names()
        for panel in entry.panels:
            for label, (method, _) in panel.levels.items():
                if method not in known:
                    hint = did_you_mean(method, known)
                    raise RequestError(f"{where}.panels.levels, {label!r}: there is no method {method!r}; {hint}")
        return {}

    def build(self, builder: FigureBuilder, entry: OneMethodEntry, stem: str) -> list[Figure]:
        figures = []
        for place in builder.places(entry):
            panels = [(panel.title, _lines(builder, place, entry, panel)) for panel in entry.panels]
            if any(lines for _, lines in panels):
                labels = dict.fromkeys(label for _, lines in panels for label in lines)
                styles = {label: style_of(number) for number, label in enumerate(labels)}
                draw = partial(lines_figure, panels, styles, axes=entry.axes, scale=entry.scale)
                figures.append(builder.figure(self, entry, stem, place, draw))
        return figures


def _lines(builder: FigureBuilder, place: tuple[str, str], entry: OneMethodEntry, panel: PanelEntry) -> dict[str, Line]:
    """The lines of one panel by label, level lines last; empty if no record has a series."""
    infos = infos_of(builder, place, entry.methods[0])
    drawn_from = builder.suite.drawn_from(place[0])
    lines = {label: line_of(infos, series, entry.over, drawn_from) for label, series in panel.lines.items()}
    drawn = {label: line for label, line in lines.items() if line is not None}
    if not drawn:
        return {}
    places = np.concatenate([line.x for line in drawn.values()])
    ends = np.array([places.min(), places.max()])
    for label, (method, diagnostic) in panel.levels.items():
        level = level_of(infos_of(builder, place, method), diagnostic, ends, drawn_from)
        if level is not None:
            drawn[label] = level
    return drawn


def level_of(
    infos: Sequence[Mapping[str, Any]], diagnostic: str, ends: Any, drawn_from: int | str | None = None
) -> Line | None:
    """The mean of a diagnostic over seeds, as a level line between two x values; None if no record has it."""
    values = [info["diagnostics"].get(diagnostic) for info in infos]
    numbers = [float(value) for value in values if isinstance(value, (int, float)) and np.isfinite(value)]
    if not numbers:
        return None
    mean = mean_with_margin(np.array(numbers), overlap(infos[0], drawn_from))
    return Line(np.asarray(ends, dtype=np.float64), np.full(2, mean.value), np.full(2, mean.margin))
