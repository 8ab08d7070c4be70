"""Cost–quality curves: every method's trade-off on one data set."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench_analysis import Curve, Panel, has_band, hull
from numpy.typing import NDArray

from bench_leaderboard.render.figures.canvas import canvas, legend, plain_text
from bench_leaderboard.render.figures.palette import MUTED, Style

__all__ = ["cost_quality_figure"]

_MOST_STEPS = 240
_MOST_MARKS = 14
_COVERAGE_STEPS = 8
_FAINT = 0.14


def cost_quality_figure(panel: Panel, styles: dict[str, Style], unit_of_cost: str, hulls: bool, title: str) -> bytes:
    """Mean test quality against mean test cost: steps per method with their band, a mark alone for a single policy.

    Where answers are refused, the fill colour of the marks shows the coverage.

    Args:
        panel: the curves.
        styles: method → how it is drawn.
        unit_of_cost: the metric of the horizontal axis, when that is not the price of features.
        hulls: whether each curve's hull is drawn, dashed.
        title: the figure's heading.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    scale = 100.0 if panel.quality.percent else 1.0
    priced = panel.cost == "cost"
    across = 100.0 if priced else panel.largest
    with canvas(7.6, 4.7) as page:
        axes = page.figure.subplots()
        shade = _Shade(panel) if panel.rejects else None
        for curve in panel.curves:
            _draw_band(axes, curve, styles[curve.method], (across, scale), panel.quality.percent)
            if hulls:
                _draw_hull(axes, panel, curve, styles[curve.method], (across, scale))
        handles = [_draw(axes, curve, styles[curve.method], (across, scale), shade) for curve in panel.curves]
        axes.set_title(plain_text(title))
        axes.set_xlabel("Mean cost, % of the price of all features" if priced else plain_text(unit_of_cost))
        direction = "more is better" if panel.quality.goal == "max" else "less is better"
        unit = " %" if panel.quality.percent else ""
        axes.set_ylabel(f"{plain_text(panel.quality.title)}{unit} ({direction})")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        axes.margins(x=0.04, y=0.08)
        right = axes.get_xlim()[1]
        if priced:
            axes.set_xlim(-2.0, min(max(right, 20.0), 104.0))
        else:
            axes.set_xlim(-0.02 * right, right)
        low, high = axes.get_ylim()
        least = 0.05 * scale if panel.quality.percent else 0.05 * max(abs(low), abs(high))
        if high - low < least:
            axes.set_ylim((low + high - least) / 2, (low + high + least) / 2)
        if shade is not None:
            shade.bar(page.figure, axes)
        legend(page.figure, handles, [curve.method for curve in panel.curves], 4)
        page.save(title, _words(panel, across, " %" if priced else ""))
        return bytes(page)


class _Shade:
    """A colour scale for coverage: cividis in steps, over the range that occurs."""

    def __init__(self, panel: Panel) -> None:
        from matplotlib import colormaps
        from matplotlib.colors import BoundaryNorm, ListedColormap

        least = min(float(c.coverage.min()) for c in panel.curves if c.coverage is not None)
        low = min(np.floor(least * 10) / 10, 0.9)
        self.edges = np.linspace(low, 1.0, _COVERAGE_STEPS + 1)
        self.colours = ListedColormap(colormaps["cividis"](np.linspace(0.0, 1.0, _COVERAGE_STEPS)))
        self.norm = BoundaryNorm(self.edges, _COVERAGE_STEPS)

    def __call__(self, coverage: NDArray[np.float64]) -> NDArray[np.float64]:
        inside = np.clip(coverage, self.edges[0], np.nextafter(self.edges[-1], 0.0))
        return np.asarray(self.colours(self.norm(inside)))

    def bar(self, figure: Any, axes: Any) -> None:
        """Draw the colour bar beside the axes, as vector shapes instead of a raster image."""
        from matplotlib.cm import ScalarMappable

        bar = figure.colorbar(
            ScalarMappable(self.norm, self.colours), ax=axes, fraction=0.04, pad=0.02, ticks=self.edges[::2]
        )
        bar.solids.set_rasterized(False)
        bar.ax.set_yticks(self.edges[::2], [f"{100 * edge:.3g}" for edge in self.edges[::2]])
        bar.set_label("Coverage % (filling of the marks)")
        bar.outline.set_edgecolor(MUTED.light)


