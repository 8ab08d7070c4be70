"""Two quantities of every policy against each other, with the line where they are equal (PolyDom's appendix)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench_core.analysis.summary import Mean
from bench_core.render.figures.canvas import legend, plain_text, sheet
from bench_core.render.figures.palette import MUTED, Look
from bench_core.render.markdown import plain_number

__all__ = ["Cloud", "scatter_figure"]


@dataclass(frozen=True)
class Cloud:
    """One panel.

    Attributes:
        title: above it.
        x, y: what the axes are called.
        points: method → for every policy its label and both means.
    """

    title: str
    x: str
    y: str
    points: dict[str, list[tuple[str, Mean, Mean]]]


def scatter_figure(
    clouds: Sequence[Cloud], looks: dict[str, Look], percent: bool, log: bool, title: str
) -> bytes:
    """A panel per pair of quantities, side by side on the same scale; a mark per policy, a line per method.

    Args:
        clouds: the panels.
        looks: method → how it is drawn.
        percent: the numbers are shares, shown as percentages.
        log: logarithmic scales; a policy with a number that is not positive is then left out.
        title: the figure's heading.
    """
    methods = [name for name in looks if any(name in cloud.points for cloud in clouds)]
    scale = 100.0 if percent else 1.0
    with sheet(0.9 + 3.7 * len(clouds), 4.9) as page:
        panels = page.figure.subplots(1, len(clouds), squeeze=False, sharex=True, sharey=True)[0]
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        handles: dict[str, Any] = {}
        for axes, cloud in zip(panels, clouds, strict=True):
            for method in methods:
                handle = _draw(axes, cloud.points.get(method, []), looks[method], scale, log)
                handles.setdefault(method, handle)
            axes.set_title(plain_text(cloud.title), fontsize=9)
            axes.set_xlabel(plain_text(cloud.x))
            axes.set_ylabel(plain_text(cloud.y))
            if log:
                axes.set_xscale("log")
                axes.set_yscale("log")
            axes.margins(0.06)
        for axes in panels:
            axes.set_box_aspect(1)
            ends = [min(*axes.get_xlim(), *axes.get_ylim()), max(*axes.get_xlim(), *axes.get_ylim())]
            axes.autoscale(False)
            axes.plot(ends, ends, color=MUTED.light, lw=1.1, linestyle=(0, (4, 3)), zorder=0)
        legend(page.figure, [handles[method] for method in methods], methods, 3)
        page.save(title, _words(clouds, scale))
        return bytes(page)


def _draw(axes: Any, points: Sequence[tuple[str, Mean, Mean]], look: Look, scale: float, log: bool) -> Any:
    x = scale * np.array([one.value for _, one, _ in points])
    y = scale * np.array([one.value for _, _, one in points])
    shown = np.isfinite(x) & np.isfinite(y) & ((x > 0) & (y > 0) if log else True)
    (line,) = axes.plot(
        x[shown], y[shown], color=look.colour, marker=look.marker, linestyle=look.dash, lw=0.9, ms=4.8
    )
    return line


def _words(clouds: Sequence[Cloud], scale: float) -> str:
    said = ["Means over seeds, a mark per policy; the dashed line is where both are equal."]
    for cloud in clouds:
        for method, points in cloud.points.items():
            pairs = [
                f"{plain_number(scale * x.value, 3)}, {plain_number(scale * y.value, 3)}"
                for _, x, y in points
                if np.isfinite(x.value) and np.isfinite(y.value)
            ]
            said.append(f"{cloud.title}, {method} ({cloud.x}, {cloud.y}): {'; '.join(pairs)}.")
    return " ".join(said)
