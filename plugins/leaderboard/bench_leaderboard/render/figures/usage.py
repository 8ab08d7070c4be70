"""How often each feature is acquired, and at which stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bench_analysis import Usage

from bench_leaderboard.render.figures.canvas import bare, canvas, legend, plain_text, shorten
from bench_leaderboard.render.figures.palette import MUTED, Style

__all__ = ["usage_figure"]

_MOST_NAMES = 40
_SHADES = 8


def usage_figure(panels: Sequence[tuple[str, Usage]], title: str, styles: dict[str, Style]) -> bytes:
    """Share of test rows that acquired each feature.

    Up to 40 features are named: a mark per method, or, for a method whose record distinguishes exit stages, a map of
    stages × features. More are drawn as each method's shares in falling order.

    Args:
        panels: (method, its usage).
        title: the figure's heading.
        styles: method → how it is drawn.
    """
    count = max(len(usage.features) for _, usage in panels)
    if count > _MOST_NAMES:
        return _profile(panels, styles, title)
    staged = [(method, usage) for method, usage in panels if len(usage.shares) > 1]
    height = 1.3 + 0.21 * count
    with canvas(5.2 + 2.6 * len(staged), height) as page:
        ratios = [4.0, *(max(1.2, 0.36 * len(usage.shares)) for _, usage in staged)]
        grid = page.figure.subplots(1, 1 + len(staged), squeeze=False, sharey=True, width_ratios=ratios)[0]
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        handles = _marks(grid[0], panels, styles)
        for axes, (method, usage) in zip(grid[1:], staged, strict=True):
            drawn = _map(axes, method, usage)
            if axes is grid[-1]:
                _scale(page.figure, axes, drawn)
        names = next(usage.features for _, usage in panels if len(usage.features) == count)
        grid[0].set_yticks(np.arange(count), [shorten(name, 22) for name in names])
        grid[0].set_ylim(count - 0.5, -0.5)
        legend(page.figure, handles, [method for method, _ in panels], 4)
        page.save(title, _words(panels))
        return bytes(page)


def _marks(axes: Any, panels: Sequence[tuple[str, Usage]], styles: dict[str, Style]) -> list[Any]:
    spread = np.linspace(-0.28, 0.28, len(panels)) if len(panels) > 1 else np.zeros(1)
    handles = []
    for (method, usage), shift in zip(panels, spread, strict=True):
        style = styles[method]
        place = np.arange(len(usage.features)) + shift
        handles += axes.plot(
            100 * usage.total, place, linestyle="none", marker=style.marker, color=style.colour, markersize=4.5
        )
    axes.set_xlim(-3, 103)
    axes.set_xlabel("Test rows that acquired it, %")
    axes.set_title("All stages")
    return handles


def _map(axes: Any, method: str, usage: Usage) -> Any:
    from matplotlib import colormaps
    from matplotlib.colors import BoundaryNorm, ListedColormap

    stages, features = usage.shares.shape
    colours = ListedColormap(colormaps["cividis"](np.linspace(0.0, 1.0, _SHADES)))
    drawn = axes.pcolormesh(
        np.arange(stages + 1) + 0.5, np.arange(features + 1) - 0.5, 100 * usage.shares.T,
        cmap=colours, norm=BoundaryNorm(np.linspace(0, 100, _SHADES + 1), _SHADES), rasterized=False,
    )  # fmt: skip
    axes.set_xticks(np.arange(1, stages + 1))
    axes.set_xlabel("Exit stage")
    axes.set_title(shorten(method, 20))
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    bare(axes, "left", "bottom")
    return drawn


def _scale(figure: Any, axes: Any, drawn: Any) -> None:
    bar = figure.colorbar(drawn, ax=axes, fraction=0.06, pad=0.03, ticks=[0, 25, 50, 75, 100])
    bar.solids.set_rasterized(False)
    bar.set_label("Test rows, %")
    bar.outline.set_edgecolor(MUTED.light)


def _profile(panels: Sequence[tuple[str, Usage]], styles: dict[str, Style], title: str) -> bytes:
    with canvas(7.0, 4.2) as page:
        axes = page.figure.subplots()
        handles = []
        for method, usage in panels:
            style = styles[method]
            shares = 100 * np.sort(usage.total)[::-1]
            handles += axes.plot(
                np.arange(1, len(shares) + 1), shares, color=style.colour, linestyle=style.dash, marker=style.marker,
                markevery=max(1, len(shares) // 10),
            )  # fmt: skip
        axes.set_title(plain_text(title))
        axes.set_xlabel("Features, each method's most acquired first")
        axes.set_ylabel("Test rows that acquired it, %")
        axes.set_ylim(-3, 103)
        axes.margins(x=0.02)
        legend(page.figure, handles, [method for method, _ in panels], 4)
        page.save(title, _words(panels))
        return bytes(page)


def _words(panels: Sequence[tuple[str, Usage]]) -> str:
    phrases = []
    for method, usage in panels:
        total = usage.total
        best = ", ".join(f"{usage.features[f]} {100 * total[f]:.0f} %" for f in np.argsort(-total, kind="stable")[:5])
        phrases.append(f"{method}: {best}")
    return "Share of test rows that acquired each feature, the most acquired first. " + "; ".join(phrases) + "."
