"""A figure's canvas: matplotlib without global state, and its SVG made small, themed and the same everywhere.

Text stays text (``svg.fonttype = none``). Its layout uses the metrics of the DejaVu Sans that matplotlib includes, so
the machine's fonts do not matter. Ids are salted with a constant, no date is written, coordinates are rounded to 0.01
point. Styles become classes; those of colours have dark values, which apply under ``prefers-color-scheme: dark``. A
background rectangle (the card) switches with them, so the figure is legible even where a page's theme and the reader's
preference disagree.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from bench_leaderboard.render.figures.palette import CARD, GRID, INK, MUTED, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Canvas", "bare", "canvas", "legend", "plain_text", "shorten"]

_STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED.light,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK.light,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK.light,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.unicode_minus": True,
    "figure.constrained_layout.h_pad": 0.09,
    "figure.constrained_layout.w_pad": 0.09,
    "figure.facecolor": "none",
    "figure.titlesize": 11,
    "figure.titleweight": "bold",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": GRID.light,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.labelcolor": INK.light,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "budgetbench",
    "text.color": INK.light,
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": MUTED.light,
    "xtick.labelcolor": INK.light,
    "xtick.labelsize": 8.5,
    "ytick.color": MUTED.light,
    "ytick.labelcolor": INK.light,
    "ytick.labelsize": 8.5,
}
_HANDLE, _LETTER = 0.6, 0.068
"""Widths in inches: of a legend's entry without its text, and of a letter on average."""
_FAMILY = "'DejaVu Sans',Verdana,sans-serif"


class Canvas:
    """A figure being drawn, and its bytes when it is done."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self._bytes = b""

    def save(self, title: str, description: str) -> None:
        """Turn the drawing into SVG.

        Args:
            title: what a screen reader announces.
            description: what it reads out: the figure in words.
        """
        sink = io.StringIO()
        unsaid = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            engine = self.figure.get_layout_engine()
            if engine is not None:  # laid out here; with any engine left, savefig would draw everything twice
                engine.execute(self.figure)
                self.figure.set_layout_engine(None)
                # The layout's solver differs in the last bits from process to process.
                for axes in self.figure.axes:
                    axes.set_position([round(edge, 5) for edge in axes.get_position().bounds])  # type: ignore[arg-type]
            self.figure.savefig(sink, format="svg", metadata=unsaid)
        self._bytes = _finish(sink.getvalue(), title, description)

    def __bytes__(self) -> bytes:
        return self._bytes


@contextmanager
def canvas(width: float, height: float) -> Iterator[Canvas]:
    """A figure of this size in inches, in this project's style; the style of the process does not change."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        style: Any = _STYLE
        mpl.rcParams.update(style)
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield Canvas(figure)


def plain_text(value: object) -> str:
    """Any text as one printable line, fit for XML."""
    return "".join(c for c in " ".join(str(value).split()) if c.isprintable())


def shorten(value: object, most: int = 28) -> str:
    """A text as one line of at most ``most`` characters, shortened with an ellipsis."""
    line = plain_text(value)
    return line if len(line) <= most else line[: most - 1] + "…"


def legend(figure: Figure, handles: list[Any], labels: list[str], columns: int) -> None:
    """A legend below the figure, in as many columns as fit its width, but at most ``columns``.

    Names may begin with an underscore, which matplotlib would leave out.
    """
    longest = max((len(shorten(label)) for label in labels), default=1)
    columns = min(columns, int(figure.get_figwidth() / (_HANDLE + _LETTER * longest)))
    placed = figure.legend(
        handles,
        [f"entry {i}" for i in range(len(labels))],
        loc="outside lower center",
        ncols=max(1, min(columns, len(labels))),
        handlelength=2.6,
        columnspacing=1.4,
    )
    for entry, label in zip(placed.get_texts(), labels, strict=True):
        entry.set_text(shorten(label))


def bare(axes: Axes, *sides: str) -> None:
    """Hide some sides of the frame."""
    for side in sides:
        axes.spines[side].set_visible(False)


_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")


