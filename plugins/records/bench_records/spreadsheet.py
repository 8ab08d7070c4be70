"""Write CSV in which a spreadsheet runs no text as a formula."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import Any

__all__ = ["csv_text", "inert"]

_RUN = ("=", "+", "-", "@", "\t", "\r")
"""Characters that begin a formula, according to OWASP's "CSV Injection"."""


def inert(cell: Any) -> Any:
    """Return a cell; with ``'`` before it if it is a text that a spreadsheet would run as a formula.

    A carriage return becomes a line feed, as readers would take an unquoted one for the end of a row.
    """
    if not isinstance(cell, str):
        return cell
    whole = cell.replace("\r\n", "\n").replace("\r", "\n") if "\r" in cell else cell
    return f"'{whole}" if cell.startswith(_RUN) else whole


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]], digits: int = 0) -> str:
    """A table as CSV.

    Args:
        head: the columns' names.
        rows: the cells. Pass numbers as numbers, since a text that begins with a sign gets a ``'``.
        digits: significant digits of floating-point numbers; those that are not finite become empty cells. With 0,
            numbers are written in full.
    """

    def cell(value: Any) -> Any:
        if isinstance(value, float) and digits:
            return f"{value:.{digits}g}" if math.isfinite(value) else ""
        return inert(value)

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(cell, row) for row in (head, *rows))
    return out.getvalue()
