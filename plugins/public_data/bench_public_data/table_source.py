"""What CSV and Parquet sources share: parts in several files, groups with prices, faults that name their place."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import MinLen

from bench_core import Costs, DataContext, DataError, Dataset, DataSource, did_you_mean
from bench_public_data.local_files import file_status, files_fingerprint, find_file, stem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableSource"]

_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class TableSource(DataSource):
    """A table in a file of one's own; `Csv` and `Parquet` say how it is read.

    A relative path is relative to the working directory, and to the mirror when it is not found there.

    Attributes:
        path: the table; its training part when ``test_path`` is given.
        target: name of the target column.
        test_path, validation_path: further files with the same columns: a given split.
        task: ``binary``, ``multiclass``, ``regression`` or ``ranking``; guessed when None.
        categorical: names of number columns that are categories (text columns always are).
        drop: names of columns that are not used.
        size, query, split: names of columns that hold item sizes, query ids, and
            ``train``/``validation``/``test``.
        groups: acquisition groups, ``{name = pattern}`` over feature names (``{view1 = "view1_*"}``); they come
            with the data set as its own prices (cost scheme ``from-data``).
        group_prices: ``{group = price}``, paid once per row with the group's first feature; 0 when not named.
        price_each: a feature's own price, or None when the data set comes without prices. With ``groups`` and
            no ``price_each`` features in a group cost nothing beyond the group, others cost 1.
        name: what tables call it; empty takes the file's name.
    """

    network: ClassVar[bool] = False

    path: Annotated[str, MinLen(1)]
    target: str
    test_path: str = ""
    validation_path: str = ""
    task: Literal["binary", "multiclass", "regression", "ranking"] | None = None
    categorical: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    size: str | None = None
    query: str | None = None
    split: str | None = None
    groups: dict[str, str] = field(default_factory=dict)
    group_prices: dict[str, float] = field(default_factory=dict)
    price_each: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation_path and not self.test_path:
            raise ValueError("validation_path needs test_path")
        if self.test_path and self.split:
            raise ValueError("give test_path or split, not both")
        for group in self.group_prices:
            if group not in self.groups:
                raise ValueError(f"group_prices names {group!r}; {did_you_mean(group, self.groups) or 'no groups'}")

    @abstractmethod
    def read(self, path: Path) -> pd.DataFrame:
        """One file as a table.

        Raises:
            DataError: it is malformed; the message names the file and the line.
        """

    @abstractmethod
    def where(self, path: Path, row: int) -> str:
        """A row of a file in words (``a.csv, line 7``)."""

    def paths(self) -> list[str]:
        """The files, training part first."""
        return [path for path in (self.path, self.validation_path, self.test_path) if path]

    def status(self, context: DataContext) -> str:
        """``cached`` when the files are at their own paths, ``mirrored`` when in the mirror, else ``missing``."""
        return file_status(self.paths(), context)

    def fingerprint(self, context: DataContext) -> str | None:
        """Names, lengths and times of change of the files; None when one is missing."""
        if self.status(context) == "missing":
            return None
        return files_fingerprint([find_file(path, context) for path in self.paths()])

    def load(self, context: DataContext) -> Dataset:
        import pandas as pd

        given = zip((self.path, self.validation_path, self.test_path), range(3), strict=True)
        codes = [code for path, code in given if path]
        files = [find_file(path, context) for path in self.paths()]
        frames = [self._checked(path, self.read(path)) for path in files]
        for path, frame in zip(files[1:], frames[1:], strict=True):
            _same_columns(files[0], frames[0], path, frame)
        whole = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
        try:
            dataset = Dataset.from_frame(
                self.name or stem(self.path),
                whole,
                self.target,
                task=self.task,
                categorical=self.categorical,
                size=self.size,
                query=self.query,
                split=self.split,
                provenance={"source": ", ".join(path.name for path in files)},
            )
        except DataError as error:
            raise DataError(f"{files[0]}: {error}") from None
        if len(frames) > 1:
            parts = np.repeat(np.array(codes, dtype=np.int8), [len(frame) for frame in frames])
            dataset = replace(dataset, split=parts)
        return replace(dataset, costs=self._costs(files[0], dataset.feature_names))

    def _checked(self, path: Path, frame: pd.DataFrame) -> pd.DataFrame:
        """The table without dropped columns, when its named columns are there and its numbers are numbers."""
        import pandas as pd

        if frame.columns.duplicated().any():
            twice = frame.columns[frame.columns.duplicated()][0]
            raise DataError(f"{path}: two columns are called {twice!r}")
        named = [("target", self.target), ("size", self.size), ("query", self.query), ("split", self.split)]
        named += [("categorical", column) for column in self.categorical] + [("drop", c) for c in self.drop]
        for what, column in named:
            if column is not None and column not in frame.columns:
                raise DataError(
                    f"{path}: there is no column {column!r} ({what}); {did_you_mean(column, frame.columns)}"
                )
        if not len(frame):
            raise DataError(f"{path}: the table has no rows")
        frame = frame.drop(columns=self.drop)
        must = {self.size} | ({self.target} if self.task in ("regression", "ranking") else set())
        free = {*self.categorical, self.query, self.split, self.target} - must
        for column in frame.columns:
            values = frame[column]
            if pd.api.types.is_numeric_dtype(values.dtype):
                infinite = np.isinf(values.to_numpy(dtype=np.float64, na_value=np.nan))
                if infinite.any():
                    row = int(infinite.argmax())
                    raise DataError(f"{self.where(path, row)}, column {column!r}: the value is infinite")
            elif column not in free:
                self._not_nearly_numbers(path, str(column), values, demand=column in must)
        return frame

    def _not_nearly_numbers(self, path: Path, column: str, values: pd.Series[Any], *, demand: bool) -> None:
        """Refuse a number column spoiled by a few texts: it would silently become one big category."""
        import pandas as pd

        if isinstance(values.dtype, pd.CategoricalDtype):
            return
        present = values.notna().to_numpy()
        texts = present & pd.to_numeric(values, errors="coerce").isna().to_numpy()
        share = 1 - texts.sum() / max(int(present.sum()), 1)
        if texts.any() and (demand or share >= _NEARLY_ALL):
            row = int(texts.argmax())
            advice = "" if demand else f"; if texts belong there, say categorical = [{column!r}]"
            raise DataError(f"{self.where(path, row)}, column {column!r}: {values.iloc[row]!r} is not a number{advice}")

    def _costs(self, path: Path, features: tuple[str, ...]) -> Costs | None:
        if not self.groups:
            return None if self.price_each is None else Costs(np.full(len(features), self.price_each))
        member = np.full(len(features), -1)
        for number, (group, pattern) in enumerate(self.groups.items()):
            matched = np.array([fnmatchcase(name, pattern) for name in features])
            if not matched.any():
                raise DataError(f"{path}: no feature is called like {pattern!r} (group {group!r})")
            if (member[matched] >= 0).any():
                twice = features[int(np.flatnonzero(matched & (member >= 0))[0])]
                raise DataError(f"{path}: feature {twice!r} is in two groups")
            member[matched] = number
        own = np.where(member >= 0, 0.0, 1.0) if self.price_each is None else np.full(len(features), self.price_each)
        return Costs(own, member, np.array([self.group_prices.get(group, 0.0) for group in self.groups]))


def _same_columns(first: Path, frame: pd.DataFrame, second: Path, other: pd.DataFrame) -> None:
    if list(frame.columns) == list(other.columns):
        return
    for name in frame.columns:
        if name not in other.columns:
            raise DataError(f"{second}: there is no column {name!r}, which {first} has")
    for name in other.columns:
        if name not in frame.columns:
            raise DataError(f"{second}: it has a column {name!r}, which {first} has not")
    # Same names in another order: pandas joins by name.
