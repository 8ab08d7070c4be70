"""Read SVMlight / LETOR text with scikit-learn's compiled reader; a slow reader locates errors for messages."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import DataError
from bench_public_data.local_files import read_bytes

__all__ = ["SvmLightTable", "line_of_feature", "read_groups", "read_svmlight"]


_MOST_NUMBER = 2**31 - 1
"""The greatest feature number that scikit-learn's reader accepts."""


@dataclass(frozen=True, eq=False)
class SvmLightTable:
    """The content of a file.

    Attributes:
        values: sparse CSR (rows, features).
        target: float64 (rows,).
        query: int64 (rows,), query ids; None if no line has ``qid:``.
    """

    values: Any
    target: NDArray[np.float64]
    query: NDArray[np.int64] | None


def read_svmlight(path: Path, first_index: int = 1) -> SvmLightTable:
    """Read a plain or compressed file.

    Args:
        path: the file.
        first_index: the number of the first feature, 0 or 1.

    Raises:
        DataError: a line is malformed, a value is not a finite number, feature numbers do not ascend, or only some
            lines have ``qid:``; the message names the file, the line and the feature.
    """
    from sklearn.datasets import load_svmlight_file

    data = read_bytes(path)
    if not any(line.split(b"#", 1)[0].strip() for line in io.BytesIO(data)):
        raise DataError(f"{path}: the file holds comments only")
    with_query = b"qid:" in data
    try:
        values, target, query = load_svmlight_file(
            io.BytesIO(data), zero_based=first_index == 0, query_id=True, dtype=np.float64
        )
    except (ValueError, OverflowError) as error:
        _raise_first_error(path, data, first_index)
        raise DataError(f"{path}: not SVMlight text: {error}") from None
    if not (np.isfinite(values.data).all() and np.isfinite(target).all()) or (
        with_query and len(query) not in (0, len(target))
    ):
        _raise_first_error(path, data, first_index)
    if not len(values.data):
        raise DataError(f"{path}: no line names a feature")
    return SvmLightTable(values, target, query.astype(np.int64) if len(query) else None)


def _raise_first_error(path: Path, data: bytes, first_index: int) -> None:
    """Raise a `DataError` for the first malformed line; return if there is none."""
    queries: bool | None = None
    for number, raw in enumerate(data.split(b"\n"), start=1):
        words = raw.split(b"#", 1)[0].split()
        if not words:
            continue
        where = f"{path}, line {number}"
        _finite(words[0], f"{where}, target")
        has_query = len(words) > 1 and words[1].startswith(b"qid:")
        if queries is not None and queries != has_query:
            raise DataError(f"{where}: {'has' if has_query else 'has no'} qid:, unlike the lines before")
        queries = has_query
        if has_query:
            _integer(words[1][4:], f"{where}, qid")
        last = first_index - 1
        for word in words[2:] if has_query else words[1:]:
            index, colon, value = word.partition(b":")
            if not colon:
                raise DataError(f"{where}: {_shown(word)} is not <index>:<value>")
            place = _integer(index, f"{where}, feature number")
            if place <= last:
                problem = f"{place} follows {last}" if last >= first_index else f"{place} is below {first_index}"
                raise DataError(f"{where}: feature numbers must ascend from {first_index}; {problem}")
            if place > _MOST_NUMBER:
                raise DataError(f"{where}: feature number {_shown(index)} is too large")
            last = place
            _finite(value, f"{where}, feature {place}")


def line_of_feature(path: Path, feature: int) -> int:
    """Return the number of the first line, from 1, that names a feature; 0 if no line does."""
    wanted = (b"%d" % feature).lstrip(b"0")  # leading zeros do not matter, so feature 0 is the empty text
    for number, raw in enumerate(read_bytes(path).split(b"\n"), start=1):
        words = raw.split(b"#", 1)[0].split()[1:]
        if any(word.partition(b":")[0].lstrip(b"0") == wanted for word in words):
            return number
    return 0


def _shown(word: bytes) -> str:
    return repr(word[:60].decode("utf-8", "replace"))


def _finite(word: bytes, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise DataError(f"{where}: {_shown(word)} is not a number") from None
    if not math.isfinite(value):
        raise DataError(f"{where}: {_shown(word)} is not finite")
    return value


def _integer(word: bytes, where: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise DataError(f"{where}: {_shown(word)} is not an integer") from None


def read_groups(path: Path, rows: int, data: Path) -> NDArray[np.int64]:
    """Read a group file, which holds the number of rows of each query, one per line, in the order of the data.

    Args:
        path: the group file.
        rows: number of rows of the data.
        data: the data file, for the message.

    Returns:
        int64 (queries,).

    Raises:
        DataError: a line is not an integer above 0, or the sum is not the number of rows.
    """
    sizes = []
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        if line.strip():
            size = _integer(line.strip(), f"{path}, line {number}")
            if size < 1:
                raise DataError(f"{path}, line {number}: a query must have at least one row, not {size}")
            sizes.append(size)
    if sum(sizes) != rows:
        raise DataError(f"{path}: the queries have {sum(sizes)} rows together, {data.name} has {rows}")
    return np.array(sizes, dtype=np.int64)
