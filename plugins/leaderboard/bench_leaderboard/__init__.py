"""The leaderboard: from a suite's records to tables, claims, figures, pages and a site.

The names below are what a plugin needs that brings a kind of figure (`bench_leaderboard.hookspecs`). They are loaded on
first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_core import lazy_names

if TYPE_CHECKING:
    from bench_leaderboard.analysis.assignments import feature_classes
    from bench_leaderboard.analysis.records import Records
    from bench_leaderboard.analysis.summary import Mean, mean_with_margin, overlap
    from bench_leaderboard.hookspecs import RegisterFigure
    from bench_leaderboard.render.figure import Figure, FigureEntry, FigureKind
    from bench_leaderboard.render.figure_builder import FigureBuilder
    from bench_leaderboard.render.figures.canvas import bare, canvas, legend, plain_text, shorten
    from bench_leaderboard.render.figures.palette import FADED, GRID, INK, MUTED, Style, style_of
    from bench_leaderboard.render.markdown import plain_number

_HOMES = {
    "FADED": "render.figures.palette",
    "Figure": "render.figure",
    "FigureBuilder": "render.figure_builder",
    "FigureEntry": "render.figure",
    "FigureKind": "render.figure",
    "GRID": "render.figures.palette",
    "INK": "render.figures.palette",
    "MUTED": "render.figures.palette",
    "Mean": "analysis.summary",
    "Records": "analysis.records",
    "RegisterFigure": "hookspecs",
    "Style": "render.figures.palette",
    "bare": "render.figures.canvas",
    "canvas": "render.figures.canvas",
    "feature_classes": "analysis.assignments",
    "legend": "render.figures.canvas",
    "mean_with_margin": "analysis.summary",
    "overlap": "analysis.summary",
    "plain_number": "render.markdown",
    "plain_text": "render.figures.canvas",
    "shorten": "render.figures.canvas",
    "style_of": "render.figures.palette",
}

__all__ = [
    "FADED",
    "GRID",
    "INK",
    "MUTED",
    "Figure",
    "FigureBuilder",
    "FigureEntry",
    "FigureKind",
    "Mean",
    "Records",
    "RegisterFigure",
    "Style",
    "bare",
    "canvas",
    "feature_classes",
    "legend",
    "mean_with_margin",
    "overlap",
    "plain_number",
    "plain_text",
    "shorten",
    "style_of",
]

__getattr__ = lazy_names(__name__, _HOMES)
