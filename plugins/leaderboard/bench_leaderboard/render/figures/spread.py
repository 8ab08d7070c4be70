"""Histograms of the base models run per test row (QWYC Figs. 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench_leaderboard.analysis.base_models import Spread
from bench_leaderboard.render.figures.canvas import canvas, plain_text, shorten
from bench_leaderboard.render.figures.palette import INK, Style
from bench_leaderboard.render.markdown import plain_number

__all__ = ["spread_figure"]

_COLUMNS = 3
_FEW = 20


def spread_figure(panels: Sequence[tuple[str, Spread]], styles: dict[str, Style], title: str) -> bytes:
    """A panel per method, three in a row, all on the same scales.

    Args:
        panels: (method, its histogram).
        styles: method → how it is drawn.
        title: the figure's heading.
    """
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    end = max(spread.width * len(spread.shares) for _, spread in panels)
    # Rows that run everything tower over the rest: a scale of roots keeps the tail in sight.
    top = 100 * max(float(spread.shares.max()) for _, spread in panels)
    with canvas(1.0 + 2.6 * columns, 0.7 + 1.9 * rows) as page:
        grid = page.figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        for place, axes in enumerate(grid):
            if place >= len(panels):
                axes.set_axis_off()
                continue
            method, spread = panels[place]
            _draw(axes, spread, styles[method], end, top)
            mean = "" if spread.mean is None else f": mean {plain_number(spread.mean, 3)}"
            axes.set_title(f"{shorten(method, 26)}{mean}", fontsize=9)
            if place + columns >= len(panels):
                axes.set_xlabel("Base models run")
                axes.tick_params(axis="x", labelbottom=True)
            if place % columns == 0:
                axes.set_ylabel("Test rows, %")
        page.save(title, _words(panels))
        return bytes(page)


def _draw(axes: Any, spread: Spread, style: Style, end: int, top: float) -> None:
    apart = 0.9 if len(spread.shares) <= _FEW else 1.0
    middle = spread.width * (np.arange(len(spread.shares)) + 0.5) + 0.5
    axes.bar(middle, 100 * spread.shares, apart * spread.width, color=style.colour, edgecolor="none", lw=0)
    axes.set_yscale("function", functions=(_root, np.square))
    axes.set_ylim(0, 1.08 * top)
    axes.set_yticks([tick for tick in (0.1, 1.0, 5.0, 10.0, 25.0, 50.0, 100.0) if tick <= 1.08 * top])
    axes.set_yticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlim(0.5, end + 0.5)
    axes.locator_params(axis="x", nbins=5, integer=True)
    axes.grid(visible=False, axis="x")
    if spread.mean is not None:
        axes.axvline(spread.mean, color=INK.light, lw=1.1, linestyle=(0, (4, 3)))


def _root(values: Any) -> Any:
    return np.sqrt(np.maximum(values, 0.0))


def _words(panels: Sequence[tuple[str, Spread]]) -> str:
    said = []
    for method, spread in panels:
        half = int(np.searchsorted(np.cumsum(spread.shares), 0.5))
        mean = "" if spread.mean is None else f"mean {plain_number(spread.mean, 3)}, "
        said.append(
            f"{method}: {mean}half of the rows run at most {spread.width * (half + 1)}, "
            f"{100 * spread.shares[-1]:.1f} % more than {spread.width * (len(spread.shares) - 1)}"
        )
    return "Share of test rows by base models run. " + "; ".join(said) + "."
