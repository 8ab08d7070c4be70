"""The page's table of grids whose end wins."""

from __future__ import annotations

from collections.abc import Sequence

from bench_core.suites import Suite
from bench_leaderboard.analysis.grid_ends import GridEnd
from bench_leaderboard.render.markdown import plain_number, table, text
from bench_leaderboard.render.tables import heading

__all__ = ["grid_section"]

_READ = (
    "Here validation selects, on at least half of the seeds, the least or the greatest value that was tried, so that a "
    "better one may lie beyond the grid. Found in the records; a least value of 0 is where a parameter ends by itself."
)


def grid_section(suite: Suite, grid_ends: Sequence[GridEnd]) -> list[str]:
    """The section; nothing where no end wins."""
    if not grid_ends:
        return []
    body = [
        [
            text(heading(suite, grid_end.dataset, grid_end.costs)),
            text(grid_end.method),
            text(grid_end.parameter),
            f"{_plain(grid_end.grid[0])} to {_plain(grid_end.grid[-1])}, {len(grid_end.grid)} values",
            f"{_plain(grid_end.end)}, the {'least' if grid_end.end == grid_end.grid[0] else 'greatest'}",
            f"{grid_end.seeds} of {grid_end.of}",
        ]
        for grid_end in grid_ends
    ]
    head = ["Data set", "Method", "Parameter", "Tried", "Selected", "Seeds"]
    return ["## Grids whose end wins", "", _READ, "", table(head, body, 5), ""]


def _plain(value: float) -> str:
    return plain_number(value) if abs(value) >= 1e9 or value != round(value, 6) else f"{value:g}"
