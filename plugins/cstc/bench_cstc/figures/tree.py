"""Draws a learned tree or cascade: features of each classifier, share of rows, their mean label (CSTC Fig. 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bench_leaderboard import FADED, GRID, INK, MUTED, canvas, plain_text, shorten

from bench_cstc.figures.reading import ShownTree, Tree

__all__ = ["places_of", "tree_figure"]

_BOX, _GAP, _ROW, _HEIGHT = 2.3, 0.55, 0.8, 0.64
_WIDE = 5.2
"""Sizes in inches: a tree's box, the gap between levels, the distance of boxes, a box's height; a chain's box."""

_MOST = 10
"""Maximum number of a policy's trees that are drawn: those of the first classes."""


def places_of(tree: Tree) -> list[tuple[float, float]]:
    """Positions of nodes: (level, row) from 0; rows are integers for leaves, and parents are centred on their children.

    In a chain, positions are (0, level).
    """
    if tree.is_chain:
        return [(0.0, node.depth - 1.0) for node in tree.nodes]
    rows = [0.0] * len(tree.nodes)
    below = iter(range(len(tree.nodes)))

    def settle(place: int) -> float:
        children = tree.children[place]
        rows[place] = float(np.mean([settle(child) for child in children])) if children else float(next(below))
        return rows[place]

    settle(0)
    return [(node.depth - 1.0, row) for node, row in zip(tree.nodes, rows, strict=True)]


def label(tree: Tree, place: int) -> str:
    """The name of a node: v0 for the root, then level by level as in a full tree; v0, v1, … down a chain."""
    return f"v{place if tree.is_chain else tree.nodes[place].name - 1}"


def tree_figure(panels: Sequence[tuple[str, Sequence[ShownTree]]], title: str) -> bytes:
    """Draw boxes and branches, with a panel per tree; the upper branch is that of scores above the threshold.

    The width of a branch shows the share of rows that take it; the colour of a box's edge shows their mean label.

    Args:
        panels: (method, its trees).
        title: the figure's heading.
    """
    named = [
        (f"{shorten(method, 40)}{shown.of and ', '}{shown.of}: seed {shown.seed}", shown)
        for method, trees in panels
        for shown in trees[:_MOST]
    ]
    sizes = [_size(shown.tree) for _, shown in named]
    width = max(width for width, _ in sizes) + 0.3
    heights = [height + 0.45 for _, height in sizes]
    total = 0.45 + sum(heights)
    with canvas(max(width, 6.0), total) as page:
        page.figure.set_layout_engine("none")
        page.figure.suptitle(plain_text(title), x=0.01, y=1 - 0.1 / total, ha="left", va="top")
        top = total - 0.4
        for (heading, shown), height in zip(named, heights, strict=True):
            top -= height
            axes = page.figure.add_axes((0.0, top / total, 1.0, (height - 0.25) / total))
            axes.set_axis_off()
            axes.set_xlim(0, max(width, 6.0))
            axes.set_ylim(height - 0.25, 0)
            page.figure.text(
                0.01, (top + height - 0.12) / total, heading, weight="bold",
                fontsize=10, va="center",
            )  # fmt: skip
            _draw(axes, shown)
        page.save(title, " ".join(f"{heading}: {_words(shown)}" for heading, shown in named))
        return bytes(page)


def _size(tree: Tree) -> tuple[float, float]:
    places = places_of(tree)
    levels, rows = (1 + max(place[axis] for place in places) for axis in (0, 1))
    return (_WIDE if tree.is_chain else levels * (_BOX + _GAP) - _GAP), rows * _ROW


def _draw(axes: Any, shown: ShownTree) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    tree = shown.tree
    box = _WIDE if tree.is_chain else _BOX
    corners = [(0.15 + level * (_BOX + _GAP), 0.05 + row * _ROW) for level, row in places_of(tree)]
    colours = _colours(tree)
    for place, node in enumerate(tree.nodes):
        if node.name > 1:
            _branch(axes, corners[tree.parent(place)], corners[place], box, node.share, tree.is_chain)
    for place, node in enumerate(tree.nodes):
        x, y = corners[place]
        axes.add_patch(
            FancyBboxPatch(
                (x, y), box, _HEIGHT, boxstyle="round,pad=0,rounding_size=0.06", facecolor=FADED.light,
                edgecolor=GRID.light, linewidth=1.0, zorder=3,
            )
        )  # fmt: skip
        if colours[place] is not None:
            axes.add_patch(Rectangle((x, y + 0.06), 0.08, _HEIGHT - 0.12, color=colours[place], linewidth=0, zorder=4))
        mean = "" if node.mean is None else f", mean {node.mean:.3g}"
        share = "" if node.share is None else f"{100 * node.share:.0f} % of rows"
        new = shown.new(place)
        paid = "" if shown.paid is None else f", paid {shown.paid[place]:.5g}"
        count = len(node.features)
        reads = f"reads {count}, {len(new)} new{paid}" if count else f"reads nothing{paid}"
        names = ", ".join(shown.names[f] for f in [*new, *(f for f in node.features if f not in new)])
        for line, (text, size, ink, weight) in enumerate(
            (
                (f"{label(tree, place)}: {share}{mean}", 8.0, INK.light, "bold"),
                (reads, 7.5, INK.light, "normal"),
                (names, 7.5, MUTED.light, "normal"),
            )
        ):
            axes.text(
                x + 0.15, y + 0.15 + 0.175 * line, shorten(text, int((box - 0.2) / (0.0085 * size))),
                fontsize=size, color=ink, weight=weight, va="center", zorder=5,
            )  # fmt: skip


def _branch(
    axes: Any, start: tuple[float, float], end: tuple[float, float], box: float, share: float | None, down: bool
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if down:
        a, b = (start[0] + 0.4, start[1] + _HEIGHT), (end[0] + 0.4, end[1])
        path = Path([a, b])
    else:
        a, b = (start[0] + box, start[1] + _HEIGHT / 2), (end[0], end[1] + _HEIGHT / 2)
        half = (a[0] + b[0]) / 2
        path = Path([a, (half, a[1]), (half, b[1]), b], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    wide = 1.0 + 9.0 * (share or 0.0)
    axes.add_patch(PathPatch(path, facecolor="none", edgecolor=MUTED.light, linewidth=wide, zorder=2))


def _colours(tree: Tree) -> list[Any]:
    """A colour for each node by its mean label; None without one."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    means = [node.mean for node in tree.nodes if node.mean is not None]
    low, high = (min(means), max(means)) if means else (0.0, 0.0)
    span = high - low if high > low else 1.0
    scale = colormaps["cividis"]
    return [None if n.mean is None else to_hex(scale((n.mean - low) / span)) for n in tree.nodes]


def _words(shown: ShownTree) -> str:
    sentences = []
    for place, node in enumerate(shown.tree.nodes):
        above = "" if node.name == 1 else f" below {label(shown.tree, shown.tree.parent(place))}"
        share = "" if node.share is None else f", {100 * node.share:.0f} % of rows"
        mean = "" if node.mean is None else f", mean label {node.mean:.3g}"
        sentences.append(
            f"{label(shown.tree, place)}{above}{share}{mean}, reads {len(node.features)}, {len(shown.new(place))} new"
        )
    return "; ".join(sentences) + "."
