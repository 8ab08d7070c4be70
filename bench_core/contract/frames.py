"""From a pandas table to the fields of a `Dataset`: types, categories, classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.errors import DataError, did_you_mean
from bench_core.contract.task import SPLIT_NAMES, Task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["fields_of_frame"]

_MOST_CLASSES_GUESSED = 20
_NUMBERS = frozenset({"integer", "floating", "mixed-integer-float", "decimal"})


def fields_of_frame(
    name: str,
    frame: pd.DataFrame,
    target: str,
    *,
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
        raise DataError(f"data set {name!r}: columns named twice: {', '.join(map(repr, twice[:5]))}")
    for column in (target, size, query, split, *categorical):
        if column is not None and column not in frame.columns:
            hint = did_you_mean(column, frame.columns)
            raise DataError(f"data set {name!r}: there is no column {column!r}; {hint}")
    if not len(frame):
        raise DataError(f"data set {name!r}: it has no rows")
    helpers = {column for column in (target, size, query, split) if column is not None}
    features = [column for column in frame.columns if column not in helpers]
    values = np.empty((len(frame), len(features)))
    codes: dict[int, tuple[str, ...]] = {}
    is_category: list[int] = []
    for i, column in enumerate(features):
        values[:, i], texts = _column(name, column, frame[column])
        if texts is not None:
            codes[i] = texts
        if texts is not None or column in categorical:
            is_category.append(i)
    labels, classes, task = _target(name, frame[target], task, ranking=query is not None)
    return {
        "task": task,
        "values": values,
        "feature_names": tuple(features),
        "target": labels,
        "classes": classes,
        "categorical": tuple(is_category),
        "categories": codes,
        "sizes": None if size is None else _sizes(name, frame[size]),
        "query": None if query is None else _codes_of(name, frame[query]),
        "split": None if split is None else _split_codes(name, frame[split]),
    }


def _column(
    dataset: str, name: str, column: pd.Series[Any]
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """A column as floats, with the texts of its codes when it held text."""
    import pandas as pd

    if pd.api.types.is_complex_dtype(column.dtype):
        raise DataError(
            f"data set {dataset!r}: feature {name!r} holds complex numbers; split it into two features"
        )
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in _NUMBERS:
        # What reading a file leaves of a number column with holes.
        column = column.astype("float64")
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), None
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        raise DataError(f"data set {dataset!r}: feature {name!r} holds dates; turn them into numbers first")
    coded = pd.Categorical(column.astype("object").where(column.notna(), None).map(_text))
    texts = tuple(str(text) for text in coded.categories)
    codes = coded.codes.astype(np.float64)
    codes[codes < 0] = np.nan
    return codes, texts


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _sizes(dataset: str, column: pd.Series[Any]) -> NDArray[np.float64]:
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise DataError(f"data set {dataset!r}: the size column {column.name!r} must hold numbers")
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _codes_of(dataset: str, column: pd.Series[Any]) -> NDArray[np.int64]:
    if column.isna().any():
        raise DataError(
            f"data set {dataset!r}: query column {column.name!r} misses {int(column.isna().sum())} value(s)"
        )
    _, codes = np.unique(column.to_numpy().astype(str), return_inverse=True)
    return codes.astype(np.int64)


def _split_codes(dataset: str, column: pd.Series[Any]) -> NDArray[np.int8]:
    texts = [str(text) for text in column]
    unknown = sorted(set(texts) - set(SPLIT_NAMES))
    if unknown:
        raise DataError(
            f"data set {dataset!r}: split column holds {unknown[0]!r}; {', '.join(SPLIT_NAMES)} only"
        )
    return np.array([SPLIT_NAMES.index(text) for text in texts], dtype=np.int8)


def _target(
    dataset: str, column: pd.Series[Any], task: Task | None, *, ranking: bool
) -> tuple[NDArray[Any], tuple[str, ...], Task]:
    import pandas as pd

    if column.isna().any():
        raise DataError(
            f"data set {dataset!r}: target {column.name!r} misses {int(column.isna().sum())} value(s)"
        )
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    if task is None:
        if ranking:
            task = "ranking"
        elif numeric and not _looks_like_classes(column):
            task = "regression"
        else:
            task = "binary" if column.nunique() <= 2 else "multiclass"
    if task in ("regression", "ranking"):
        if not numeric:
            raise DataError(f"data set {dataset!r}: a {task} target must be numbers, {column.name!r} is not")
        return column.to_numpy(dtype=np.float64), (), task
    if numeric and not np.isfinite(column.to_numpy(dtype=np.float64)).all():
        raise DataError(f"data set {dataset!r}: target {column.name!r} holds infinite values")
    if numeric:
        levels, codes = np.unique(column.to_numpy(), return_inverse=True)
        classes = tuple(str(int(level)) if float(level).is_integer() else str(level) for level in levels)
    else:
        texts, codes = np.unique(column.astype(str).to_numpy(dtype=str), return_inverse=True)
        classes = tuple(str(text) for text in texts)
    return codes.astype(np.int64), classes, task


def _looks_like_classes(column: pd.Series[Any]) -> bool:
    numbers = column.to_numpy(dtype=np.float64)
    return bool((numbers == np.round(numbers)).all()) and column.nunique() <= _MOST_CLASSES_GUESSED
