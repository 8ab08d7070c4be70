"""From a pandas table to the fields of a `Dataset`: types, categories, classes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bench_core.contract.errors import DataError, did_you_mean
from bench_core.contract.facts import SPLIT_NAMES, Task

_MOST_CLASSES_GUESSED = 20
_DATES = (date, time, timedelta)
_NO_VALUES = (list, tuple, dict, set, frozenset, bytes, bytearray, np.ndarray, *_DATES)
_NUMBERS = frozenset({"integer", "floating", "mixed-integer-float", "decimal"})


def fields_of_frame(
    frame: pd.DataFrame,
    target: str,
    task: Task | None,
    categorical: Sequence[str],
    size: str | None,
    query: str | None,
    split: str | None,
) -> dict[str, Any]:
    """The fields of the data set, by name; see `Dataset.from_frame`."""
    frame = frame.rename(columns=str)
    if frame.columns.duplicated().any():
        twice = sorted(set(frame.columns[frame.columns.duplicated()]))
        raise DataError(f"columns named twice: {', '.join(map(repr, twice[:5]))}")
    helpers = [column for column in (target, size, query, split) if column is not None]
    for column in (*helpers, *categorical):
        if column not in frame.columns:
            raise DataError(f"there is no column {column!r}; {did_you_mean(column, frame.columns)}")
        if column in helpers and (*helpers, *categorical).count(column) > 1:
            raise DataError(f"column {column!r} has two of the roles target, size, query, split and categorical")
    if not len(frame):
        raise DataError("it has no rows")
    features = [column for column in frame.columns if column not in helpers]
    columns = [_column(column, frame[column]) for column in features]
    texts = {i: texts for i, (_, texts) in enumerate(columns) if texts is not None}
    values = np.stack([numbers for numbers, _ in columns], axis=1) if columns else np.empty((len(frame), 0))
    labels, classes, task = _target(frame[target], task, ranking=query is not None)
    return {
        "task": task,
        "values": values,
        "feature_names": tuple(features),
        "target": labels,
        "classes": classes,
        "categorical": tuple(i for i, column in enumerate(features) if i in texts or column in categorical),
        "categories": texts,
        "sizes": None if size is None else _sizes(frame[size]),
        "query": None if query is None else _queries(frame[query]),
        "split": None if split is None else _parts(frame[split]),
    }


def _column(name: str, column: pd.Series[Any]) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """A column as floats, with the texts of its codes when it held text."""
    if pd.api.types.is_complex_dtype(column.dtype):
        raise DataError(f"feature {name!r} holds complex numbers; split it into two features")
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in _NUMBERS:
        # A number column with missing values, as read from a file.
        column = column.astype("float64")
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), None
    _refuse_no_values(f"feature {name!r}", column)
    coded = pd.Categorical(column.astype("object").where(column.notna(), None).map(str, na_action="ignore"))
    return np.where(coded.codes < 0, np.nan, coded.codes), tuple(str(text) for text in coded.categories)


def _refuse_no_values(what: str, column: pd.Series[Any]) -> None:
    """Refuse a column of dates, lists and the like.

    Raises:
        DataError: the column and what it holds are named.
    """
    wrong = next((value for value in column if isinstance(value, _NO_VALUES)), None)
    if isinstance(wrong, _DATES):
        raise DataError(f"{what} holds dates or times; turn them into numbers first")
    if wrong is not None:
        raise DataError(f"{what} holds a {type(wrong).__name__}; a value is a number, a text or a truth value")


def _sizes(column: pd.Series[Any]) -> NDArray[np.float64]:
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise DataError(f"the size column {column.name!r} must hold numbers")
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _queries(column: pd.Series[Any]) -> NDArray[np.int64]:
    if column.isna().any():
        raise DataError(f"query column {column.name!r} misses {int(column.isna().sum())} value(s)")
    return np.unique(column.to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)


def _parts(column: pd.Series[Any]) -> NDArray[np.int8]:
    texts = [str(text) for text in column]
    if unknown := sorted(set(texts) - set(SPLIT_NAMES)):
        raise DataError(f"split column holds {unknown[0]!r}; {', '.join(SPLIT_NAMES)} only")
    return np.array([SPLIT_NAMES.index(text) for text in texts], dtype=np.int8)


def _target(column: pd.Series[Any], task: Task | None, *, ranking: bool) -> tuple[NDArray[Any], tuple[str, ...], Task]:
    if column.isna().any():
        raise DataError(f"target {column.name!r} misses {int(column.isna().sum())} value(s)")
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    if not numeric:
        _refuse_no_values(f"target {column.name!r}", column)
    numbers = column.to_numpy(dtype=np.float64) if numeric else np.empty(0)
    if task is None:
        few = (numbers == np.round(numbers)).all() and column.nunique() <= _MOST_CLASSES_GUESSED
        task = "ranking" if ranking else "multiclass" if few or not numeric else "regression"
        if task == "multiclass" and column.nunique() <= 2:
            task = "binary"
    if task in ("regression", "ranking"):
        if not numeric:
            raise DataError(f"a {task} target must be numbers, {column.name!r} is not")
        return numbers, (), task
    if not np.isfinite(numbers).all():
        raise DataError(f"target {column.name!r} holds infinite values")
    if numeric:
        levels, codes = np.unique(column.to_numpy(), return_inverse=True)
        classes = tuple(str(int(level)) if float(level).is_integer() else str(level) for level in levels)
    else:
        texts, codes = np.unique(column.astype(str).to_numpy(dtype=str), return_inverse=True)
        classes = tuple(str(text) for text in texts)
    return codes.astype(np.int64), classes, task