def _finish(drawn: str, title: str, description: str) -> bytes:
    """matplotlib's SVG, without its metadata and with title, description, card and colour classes."""
    there = ElementTree.fromstring(drawn)
    inks = {ink.light: f"c{number}" for number, ink in enumerate(themed().values())}
    used = {("fill", CARD.light)}
    for element in there.iter():
        _tidy(element, inks, used)
    looks: dict[str, str] = {}
    for element in there.iter():
        if style := element.attrib.pop("style", ""):
            look = looks.setdefault(style, f"a{len(looks)}")
            element.set("class", f"{element.get('class', '')} {look}".lstrip())
    light, dark = [], []
    for kind, colour in sorted(used):
        ink = themed()[colour]
        light.append(f".{kind[0]}{inks[colour]}{{{kind}:{ink.light}}}")
        dark.append(f".{kind[0]}{inks[colour]}{{{kind}:{ink.dark}}}")
    sheet = [
        "*{stroke-linejoin:round;stroke-linecap:butt}",
        f"text{{font-family:{_FAMILY}}}",
        *(f".{look}{{{style}}}" for style, look in looks.items()),
        *light,
        f"@media (prefers-color-scheme:dark){{{''.join(dark)}}}",
    ]
    spaces = {"xmlns": _SVG.strip("{}"), "xmlns:xlink": _LINK.strip("{}"), "version": "1.1"}
    size = {key: there.attrib[key] for key in ("width", "height", "viewBox")}
    svg = ElementTree.Element("svg", {**spaces, **size, "role": "img", "aria-labelledby": "title desc"})
    svg.text = "\n"
    ElementTree.SubElement(svg, "title", {"id": "title"}).text = plain_text(title)
    ElementTree.SubElement(svg, "desc", {"id": "desc"}).text = plain_text(description)
    ElementTree.SubElement(svg, "style").text = "\n".join(["", *sheet, ""])
    ElementTree.SubElement(svg, "rect", {"width": "100%", "height": "100%", "rx": "6", "class": f"f{inks[CARD.light]}"})
    svg.extend(child for child in there if child.tag != "metadata" and child.find("style") is None)
    for child in svg:
        child.tail = "\n"
    text = ElementTree.tostring(svg, encoding="unicode").replace(" />", "/>")  # no text or attribute has a ">"
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _tidy(element: ElementTree.Element, inks: dict[str, str], used: set[tuple[str, str]]) -> None:
    """Round an element's numbers, and put classes in place of the themed colours of its style."""
    element.tag = element.tag.removeprefix(_SVG)
    element.text, element.tail = _unindented(element.text), _unindented(element.tail)
    given = {key.replace(_LINK, "xlink:"): value for key, value in element.attrib.items()}
    element.attrib.clear()
    for key, value in given.items():
        rounded = _LONG_NUMBER.sub(lambda number: _rounded(number[0]), value)
        if key == "style":
            element.attrib.update(_styled(rounded, inks, used))
        else:
            element.set(key, " ".join(rounded.split()) if key == "d" else rounded)


def _unindented(text: str | None) -> str | None:
    return "\n" if text and "\n" in text and not text.strip() else text


def _styled(style: str, inks: dict[str, str], used: set[tuple[str, str]]) -> dict[str, str]:
    """A style's themed colours as classes, and the rest of it."""
    classes, declarations = [], []
    for declaration in style.split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key in ("fill", "stroke") and value in inks:
            classes.append(f"{key[0]}{inks[value]}")
            used.add((key, value))
        elif key == "font":
            declarations.append(_font(value))
        elif key and key != "font-family":
            declarations.append(f"{key}:{value}")
    attributes = {"class": " ".join(classes), "style": ";".join(declarations)}
    return {key: value for key, value in attributes.items() if value}


def _font(shorthand: str) -> str:
    """Weight and size of a ``font`` shorthand; the family is the style sheet's."""
    words = shorthand.split()
    weight = [f"font-weight:{word}" for word in words[:1] if word == "bold" or word.isdigit()]
    return ";".join([*weight, *(f"font-size:{word}" for word in words if word.endswith("px"))])


def _rounded(number: str) -> str:
    short = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if short in ("-0", "") else short
