"""For each price, the share of its features read down to each depth of a tree or cascade (CSTC Fig. 8 and 9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bench_leaderboard import canvas, legend, plain_text, shorten, style_of

from bench_cstc.figures.reading import DepthByPrice

__all__ = ["depth_figure"]


def depth_figure(panels: Sequence[tuple[str, DepthByPrice]], title: str) -> bytes:
    """Draw, in a panel per method, a line per price: the share of its features that classifiers down to a depth read.

    Args:
        panels: pairs of a method and the reading of its trees.
        title: the figure's heading.
    """
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    labels = list(dict.fromkeys(label for _, reading in panels for label in reading.labels))
    styles = {label: style_of(place) for place, label in enumerate(labels)}
    with canvas(0.6 + 2.9 * columns, 1.1 + 2.6 * rows) as page:
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        grid = page.figure.subplots(rows, columns, squeeze=False, sharey=True)
        handles = {}
        for axes in grid.ravel()[len(panels) :]:
            axes.set_axis_off()
        for axes, (method, reading) in zip(grid.ravel(), panels, strict=False):
            depths = np.arange(1, reading.shares.shape[1] + 1)
            for label, shares in zip(reading.labels, reading.shares, strict=True):
                style = styles[label]
                handles[label] = axes.plot(
                    depths, 100 * shares, color=style.colour, linestyle=style.dash, marker=style.marker
                )[0]
            axes.set_title(shorten(method, 26))
            axes.set_xlabel("Depth")
            axes.set_xticks(depths if len(depths) <= 12 else depths[:: -(-len(depths) // 12)])
            axes.set_xlim(0.7, depths[-1] + 0.3)
            axes.set_ylim(-4, 104)
        for row in grid:
            row[0].set_ylabel("Features read, %")
        counts = {
            label: count for _, reading in panels for label, count in zip(reading.labels, reading.counts, strict=True)
        }
        legend(page.figure, list(handles.values()), [f"{label} ({counts[label]})" for label in handles], 4)
        page.save(title, _words(panels))
        return bytes(page)


def _words(panels: Sequence[tuple[str, DepthByPrice]]) -> str:
    sentences = []
    for method, reading in panels:
        by_price = ", ".join(
            f"{label} {100 * shares[0]:.0f} % at depth 1 and {100 * shares[-1]:.0f} % at depth {len(shares)}"
            for label, shares in zip(reading.labels, reading.shares, strict=True)
        )
        sentences.append(f"{method} (mean of {reading.seeds} selected policies): {by_price}")
    return "Share of the features of each price that classifiers down to a depth read. " + "; ".join(sentences) + "."
