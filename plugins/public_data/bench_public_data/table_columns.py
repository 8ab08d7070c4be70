"""Columns of tables from files: their types in several files, and labels as they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_marked", "mixed", "same_columns", "without_zeros"]

_MANY_NUMBERS = 20
"""A column of more distinct numbers than this, and one or two repeated texts, is a numeric one."""


def without_zeros(label: str) -> str:
    """Return a number without the zeros that end its decimals, with a decimal point."""
    whole, _, decimals = label.replace(",", ".").partition(".")
    kept = decimals.rstrip("0") if decimals.isdigit() else decimals
    return f"{whole}.{kept}" if kept else whole or "0"


def is_marked(values: pd.Series[Any], present: NDArray[np.bool_], texts: NDArray[np.bool_]) -> bool:
    """Whether most values are numbers, many of them distinct, and the others one or two repeated texts."""
    if 2 * texts.sum() >= present.sum() or values[present & ~texts].nunique() <= _MANY_NUMBERS:
        return False
    words = values[texts].map(str).value_counts()
    return bool(len(words) <= 2 and words.min() > 1)


def mixed(frames: list[pd.DataFrame]) -> list[str]:
    """Return the columns that hold numbers in one table and other values in another."""
    import pandas as pd

    kinds: dict[str, set[bool]] = {}
    for frame in frames if len(frames) > 1 else []:
        for column in frame.columns[frame.notna().any()]:
            kind = frame[column].dtype
            number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
            kinds.setdefault(str(column), set()).add(number)
    return [column for column, found in kinds.items() if len(found) > 1]


def same_columns(first: Path, frame: pd.DataFrame, second: Path, other: pd.DataFrame) -> None:
    """Raise `DataError` unless two files have the same columns, in any order."""
    if list(frame.columns) == list(other.columns):
        return
    for name in frame.columns:
        if name not in other.columns:
            raise DataError(f"{second}: there is no column {name!r}, which {first} has")
    for name in other.columns:
        if name not in frame.columns:
            raise DataError(f"{second}: column {name!r} is not in {first}")
    # Columns in another order are fine, as pandas concatenates by name.
