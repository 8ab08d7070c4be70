"""A series of the fit's history, generation by generation (EMSCO Fig. 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bench_analysis import Series

from bench_leaderboard.render.figures.canvas import canvas, plain_text, shorten
from bench_leaderboard.render.figures.palette import MUTED, Style

__all__ = ["history_figure"]

_FEW = 3


def history_figure(
    panels: Mapping[tuple[str, str], Series],
    styles: dict[str, Style],
    title: str,
    axis: str = "step",
    reference: str = "",
) -> bytes:
    """A panel per data set (row) and method (column) with the 95 % band; three in a row for a single method.

    Args:
        panels: (data set, method) → its series; pairs that are missing stay empty.
        styles: method → how it is drawn.
        title: the figure's heading.
        axis: label of the horizontal axis.
        reference: name of the dashed line.
    """
    datasets = list(dict.fromkeys(dataset for dataset, _ in panels))
    methods = [name for name in styles if any(name == method for _, method in panels)]
    cells = [(dataset, method) for dataset in datasets for method in methods]
    columns = len(methods) if len(methods) > 1 else min(_FEW, len(cells))
    rows = -(-len(cells) // columns)
    with canvas(max(4.6, 0.6 + 2.7 * columns), 0.7 + 1.9 * rows) as page:
        grid = page.figure.subplots(rows, columns, squeeze=False).ravel()
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        for place, axes in enumerate(grid):
            cell = cells[place] if place < len(cells) else None
            if cell is None or cell not in panels:
                axes.set_axis_off()
                continue
            axes.set_title(f"{shorten(cell[0], 18)} · {shorten(cell[1], 18)}", fontsize=9)
            _draw(axes, panels[cell], styles[cell[1]], reference)
            if place + columns >= len(cells):
                axes.set_xlabel(plain_text(axis))
        page.save(title, _words(panels, axis))
        return bytes(page)


def _draw(axes: Any, series: Series, style: Style, reference: str) -> None:
    margin = np.nan_to_num(series.margin)
    low, high = series.mean - margin, series.mean + margin
    positive = bool(series.mean.min() >= 0)
    if positive:
        low = np.maximum(low, 0.0)
    axes.fill_between(series.at, low, high, color=style.colour, alpha=0.3, lw=0)
    axes.plot(series.at, series.mean, color=style.colour, linestyle=style.dash, lw=1.4)
    top = float(high.max())
    if series.reference is not None:
        axes.axhline(series.reference, color=MUTED.light, lw=1.1, linestyle=(0, (4, 3)))
        axes.annotate(
            f"{plain_text(reference).replace('_', ' ')} {series.reference:.4g}", (1, series.reference),
            xycoords=("axes fraction", "data"), xytext=(0, 2), textcoords="offset points",
            ha="right", va="bottom", fontsize=7.5, color=MUTED.light,
        )  # fmt: skip
        top = max(top, series.reference)
    if positive and top > 0:
        axes.set_ylim(0, 1.16 * top)
    axes.margins(x=0.02)
    axes.locator_params(axis="x", nbins=5)
    axes.locator_params(axis="y", nbins=5)


def _words(panels: Mapping[tuple[str, str], Series], axis: str) -> str:
    phrases = [
        f"{dataset}, {method}: {series.mean[0]:.4g} at {axis} {series.at[0]} to {series.mean[-1]:.4g} at {axis} "
        f"{series.at[-1]}"
        for (dataset, method), series in panels.items()
    ]
    return "Means over seeds with 95 % bands. " + "; ".join(phrases) + "."
