"""What a figure of a page is: its file, its words, and how to draw it; and the ranks one may be drawn of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench_leaderboard.analysis.curves import Panel

__all__ = ["Figure", "Ranking"]


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        kind: the kind of figure; see `bench_leaderboard.figures_schema.FigureEntry`.
        file: its file's name.
        section: heading of the section it stands in.
        heading: heading of its own.
        alt: alternative text.
        note: what the suite says about it.
        draw: gives the SVG.
        panel: the curves, for a figure of curves.
    """

    kind: str
    file: str
    section: str
    heading: str
    alt: str
    note: str
    draw: Callable[[], bytes]
    panel: Panel | None = None


@dataclass(frozen=True)
class Ranking:
    """Average ranks over data sets, for a critical difference diagram.

    Attributes:
        title: what is ranked.
        names, ranks: methods and their average ranks, 1 for the best.
        cd: Nemenyi's critical difference.
        note: a line below the diagram: the number of data sets, the level.
    """

    title: str
    names: tuple[str, ...]
    ranks: tuple[float, ...]
    cd: float
    note: str = ""
