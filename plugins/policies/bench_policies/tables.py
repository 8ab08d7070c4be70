"""Read your own table, a CSV or Parquet file or a DataFrame, as a data set."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench_core import BenchError, DataContext, DataFacts, Dataset, RequestError, build, did_you_mean
from bench_core.suites import Registry, load_registry
from bench_policies.given import is_missing, number_of
from bench_policies.portable import OTHER

if TYPE_CHECKING:
    import pandas as pd

    from bench_core import Costs

Data = Any
"""A path to a CSV (also .gz, .bz2, .xz) or Parquet file, a `pandas.DataFrame`, or a `Dataset`."""


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are read.

    Attributes:
        categorical: names of numeric columns that hold categories; text columns always do.
        drop: names of columns to leave out.
        size: name of the column with item sizes.
        task: ``binary``, ``multiclass`` or ``regression``; None: guessed from the target.
        separator: of a CSV file: the character between two values.
        decimal: of a CSV file: the decimal point, ``.`` or ``,``.
        missing: texts that mark a missing value, besides those of `MISSING`; in a DataFrame, only in a column whose
            other values are numbers.
    """

    categorical: Sequence[str] = ()
    drop: Sequence[str] = ()
    size: str | None = None
    task: str | None = None
    separator: str = ","
    decimal: str = "."
    missing: Sequence[str] = ()

    def of_file(self) -> dict[str, Any]:
        """How a CSV file is written, as the parameters of its reader."""
        return {"separator": self.separator, "decimal": self.decimal, "missing": [*MISSING, *self.missing]}


MISSING = ("", "NA", "NaN", "nan", "?")
"""Texts that always mark a missing value in a CSV file, and in a DataFrame's columns of numbers."""


def read_table(
    data: str | Path | pd.DataFrame | Dataset, target: str | None, registry: Registry, columns: Columns | None = None
) -> Dataset:
    """Read a table as a data set.

    Args:
        data: a path, a DataFrame or a data set, which is returned unchanged.
        target: the column to predict; None for a data set.
        registry: the registry that holds the readers of files (plugin ``public-data``).
        columns: how the other columns are read; None: the defaults of `Columns`.

    Raises:
        RequestError: there is no such file or column (the message names the nearest), or the table is malformed.
    """
    if isinstance(data, Dataset):
        return data
    if target is None:
        raise RequestError("name the column to predict: target")
    columns = columns or Columns()
    if target in columns.drop:
        raise RequestError(f"{target!r} is the target and cannot be left out (drop)")
    try:
        if isinstance(data, str | Path):
            kind = _kind(data)
            options: dict[str, Any] = {"path": str(data), "target": target, "drop": list(columns.drop)}
            options |= {"categorical": list(columns.categorical), "size": columns.size, "task": columns.task}
            if kind == "csv":
                options |= columns.of_file()
            given = {name: value for name, value in options.items() if value not in (None, [])}
            read: Dataset = _source(data, kind, given, registry).load(DataContext.from_environment())
            return read
        unknown = next((name for name in columns.drop if name not in data.columns), None)
        if unknown is not None:
            raise RequestError(
                f"there is no column {unknown!r} (drop); {did_you_mean(unknown, map(str, data.columns))}"
            )
        return Dataset.from_frame(
            "table",
            with_numbers(data.drop(columns=list(columns.drop)), columns),
            target,
            task=columns.task,  # type: ignore[arg-type]
            categorical=columns.categorical,
            size=columns.size,
        )
    except BenchError as error:
        raise RequestError(str(error)) from None


