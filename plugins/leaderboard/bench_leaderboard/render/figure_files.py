"""A page's figures as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench_leaderboard.render.figure import Figure

__all__ = ["figure_files"]


def figure_files(figures: Sequence[Figure], folder: Path) -> dict[Path, bytes]:
    """A page's figures as file contents. Nothing is written.

    Args:
        figures: from `bench_leaderboard.render.page_figures.figures_of`.
        folder: where they belong: ``<leaderboard>/<suite's name>``.
    """
    return {folder / figure.file: figure.draw() for figure in figures}
