"""Markdown: text that can inject nothing, and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench_core.analysis.summary import Mean

__all__ = ["number", "table", "text"]

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]#|~!$"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def text(value: object) -> str:
    """Any text as one line of inert Markdown: it renders as itself, in a table's cell too."""
    line = " ".join(str(value).split())
    return "".join(c for c in line if c.isprintable()).translate(_SPECIAL)


def number(mean: Mean, percent: bool = False) -> str:
    """A mean with its 95 % margin, as ``83.1 ± 0.4`` (percent) or with four significant digits."""
    if mean.count == 0 or math.isnan(mean.value):
        return "–"
    if percent:
        shown = f"{100 * mean.value:.1f}"
        return shown if math.isnan(mean.margin) else f"{shown} ± {100 * mean.margin:.1f}"
    shown = plain_number(mean.value)
    return shown if math.isnan(mean.margin) else f"{shown} ± {plain_number(mean.margin, 2)}"


def plain_number(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, without an exponent where it can be helped."""
    if value == 0 or math.isnan(value):
        return "0" if value == 0 else "–"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, the others to the right. Cells are ready Markdown."""
    from tabulate import tabulate

    align = ["left"] + ["right"] * (len(head) - 1)
    return tabulate(rows, headers=head, tablefmt="pipe", colalign=align, disable_numparse=True)