def with_numbers(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return a table with each text column of numbers and missing texts as numbers, as in a file.

    Other columns stay as they are: those without a missing text, those with any other text, and the categorical ones.
    """
    import pandas as pd

    missing, read = columns.of_file()["missing"], frame.copy(deep=False)
    for place, name in enumerate(frame.columns):
        texts = frame.iloc[:, place]
        if name in columns.categorical or pd.api.types.is_numeric_dtype(texts.dtype):
            continue
        if not any(isinstance(text, str) and text in missing for text in texts):
            continue
        values = [number_of(text, missing) for text in texts]
        held = [value for value in values if not is_missing(value)]
        if held and all(isinstance(value, Real) and not isinstance(value, bool) for value in held):
            read.isetitem(place, [math.nan if is_missing(value) else float(value) for value in values])
    return read


def apart_from_features(target: str | None, columns: Columns) -> dict[str, str]:
    """Return the columns that are no features, with what they are: ``left out``, ``the target``, ``the item sizes``."""
    named = dict.fromkeys(columns.drop, LEFT_OUT)
    return named | {name: what for name, what in ((target, "the target"), (columns.size, "the item sizes")) if name}


LEFT_OUT = "left out"


def _kind(path: str | Path) -> str:
    return "parquet" if Path(path).suffix.lower() in (".parquet", ".pq") else "csv"


def _source(path: str | Path, kind: str, given: dict[str, Any], registry: Registry) -> Any:
    if kind not in registry.datasets:
        raise RequestError(f"{path}: reading files needs a plugin: pip install budgetbench-public-data")
    return build(registry.dataset(kind), given, str(path))


def read_rows(
    table: pd.DataFrame | str | Path, written: Mapping[str, Any], texts: Collection[str] = ()
) -> pd.DataFrame:
    """Return new rows as a table: a DataFrame as it is, a file read as that of the fit.

    Args:
        table: the rows, or a path to CSV or Parquet.
        written: how a CSV file is written, from `Columns.of_file`; empty: as by default.
        texts: columns that held text in the table of the fit. They are text here, too, so that a code such as ``008``
            means the same in every file.

    Raises:
        RequestError: it is neither, it cannot be read, or two columns have the same name.
    """
    import pandas as pd

    if isinstance(table, str | Path):
        try:
            source, path = _file_of_rows(table, written)
            table = source.read(path, texts)
        except BenchError as error:
            raise RequestError(str(error)) from None
    if not isinstance(table, pd.DataFrame):
        raise RequestError(f"give a pandas.DataFrame, or the path of a CSV or Parquet file, not {type(table).__name__}")
    if table.columns.duplicated().any():
        raise RequestError(f"two columns are called {table.columns[table.columns.duplicated()][0]!r}")
    return table


class RowError(RequestError):
    """A value in a row is invalid.

    Attributes:
        row: the row's number, from 0.
        reason: the message without the row.
    """

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row} (from 0): {reason}")
        self.row, self.reason = row, reason


@contextmanager
def naming(table: Any, written: Mapping[str, Any]) -> Iterator[None]:
    """Name the table's file, if it is a path, and the line in a `RequestError` that is raised within the block.

    Args:
        table, written: as for `read_rows`.
    """
    try:
        yield
    except RequestError as error:
        if not isinstance(table, str | Path):
            raise
        if not isinstance(error, RowError):
            raise RequestError(f"{table}: {error}") from None
        source, path = _file_of_rows(table, written)
        raise RequestError(f"{source.where(path, error.row)}: {error.reason}") from None


def _file_of_rows(table: str | Path, written: Mapping[str, Any]) -> tuple[Any, Path]:
    """Return the data source that reads a file of rows, and the file's path."""
    kind = _kind(table)
    given = {"path": str(table), "target": "-", **(written or Columns().of_file() if kind == "csv" else {})}
    source = _source(table, kind, given, load_registry())
    return source, source.find(DataContext.from_environment())[0]


LEAST_IN_CATEGORY = 5
"""Least number of rows of a category of text; rarer ones are merged."""


def merge_rare(dataset: Dataset) -> Dataset:
    """Return the data set with the rare categories of each text column merged into `OTHER`, its last category.

    A new row has a category that was not in the data about as often as a row of the data has a category that no other
    row has (Good, The population frequencies of species, 1953). When both are merged into one category, a method learns
    from the data how informative it is. Without merging, names or serial numbers would identify the rows of the data,
    but no new rows. scikit-learn's ``OneHotEncoder`` does the same with ``min_frequency`` and ``infrequent_if_exist``.
    """
    values, categories = None, dict(dataset.categories)
    for feature, texts in dataset.categories.items():
        column = dataset.values[:, feature]
        held = ~np.isnan(column)
        codes = column[held].astype(np.int64)
        frequent = np.bincount(codes, minlength=len(texts)) >= LEAST_IN_CATEGORY
        frequent &= np.array([text != OTHER for text in texts], dtype=bool)
        if frequent.all():
            continue
        new = np.where(frequent, np.cumsum(frequent) - 1, frequent.sum())
        values = np.array(dataset.values) if values is None else values
        values[held, feature] = new[codes]
        categories[feature] = (*(text for text, kept in zip(texts, frequent, strict=True) if kept), OTHER)
    return dataset if values is None else replace(dataset, values=values, categories=categories)


_COMMA = re.compile(r"\s*[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+\s*")
_MOST = 0.9
"""Least share of values that match a pattern, or that occur once, for a statement on their column."""


def has_decimal_commas(texts: Sequence[str]) -> bool:
    """Return whether nearly all of a column's texts are numbers with decimal commas."""
    return sum(bool(_COMMA.fullmatch(text)) for text in texts) >= _MOST * max(len(texts), 1)


LEAST_ROWS = 20
"""Least number of rows for measuring a policy or comparing methods."""


def check_rows(dataset: Dataset) -> None:
    """Check that a table has enough rows, rows of at least two classes, and classes with several rows.

    Raises:
        RequestError: it has too few rows, it has rows of one class only, or nearly every class has only one row.
    """
    if dataset.n_rows < LEAST_ROWS:
        raise RequestError(
            f"{dataset.name} has {dataset.n_rows} rows; at least {LEAST_ROWS} are needed to measure anything"
        )
    if dataset.classes:
        counts = np.bincount(np.asarray(dataset.target, dtype=np.int64), minlength=len(dataset.classes))
        if (counts > 0).sum() < 2:
            raise RequestError(f"{dataset.name}: all rows are of one class; there is nothing to predict")
        if (counts == 1).sum() >= _MOST * dataset.n_rows:
            hint = "is the target a name or a number of the row?"
            if has_decimal_commas(dataset.classes):
                hint = "the target holds numbers with decimal commas; see --decimal (Columns.decimal)"
            raise RequestError(f"{dataset.name}: nearly every row has a class of its own; {hint}")


def facts_after_encoding(dataset: Dataset, costs: Costs, encode: str, threshold: float | None) -> DataFacts:
    """Return the facts of an encoded and priced data set, from which a method decides whether it applies."""
    groups = costs.groups
    units = dataset.n_features
    if groups is not None:
        units = int((groups < 0).sum()) + len(np.unique(groups[groups >= 0]))
    return DataFacts(
        name=dataset.name,
        task=dataset.task,
        n_classes=len(dataset.classes),
        feature_names=dataset.feature_names,
        n_units=units,
        missing=encode == "raw" and bool(np.isnan(dataset.values).any()),
        queries=dataset.query is not None,
        priced=True,
        threshold=threshold,
    )
