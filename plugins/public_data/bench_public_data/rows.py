"""Row ranges given as text, for the rows to keep and for the training, validation and test part."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from bench_core import DataError

__all__ = ["given_split", "row_range"]

_RANGE = re.compile(r"(?:first:(?P<count>\d+)|(?P<start>\d*):(?P<stop>\d*))")


def row_range(text: str, what: str) -> slice:
    """Parse ``"16281:"``, ``":16281"``, ``"100:200"`` or ``"first:60000"`` as a slice of row numbers from 0.

    Args:
        text: the range.
        what: name of the parameter, for the message.

    Raises:
        ValueError: the text is not such a range, or the range is empty.
    """
    match = _RANGE.fullmatch(text.replace("_", "").replace(" ", ""))
    if match is None:
        raise ValueError(f"{what} = {text!r} is not a range of rows such as '16281:', ':16281' or 'first:60000'")
    start = int(match["start"]) if match["start"] else 0
    end = match["count"] or match["stop"]
    stop = int(end) if end else None
    if stop is not None and stop <= start:
        raise ValueError(f"{what} = {text!r} is an empty range")
    return slice(start, stop)


def given_split(
    dataset: str, rows: int, *, train: str, validation: str, test: str
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return the rows of a given split, int64, ascending, and the part of each, int8 (0 train, 1 validation, 2 test).

    Args:
        dataset: name of the data set, for messages.
        rows: number of rows of the table.
        train, validation, test: ranges as `row_range` parses them. An empty ``test`` means all rows of no other part;
            an empty ``validation`` means no rows.

    Raises:
        DataError: two parts overlap, or a part has no rows.
        ValueError: a range is malformed.
    """
    part = np.full(rows, -1, dtype=np.int8)
    for code, (name, text) in enumerate((("train", train), ("validation", validation), ("test", test))):
        if not text:
            continue
        chosen = row_range(text, f"{name}_rows")
        if not len(part[chosen]):
            raise DataError(f"data set {dataset!r}: {name}_rows = {text!r} selects none of the {rows} rows")
        if (part[chosen] >= 0).any():
            raise DataError(f"data set {dataset!r}: {name}_rows = {text!r} overlaps another part")
        part[chosen] = code
    if not test:
        part[part < 0] = 2
    used = np.flatnonzero(part >= 0)
    return used, part[used]