def _shown(curve: Curve) -> NDArray[np.int64]:
    """Indices of the steps that are drawn: those of less mean test cost than all later ones, at most `_MOST_STEPS`."""
    later = np.minimum.accumulate(curve.cost[::-1])[::-1]
    last = np.flatnonzero(np.append(curve.cost[:-1] < later[1:], True))
    return last[_thinned(len(last), _MOST_STEPS)]


def _draw_band(axes: Any, curve: Curve, style: Style, scale: tuple[float, float], share: bool) -> None:
    """The 95 % interval of the mean quality at every step, cut off at 0 and 1 for a share; a bar for a single step."""
    if not has_band(curve):
        return
    steps = _shown(curve)
    x, y, margin = curve.cost[steps], curve.quality[steps], curve.margin[steps]
    low, high = y - margin, y + margin
    if share:
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    x, y, low, high = scale[0] * x, scale[1] * y, scale[1] * low, scale[1] * high
    if len(x) > 1:
        axes.fill_between(x, low, high, step="post", color=style.colour, alpha=_FAINT, lw=0, zorder=1)
    else:
        ends = [y - low, high - y]
        axes.errorbar(x, y, yerr=ends, fmt="none", ecolor=style.colour, elinewidth=1.2, capsize=3, zorder=2)


def _draw_hull(axes: Any, panel: Panel, curve: Curve, style: Style, scale: tuple[float, float]) -> None:
    """Straight lines between the policies that are corners of the hull on validation."""
    sign = 1.0 if panel.quality.goal == "max" else -1.0
    corners = hull(curve.budgets, sign * curve.validation)
    axes.plot(
        scale[0] * curve.cost[corners], scale[1] * curve.quality[corners],
        color=style.colour, linestyle=(0, (2, 2)), lw=1.0, zorder=2,
    )  # fmt: skip


def _draw(axes: Any, curve: Curve, style: Style, scale: tuple[float, float], shade: _Shade | None) -> Any:
    """Draw one method's line and marks; return the legend's handle."""
    from matplotlib.lines import Line2D

    steps = _shown(curve)
    x, y = scale[0] * curve.cost[steps], scale[1] * curve.quality[steps]
    axes.plot(x, y, color=style.colour, linestyle=style.dash, drawstyle="steps-post", zorder=2)
    marks = _spread(x, y, _MOST_MARKS)
    fill: Any = style.colour
    if shade is not None:
        coverage = np.ones(len(curve.budgets)) if curve.coverage is None else curve.coverage
        fill = shade(coverage[steps][marks])
    size = 58.0 if len(x) > 1 else 78.0
    axes.scatter(
        x[marks], y[marks], s=size, marker=style.marker, c=fill, edgecolors=style.colour, linewidths=1.5, zorder=3
    )
    filling = "none" if shade is not None else style.colour
    return Line2D(
        [], [], color=style.colour, linestyle=style.dash, marker=style.marker, markerfacecolor=filling,
        markeredgewidth=1.5,
    )  # fmt: skip


def _thinned(count: int, most: int) -> NDArray[np.int64]:
    """Positions of at most ``most`` of ``count`` steps, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _spread(x: NDArray[np.float64], y: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Positions of at most ``most`` points, evenly along the line; its ends are always among them."""
    if len(x) <= 2:
        return np.arange(len(x))
    height = float(np.ptp(y)) or 1.0
    width = float(np.ptp(x)) or 1.0
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x) / width, np.diff(y) / height))])
    return np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], most)).clip(0, len(x) - 1))


def _words(panel: Panel, across: float, of_cost: str) -> str:
    """The figure in words: where each curve begins and ends."""
    scale, unit = (100.0, " %") if panel.quality.percent else (1.0, "")
    phrases = []
    for curve in panel.curves:
        a, b = curve, f"{scale * curve.quality[-1]:.4g}{unit} at cost {across * curve.cost[-1]:.3g}{of_cost}"
        begin = f"from {scale * a.quality[0]:.4g}{unit} at cost {across * a.cost[0]:.3g}{of_cost} to "
        phrases.append(f"{curve.method}: {begin if len(curve.budgets) > 1 else ''}{b}")
    bands = ", with 95 % bands" if any(map(has_band, panel.curves)) else ""
    return f"{panel.quality.title} against cost, on the test part, in steps{bands}. " + "; ".join(phrases) + "."
