"""Two quantities of every policy against each other, with the line where they are equal (PolyDom's appendix)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from bench_analysis import Mean
from numpy.typing import NDArray

from bench_leaderboard.render.figures.canvas import canvas, legend, plain_text
from bench_leaderboard.render.figures.palette import MUTED, Style
from bench_leaderboard.render.markdown import plain_number

__all__ = ["Axis", "Cloud", "scatter_figure"]

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """The name of an axis, and the factor by which its numbers are multiplied."""

    name: str
    factor: float


@dataclass(frozen=True)
class Cloud:
    """One panel.

    Attributes:
        title: above it.
        x, y: the axes.
        points: method → for every policy its label and both means.
    """

    title: str
    x: Axis
    y: Axis
    points: dict[str, list[tuple[str, Mean, Mean]]]

    def drawn(self, method: str, scale: str) -> tuple[Numbers, Numbers]:
        """x and y of a method's points that a scale can show; float64 (points,) each."""
        pairs = [(self.x.factor * x.value, self.y.factor * y.value) for _, x, y in self.points.get(method, [])]
        table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        fits = np.isfinite(table).all(axis=1)
        with np.errstate(invalid="ignore"):
            if scale != "linear":
                fits &= table[:, 0] > 0
            if scale == "log":
                fits &= table[:, 1] > 0
        return table[fits, 0], table[fits, 1]


def scatter_figure(
    clouds: Sequence[Cloud], styles: dict[str, Style], scale: Literal["linear", "log", "log-x"], title: str
) -> bytes:
    """A panel per pair of quantities, side by side on the same scale; a mark per policy, a line per method.

    Args:
        clouds: the panels; they share both scales, and the name of the first one's vertical axis.
        styles: method → how it is drawn.
        scale: of the axes; with ``log-x``, x and y are of different kinds, and the line x = y is not drawn. Points
            that a logarithmic axis cannot show are left out.
        title: the figure's heading.
    """
    methods = [name for name in styles if any(name in cloud.points for cloud in clouds)]
    with canvas(0.8 + 3.5 * max(len(clouds), 1.4), 4.6) as page:
        panels = page.figure.subplots(1, len(clouds), squeeze=False, sharex=True, sharey=True)[0]
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        handles: dict[str, Any] = {}
        for axes, cloud in zip(panels, clouds, strict=True):
            for method in methods:
                style, (x, y) = styles[method], cloud.drawn(method, scale)
                handles[method] = axes.plot(
                    x, y, color=style.colour, marker=style.marker, linestyle=style.dash, lw=0.9, ms=4.8
                )[0]  # fmt: skip
            axes.set_title(plain_text(cloud.title), fontsize=9)
            axes.set_xlabel(plain_text(cloud.x.name))
        panels[0].set_ylabel(plain_text(clouds[0].y.name))
        _scaled(panels, clouds, methods, scale)
        legend(page.figure, [handles[method] for method in methods], methods, 4)
        page.save(title, _words(clouds, scale))
        return bytes(page)


def _scaled(panels: Any, clouds: Sequence[Cloud], methods: Sequence[str], scale: str) -> None:
    """Set the scales, and draw the line x = y except with ``log-x``."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:g}")
    for axis in [panels[0].xaxis] if scale == "log-x" else [panels[0].xaxis, panels[0].yaxis]:
        if scale != "linear":
            (panels[0].set_xscale if axis is panels[0].xaxis else panels[0].set_yscale)("log")
            axis.set_minor_formatter(NullFormatter())
            axis.set_major_formatter(plain)
    if scale == "log-x":
        return
    drawn = [np.concatenate(cloud.drawn(method, scale)) for cloud in clouds for method in methods]
    values = np.concatenate([np.zeros(0), *drawn])
    if not len(values):
        return
    low, high = float(values.min()), float(values.max())
    if scale == "log":
        room = max((high / low) ** 0.06, 1.1)
        low, high = low / room, high * room
    else:
        room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
        low, high = low - room, high + room
    panels[0].set_xlim(low, high)
    panels[0].set_ylim(low, high)
    for axes in panels:
        axes.set_box_aspect(1)
        ends = [low, high]
        axes.plot(ends, ends, color=MUTED.light, lw=1.1, linestyle=(0, (4, 3)), zorder=0)


def _words(clouds: Sequence[Cloud], scale: str) -> str:
    equal = "" if scale == "log-x" else "; the dashed line is where both are equal"
    sentences = [f"Means over seeds, a mark per policy{equal}."]
    for cloud in clouds:
        head = f"{cloud.title}, " if cloud.title else ""
        for method in cloud.points:
            x, y = cloud.drawn(method, scale)
            pairs = [f"{plain_number(a, 3)}, {plain_number(b, 3)}" for a, b in zip(x, y, strict=True)]
            sentences.append(f"{head}{method} ({cloud.x.name}, {cloud.y.name}): {'; '.join(pairs)}.")
    return " ".join(sentences)
