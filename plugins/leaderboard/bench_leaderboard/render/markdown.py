"""Markdown: text that can inject nothing, numbers, tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from bench_analysis import Mean

__all__ = ["blocks", "code", "fenced", "number", "plain_number", "shown", "slug", "table", "text"]

_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "\\`*_[]#|~!$^"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "{": "&#123;", "}": "&#125;"}
)
_JOINERS = {"\u200d"}
_BLOCK_START = re.compile(r"^(?:([-+=:])|([0-9]+)([.)]))")
_LINKS = re.compile(r"(?i)\b(www)\.|(?<=[a-z])(:)(?=//)|(?<=[\w.+-])(@)(?=[\w-]+\.[\w-])")


def text(value: object) -> str:
    """Any text as one line of inert Markdown: it renders as itself, in a table's cell too.

    White space becomes single spaces; invisible characters that steer the output (controls, overrides of the
    writing direction) are dropped. Nothing in it can start a block, a link, an image, HTML, or a template's command.
    """
    line = " ".join(str(value).split())
    line = "".join(c for c in line if c.isprintable() or c in _JOINERS).translate(_SPECIAL)
    line = _LINKS.sub(lambda m: f"{m[1]}\\." if m[1] else "\\:" if m[2] else "&#64;", line)
    return _BLOCK_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", line)


def blocks(value: str) -> str:
    """Any text as inert paragraphs, which blank lines separate; each renders as `text` does.

    After the first paragraph, one that begins with ``- `` is a list, with an item for every line that begins so.
    """
    first, *more = re.split(r"\n\s*\n", value.strip())
    return "\n\n".join([text(first), *(_list_or_text(block.strip()) for block in more)])


def _list_or_text(block: str) -> str:
    if not block.startswith("- "):
        return text(block)
    return "\n".join(f"- {text(item)}" for item in re.split(r"\n\s*- ", block[2:]))


def code(value: object) -> str:
    """Any text as inline code on one line, in a table's cell too."""
    line = "".join(c for c in " ".join(str(value).split()) if c.isprintable()).replace("|", "¦")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if len(fence) > 1 else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def fenced(value: str) -> list[str]:
    """One line of text as a block of code."""
    line = "".join(c for c in " ".join(value.split()) if c.isprintable())
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return [fence, line, fence]


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading of this plain text."""
    anchor = "".join(c for c in heading.strip().lower() if c.isalnum() or c in " -_")
    return anchor.replace(" ", "-")


def number(mean: Mean, percent: bool = False) -> str:
    """A mean with its 95 % margin, as ``83.1 ± 0.4`` (percent) or with four significant digits.

    Where ± would leave the range of the quantity, the interval is given instead: ``27.2 [5.8, 127]``. The number of
    further seeds, on which the quantity is undefined, is appended.
    """
    if mean.count == 0 or math.isnan(mean.value):
        return f"– (undefined on {mean.undefined})" if mean.undefined else "–"
    lacking = f" (undefined on {mean.undefined})" if mean.undefined else ""
    return _with_margin(mean, percent) + lacking


def _with_margin(mean: Mean, percent: bool) -> str:
    value = shown(mean.value, percent)
    if math.isnan(mean.margin):
        return value
    if mean.margin <= 1e-9 * abs(mean.value):  # equal numbers, summed with rounding
        return f"{value} ± 0"
    if mean.is_bounded(percent):
        low, high = mean.interval(percent)
        return f"{value} [{shown(low, percent)}, {shown(high, percent)}]"
    return f"{value} ± {100 * mean.margin:.1f}" if percent else f"{value} ± {plain_number(mean.margin, 2)}"


def shown(value: float, percent: bool = False) -> str:
    """A number without a margin, in the form of `number`."""
    if math.isnan(value):
        return "–"
    return f"{100 * value:.1f}" if percent else plain_number(value)


def plain_number(value: float, digits: int = 4) -> str:
    """A number with ``digits`` significant digits, if possible without an exponent."""
    if value == 0 or math.isnan(value):
        return "0" if value == 0 else "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table. Cells are ready Markdown, of one line; the first ``left`` columns are aligned left.

    Cells are not padded: a page is half as large, and a change of one cell changes one line.
    """
    marks = [":--" if i < left else "--:" for i in range(len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, marks, *rows))
