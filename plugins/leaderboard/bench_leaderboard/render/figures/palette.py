"""Colours that switch with the page's scheme, and what else distinguishes methods.

The first hues are Okabe and Ito's (https://jfly.uni-koeln.de/color/), darkened on the light card and lightened on the
dark one; each further one was chosen as far from those before it as can be, by distance in OKLab
(https://bottosson.github.io/posts/oklab/). All have a contrast of at least 3 : 1 to their card (WCAG 1.4.11); texts
have at least 4.5 : 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CARD", "FADED", "GRID", "HUES", "INK", "MUTED", "Ink", "Style", "style_of", "themed"]


@dataclass(frozen=True)
class Ink:
    """One colour on the light and on the dark card, as ``#rrggbb``. Figures are drawn with the light one."""

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
    Ink("#6000a0", "#a870f0"),
    Ink("#900010", "#e06870"),
    Ink("#9068f8", "#b0b0f8"),
    Ink("#000890", "#4070e0"),
    Ink("#9090a0", "#f8e0a8"),
    Ink("#580048", "#a86098"),
    Ink("#005000", "#789848"),
    Ink("#28a800", "#88f078"),
    Ink("#980088", "#e870d8"),
    Ink("#3040c8", "#8090f8"),
    Ink("#705098", "#9898b0"),
    Ink("#805850", "#c8a888"),
    Ink("#f85070", "#f8b8b0"),
    Ink("#5090f8", "#70d0f8"),
    Ink("#d060e0", "#f8c0f8"),
    Ink("#582000", "#a87058"),
    Ink("#00a0b8", "#78f8f0"),
    Ink("#382870", "#8078b8"),
    Ink("#c80848", "#f89088"),
    Ink("#606800", "#a0c068"),
    Ink("#809860", "#b0e0b0"),
    Ink("#406870", "#88b8a8"),
    Ink("#c88078", "#f8d8d0"),
    Ink("#803058", "#c08098"),
    Ink("#a880d0", "#e0a0f8"),
    Ink("#9038c0", "#d080f8"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "<", ">")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)))


@dataclass(frozen=True)
class Style:
    """How one method is drawn in every figure of a suite."""

    colour: str
    marker: str
    dash: Any


def style_of(place: int) -> Style:
    """The style of a suite's n-th method, from 0; the first 256 differ in their colour."""
    return Style(
        colour=_INKS[place % len(_INKS)].light,
        marker=_MARKERS[place % len(_MARKERS)],
        dash=_DASHES[place % len(_DASHES)],
    )


def themed() -> dict[str, Ink]:
    """Light colour → the ink it stands for."""
    return {ink.light: ink for ink in (CARD, INK, MUTED, GRID, FADED, *_INKS)}


def _towards(colour: str, other: str, share: float) -> str:
    """A colour moved by a share of the way to another."""
    parts = [(int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in parts)


# The hues, then the same again in rounds, each nearer to the colour of text: still different, and never less legible.
_INKS = tuple(
    Ink(_towards(hue.light, INK.light, share), _towards(hue.dark, INK.dark, share))
    for share in (0.0, 0.3, 0.5, 0.64, 0.74, 0.81, 0.86, 0.9)
    for hue in HUES
)
