"""Bars per method: coverage, accuracy and cost with 95 % intervals (EMSCO Figs. 8–11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bench_analysis import Row

from bench_core import Metric
from bench_leaderboard.render.figures.canvas import bare, canvas, plain_text, shorten
from bench_leaderboard.render.figures.palette import INK, Style
from bench_leaderboard.render.markdown import plain_number

__all__ = ["bar_figure"]


def bar_figure(rows: Sequence[Row], metrics: Sequence[Metric], styles: dict[str, Style], title: str) -> bytes:
    """One group of bars per metric, side by side, a bar per method with its 95 % interval.

    Args:
        rows: the table's rows, in order; methods without a value leave a gap.
        metrics: what is shown, each on a scale of its own that begins at 0.
        styles: method → how it is drawn.
        title: the figure's heading.
    """
    rows = [row for row in rows if row.means]
    place = np.arange(len(rows))
    with canvas(2.1 + 2.0 * len(metrics), 1.0 + 0.34 * len(rows)) as page:
        panels = page.figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        for axes, metric in zip(panels, metrics, strict=True):
            scale = 100.0 if metric.percent else 1.0
            most = 0.0
            for y, row in zip(place, rows, strict=True):
                most = max(most, _bar(axes, float(y), row, metric, scale, styles[row.method]))
            axes.set_title(f"{plain_text(metric.title or metric.name)}{' %' if metric.percent else ''}")
            axes.set_xlim(0, 1.3 * most if most > 0 else 1.0)
            if metric.percent and most <= 100:
                axes.set_xticks(np.arange(0, 101, 25 if most > 40 else 10))
            else:
                axes.locator_params(axis="x", nbins=4, steps=[1, 2, 2.5, 5, 10])
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0)
            bare(axes, "left")
        panels[0].set_yticks(place, [shorten(row.method, 24) for row in rows])
        panels[0].set_ylim(len(rows) - 0.5, -0.5)
        page.save(title, _words(rows, metrics))
        return bytes(page)


def _bar(axes: Any, y: float, row: Row, metric: Metric, scale: float, style: Style) -> float:
    """Draw one bar with its interval and its number; return the upper end of the interval."""
    mean = row.means.get(metric.name)
    if mean is None or not np.isfinite(mean.value):
        return 0.0
    value = scale * mean.value
    margin = scale * mean.margin if np.isfinite(mean.margin) else 0.0
    axes.barh(y, value, height=0.62, color=style.colour, edgecolor=style.colour)
    if margin > 0:
        axes.errorbar(value, y, xerr=margin, fmt="none", ecolor=INK.light, elinewidth=1.2, capsize=3)
    end = value + margin
    shown = f"{value:.1f}" if metric.percent else plain_number(value, 3)
    axes.annotate(
        shown, (end, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8, annotation_clip=False
    )
    return float(end)


def _words(rows: Sequence[Row], metrics: Sequence[Metric]) -> str:
    phrases = []
    for row in rows:
        numbers = []
        for metric in metrics:
            mean = row.means.get(metric.name)
            if mean is not None:
                shown = f"{100 * mean.value:.1f} %" if metric.percent else plain_number(mean.value)
                numbers.append(f"{metric.title or metric.name} {shown}")
        phrases.append(f"{row.method}: {', '.join(numbers)}")
    return "Means over seeds on the test part, with 95 % t intervals. " + "; ".join(phrases) + "."
