"""Columns of tables as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["values"]


def values(column: pd.Series) -> list[Any]:
    """A column's values in order, as Python's own; what is missing is NaN.

    As ``list(column)``, which takes a step of Python and of Arrow for every text.
    """
    items: list[Any] = column.to_numpy(dtype=object).tolist()
    return items
