"""The values of new tables: texts and numbers as they may be written, in the form that the table of the fit had."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_policies.portable import OTHER, texts_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["category_of", "codes_of", "is_missing", "is_number", "number_of"]


def category_of(given: Any, known: Collection[str]) -> str | None:
    """The known category that a value means; None if it is a new one.

    pandas turns a column of the texts ``true`` and ``false`` into booleans, and whole numbers with an empty cell into
    floats. So ``True`` also means ``true``, and ``1.0``, also as text, ``1``.
    """
    plain = given.item() if isinstance(given, np.generic) else given
    forms = [str(given), *texts_of(plain)]
    return next((form for form in forms if form in known), None)


def codes_of(column: pd.Series[Any], texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the code of each row's category, float64 (rows,): its place in ``texts``.

    A category that is not in ``texts`` gets the code of `OTHER`, or NaN if ``texts`` does not hold `OTHER`, either.
    """
    codes = {text: float(code) for code, text in enumerate(texts)}
    new = codes.get(OTHER, np.nan)
    known = column.map(lambda given: codes.get(category_of(given, codes) or "", new), na_action="ignore")
    return known.to_numpy(dtype=np.float64, na_value=np.nan)


def number_of(given: Any, missing: Sequence[str], decimal: str = ".") -> Any:
    """A text as the number that it holds, or None if it marks a missing value; anything else as it is."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if given in missing or text in missing:
        return None
    text = text.replace(".", "?").replace(",", ".") if decimal == "," else text
    try:
        return given if "_" in text else float(text)
    except ValueError:
        return given


def is_missing(given: Any) -> bool:
    """Whether a value is None, NaN, or one of pandas' missing values."""
    import pandas as pd

    if given is None or given is pd.NA or given is pd.NaT:
        return True
    return isinstance(given, float | np.floating) and math.isnan(given)


def is_number(given: Any, truth_values: bool) -> bool:
    """Whether a value is a number; ``truth_values``: whether True and False count as 1 and 0."""
    if isinstance(given, bool | np.bool_):
        return truth_values
    return isinstance(given, float | np.integer | np.floating) or (isinstance(given, int) and given.bit_length() < 1024)
