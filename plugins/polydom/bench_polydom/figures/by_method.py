"""The figure kind ``series-by-method``: the paper's Metrics 1 to 4 over features, budgets or distance in the lattice.

A panel shows one series of the fits' history, with one line per method. Needs the leaderboard plugin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from bench_analysis import mean_with_margin, overlap
from bench_leaderboard import Figure, FigureBuilder, FigureEntry, FigureKind, Style, canvas, legend, plain_text
from numpy.typing import NDArray
from pydantic import Field, model_validator

__all__ = ["Line", "LinesEntry", "SeriesByMethod", "infos_of", "line_of", "lines_figure"]


class LinesEntry(FigureEntry):
    """Fields common to figures of series.

    Attributes:
        over: a series of the history that gives the x values; when empty, indices from 0.
        axes: labels of the x axis and the y axis.
        scale: scale of the axes: ``linear``, ``log`` for both, ``log-x`` or ``log-y``.
    """

    over: str = ""
    axes: list[str] = Field(default_factory=list)
    scale: Literal["linear", "log-x", "log-y", "log"] = "linear"

    @model_validator(mode="after")
    def _names_both_axes(self) -> LinesEntry:
        if len(self.axes) not in (0, 2):
            raise ValueError("axes must name both axes, x and y")
        return self


class SeriesEntry(LinesEntry):
    """``kind = "series-by-method"``.

    Attributes:
        series: series of the history, with one panel each.
        panels: titles of the panels; the series' names when empty.
    """

    series: list[str] = Field(default_factory=list)
    panels: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _names_its_panels(self) -> SeriesEntry:
        if not self.series:
            raise ValueError("a series-by-method figure needs the name of a series")
        if self.panels and len(self.panels) != len(self.series):
            raise ValueError("panels must have one title per series")
        return self


@dataclass(frozen=True, eq=False)
class Line:
    """The mean of a series over seeds.

    Attributes:
        x: float64 (points,), ascending.
        mean: float64 (points,): mean over the seeds with a number there.
        margin: float64 (points,): half the width of the 95 % interval; NaN for fewer than two seeds.
    """

    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    margin: NDArray[np.float64]


def line_of(
    infos: Sequence[Mapping[str, Any]], series: str, over: str = "", drawn_from: int | str | None = None
) -> Line | None:
    """The mean of a series over seeds, at each x value; None if no record has numbers for both.

    Args:
        infos: infos of one method's records on one data set, one per seed.
        series: name of the series; values that are None or not finite are ignored.
        over: name of the series of x values; indices from 0 when empty.
        drawn_from: what the seeds' splits are drawn from; see the leaderboard's ``overlap``.
    """
    values: dict[float, list[float]] = {}
    for info in infos:
        history = info["history"]
        numbers = history.get(series) or []
        for x, y in zip(history.get(over, []) if over else range(len(numbers)), numbers, strict=False):
            if isinstance(y, (int, float)) and np.isfinite(y):
                values.setdefault(float(x), []).append(float(y))
    if not values:
        return None
    shared = overlap(infos[0], drawn_from)
    means = {x: mean_with_margin(np.array(numbers), shared) for x, numbers in sorted(values.items())}
    return Line(
        np.array(list(means)),
        np.array([mean.value for mean in means.values()]),
        np.array([mean.margin for mean in means.values()]),
    )


def infos_of(builder: FigureBuilder, place: tuple[str, str], method: str) -> list[Mapping[str, Any]]:
    """Infos of one method's records on one data set under one cost scheme, one per seed."""
    return [builder.records.infos[name] for name in builder.records.trials.get((*place, method), ())]


class SeriesByMethod(FigureKind):
    """Series of the fits' history, one line per method."""

    title = "Series"
    entry = SeriesEntry

    def build(self, builder: FigureBuilder, entry: SeriesEntry, stem: str) -> list[Figure]:
        figures = []
        for place in builder.places(entry):
            panels = []
            for number, series in enumerate(entry.series):
                lines = {}
                for method in builder.methods(entry, place[0]):
                    infos = infos_of(builder, place, method)
                    drawn_from = builder.suite.drawn_from(place[0])
                    line = line_of(infos, series, entry.over, drawn_from) if infos else None
                    if line is not None:
                        lines[method] = line
                panels.append((entry.panels[number] if entry.panels else series.replace("_", " "), lines))
            if any(lines for _, lines in panels):
                draw = partial(lines_figure, panels, builder.styles, axes=entry.axes, scale=entry.scale)
                figures.append(builder.figure(self, entry, stem, place, draw))
        return figures


def lines_figure(
    panels: Sequence[tuple[str, Mapping[str, Line]]],
    styles: Mapping[str, Style],
    title: str,
    axes: Sequence[str] = (),
    scale: str = "linear",
) -> bytes:
    """Draw one panel per series, with a line and its 95 % band per method, and one legend; returns the SVG.

    Args:
        panels: pairs of a title and the line of each method.
        styles: the style of each method.
        title: the figure's heading.
        axes: labels of the two axes.
        scale: see `LinesEntry`.
    """
    shown = [name for name in styles if any(name in lines for _, lines in panels)]
    with canvas(1.0 + 4.4 * len(panels), 3.4 + 0.06 * len(shown)) as page:
        row = page.figure.subplots(1, len(panels), squeeze=False)[0]
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        handles = {}
        for place, (panel, (name, lines)) in enumerate(zip(row, panels, strict=True)):
            if scale in ("log-x", "log"):
                panel.set_xscale("log")
                panel.xaxis.set_major_formatter("{x:g}")
                panel.xaxis.set_minor_formatter("")
            if scale in ("log-y", "log"):
                panel.set_yscale("log")
                panel.yaxis.set_major_formatter("{x:g}")
                panel.yaxis.set_minor_formatter("")
            panel.set_title(plain_text(name))
            for method in shown:
                if method in lines:
                    handles[method] = _draw(panel, lines[method], styles[method])
            if axes:
                panel.set_xlabel(plain_text(axes[0]))
                if place == 0:
                    panel.set_ylabel(plain_text(axes[1]))
        legend(page.figure, [handles[method] for method in shown], shown, columns=4)
        page.save(title, "; ".join(_words(name, lines) for name, lines in panels) + ".")
        return bytes(page)


def _draw(panel: Any, line: Line, style: Style) -> Any:
    margin = np.nan_to_num(line.margin)
    low = line.mean - margin
    if line.mean.min() >= 0:
        low = np.maximum(low, 0.0)
    if panel.get_yscale() == "log":
        low = np.maximum(low, line.mean / 10)  # a log axis cannot show a band that reaches 0
    panel.fill_between(line.x, low, line.mean + margin, color=style.colour, alpha=0.15, lw=0)
    (handle,) = panel.plot(
        line.x, line.mean, color=style.colour, linestyle=style.dash, marker=style.marker, markersize=3.5, lw=1.4
    )
    return handle


def _words(name: str, lines: Mapping[str, Line]) -> str:
    ends = [f"{method} {line.mean[0]:.4g} to {line.mean[-1]:.4g}" for method, line in lines.items()]
    return f"{name}, first to last: {', '.join(ends)}"
