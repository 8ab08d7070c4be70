"""CSV that a spreadsheet only shows: no text in it is run as a formula."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import Any

__all__ = ["csv_text", "inert"]

_RUN = ("=", "+", "-", "@", "\t", "\r")
"""What begins a formula, by OWASP's "CSV Injection"."""


def inert(cell: Any) -> Any:
    """A cell as it is, and a text that a spreadsheet would run with ``'`` before it.

    A carriage return becomes a line feed: readers take it for the end of a row where it is not quoted.
    """
    if not isinstance(cell, str):
        return cell
    return ("'" * cell.startswith(_RUN) + cell).replace("\r\n", "\n").replace("\r", "\n")


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]], digits: int = 0) -> str:
    """A table as CSV.

    Args:
        head: the columns' names.
        rows: the cells. A number has to be given as one: a text that begins with a sign is made inert.
        digits: significant digits of floating-point numbers, of which those that are not finite are left empty; all
            digits when 0.
    """

    def cell(value: Any) -> Any:
        if isinstance(value, float) and digits:
            return f"{value:.{digits}g}" if math.isfinite(value) else ""
        return inert(value)

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(cell, row) for row in (head, *rows))
    return out.getvalue()
