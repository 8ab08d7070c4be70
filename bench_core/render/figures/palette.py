"""Colours that switch with the page's scheme, and what else tells methods apart.

The hues are Okabe and Ito's (https://jfly.uni-koeln.de/color/), darkened on the light card and lightened on the dark
one until each has a contrast of at least 3 : 1 there (WCAG 1.4.11); texts have at least 4.5 : 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CARD", "FADED", "GRID", "HUES", "INK", "MUTED", "Ink", "Look", "look_of", "themed"]


@dataclass(frozen=True)
class Ink:
    """One colour on the light and on the dark card, as ``#rrggbb``. The light one is what is drawn with."""

    light: str
    dark: str


CARD = Ink("#fffffe", "#0d1117")
INK = Ink("#1f2329", "#e6edf3")
MUTED = Ink("#57606b", "#9aa4af")
GRID = Ink("#d9dee4", "#2a313a")
FADED = Ink("#eff2f5", "#171d26")
HUES = (
    Ink("#0072b2", "#4ba3e3"),
    Ink("#d55e00", "#f07f2e"),
    Ink("#00875f", "#1fb98a"),
    Ink("#b8568f", "#e09bc2"),
    Ink("#a87400", "#e6a91a"),
    Ink("#3b4048", "#c9d1d9"),
    Ink("#2b8cc4", "#7cc7f2"),
    Ink("#857c00", "#efe35a"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "<", ">")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)


@dataclass(frozen=True)
class Look:
    """How one method is drawn in every figure of a suite."""

    colour: str
    marker: str
    dash: Any


def look_of(place: int) -> Look:
    """The look of a suite's n-th method, from 0; the first 440 differ."""
    return Look(
        colour=HUES[place % len(HUES)].light,
        marker=_MARKERS[place % len(_MARKERS)],
        dash=_DASHES[place % len(_DASHES)],
    )


def themed() -> dict[str, Ink]:
    """Light colour → the ink it stands for."""
    return {ink.light: ink for ink in (CARD, INK, MUTED, GRID, FADED, *HUES)}
