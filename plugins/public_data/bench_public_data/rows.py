"""Row ranges given as text: which rows are kept, and which are the training, validation and test part."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from bench_core import DataError

__all__ = ["given_split", "row_range"]

_RANGE = re.compile(r"(?:(?P<first>first):(?P<count>\d+)|(?P<start>\d*):(?P<stop>\d*))")


def row_range(text: str, what: str) -> slice:
    """``"16281:"``, ``":16281"``, ``"100:200"`` or ``"first:60000"`` as a slice of row numbers from 0.

    Raises:
        ValueError: anything else; ``what`` names the parameter.
    """
    match = _RANGE.fullmatch(text.replace("_", "").replace(" ", ""))
    if match is None:
        raise ValueError(f"{what} = {text!r} is not a range of rows such as '16281:', ':16281' or 'first:60000'")
    if match["first"]:
        return slice(0, int(match["count"]))
    start = int(match["start"]) if match["start"] else 0
    stop = int(match["stop"]) if match["stop"] else None
    if stop is not None and stop <= start:
        raise ValueError(f"{what} = {text!r} holds no row")
    return slice(start, stop)


def given_split(
    dataset: str, rows: int, *, train: str, validation: str, test: str
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """The rows that stand in a part, ascending, and the part of each (0 train, 1 validation, 2 test).

    Args:
        dataset: what messages call the data set.
        rows: number of rows of the whole table.
        train, validation, test: ranges as `row_range` reads them. An empty ``test`` means all rows that are in
            no other part; an empty ``validation`` means none.

    Raises:
        DataError: two parts share a row, or a part has none.
    """
    part = np.full(rows, -1, dtype=np.int8)
    for code, (name, text) in enumerate((("train", train), ("validation", validation), ("test", test))):
        if not text:
            continue
        chosen = row_range(text, f"{name}_rows")
        if not len(part[chosen]):
            raise DataError(f"data set {dataset!r}: {name}_rows = {text!r} holds none of its {rows} rows")
        if (part[chosen] >= 0).any():
            raise DataError(f"data set {dataset!r}: {name}_rows = {text!r} overlaps another part")
        part[chosen] = code
    if not test:
        part[part < 0] = 2
    used = np.flatnonzero(part >= 0)
    return used, part[used]
