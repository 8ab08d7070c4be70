"""Read delimited text with every number rounded to the nearest double, independent of pandas' version."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DEFAULT_MISSING", "read_exact", "read_texts"]

DEFAULT_MISSING = ("", "NA", "NaN", "nan", "?")


def read_exact(
    text: str,
    separator: str,
    names: Sequence[str] = (),
    missing: Sequence[str] = DEFAULT_MISSING,
    decimal: str = ".",
    texts: Collection[str] = (),
) -> pd.DataFrame:
    """Read a table whose columns are float64 where every present value is a number, and strings otherwise.

    pandas' parser of decimals differs in the last bit between versions, which would change a data set's content hash.

    Args:
        text: the file's content.
        separator: between two values: one character, or a regular expression.
        names: names of the columns; empty: the first line holds them.
        missing: strings that mean a missing value.
        decimal: the decimal point, ``.`` or ``,``; with a comma, numbers have no points.
        texts: columns that are strings even where every value is a number.

    Raises:
        ValueError: pandas cannot read it as a table.
    """
    import pandas as pd

    frame = read_texts(text, separator, names, missing)
    return pd.DataFrame({n: frame[n] if n in texts else _numbers(frame[n], decimal) for n in frame.columns})


def read_texts(
    text: str, separator: str, names: Sequence[str], missing: Sequence[str], only: list[str] | None = None
) -> pd.DataFrame:
    """Read a table of strings; ``only``: these columns. The other arguments are those of `read_exact`."""
    import pandas as pd

    return pd.read_csv(
        io.StringIO(text),
        sep=separator,
        header=None if names else 0,
        names=list(names) or None,
        index_col=False,
        usecols=only,
        dtype=str,
        keep_default_na=False,
        na_values=list(missing),
    )


def _numbers(column: pd.Series[Any], decimal: str) -> Any:
    present = column.notna().to_numpy()
    texts: list[str] = column.to_numpy(dtype=object)[present].tolist()
    if decimal == ",":
        if any("." in text for text in texts):
            return column
        texts = [text.replace(",", ".") for text in texts]
    values = np.full(len(column), np.nan)
    try:
        values[present] = [float(text) for text in texts]
    except ValueError:
        return column
    # Python reads "1_0" as ten.
    return column if any("_" in text for text in texts) else values
