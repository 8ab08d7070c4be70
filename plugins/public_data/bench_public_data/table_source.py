"""The base class of the CSV and Parquet sources: parts in several files, groups with prices, located errors."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, MinLen

from bench_core import Costs, DataContext, DataError, Dataset, DataSource, did_you_mean
from bench_public_data.local_files import file_status, files_fingerprint, find_file, stem
from bench_public_data.table_columns import is_marked, mixed, same_columns, without_zeros

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableSource"]

_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class TableSource(DataSource):
    """A table in a file of your own; the subclasses `Csv` and `Parquet` read it.

    A relative path is looked up in the working directory, then in the mirror.

    Attributes:
        path: the table; its training part when ``test_path`` is given.
        target: name of the target column.
        test_path: a file with the same columns, the test part of a given split.
        validation_path: a file with the same columns, the validation part of a given split.
        task: ``binary``, ``multiclass``, ``regression`` or ``ranking``; guessed when None.
        categorical: names of numeric columns that hold categories (text columns always do).
        drop: names of columns to leave out.
        size: name of the column that holds item sizes.
        query: name of the column that holds query ids.
        split: name of the column that holds ``train``, ``validation`` or ``test``.
        groups: acquisition groups, ``{name = pattern}`` over feature names (``{view1 = "view1_*"}``), for the data
            set's own prices (cost scheme ``from-data``).
        group_prices: ``{group = price}``, paid once per row with the group's first feature; 0 for other groups.
        price_each: the price of every feature; None: with ``groups``, a feature in a group costs nothing more and any
            other feature costs 1; without, the data set has no prices.
        name: name of the data set in tables; empty takes the file's name.
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
    group_prices: dict[str, Annotated[float, Ge(0)]] = field(default_factory=dict)
    price_each: Annotated[float, Ge(0)] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation_path and not self.test_path:
            raise ValueError("validation_path needs test_path")
        if self.test_path and self.split:
            raise ValueError("give test_path or split, not both")
        if Path(self.path) in map(Path, self.paths()[1:]):
            raise ValueError(f"path and test_path (or validation_path) are the same file, {self.path!r}")
        for group in self.group_prices:
            if group not in self.groups:
                raise ValueError(f"group_prices names {group!r}; {did_you_mean(group, self.groups) or 'no groups'}")

    @property
    def own_split(self) -> bool:
        return bool(self.test_path)

    @abstractmethod
    def read(self, path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
        """Read a file as a table.

        Args:
            path: the file.
            texts: columns that are read as text even where every value looks like a number, where a file has no types.

        Raises:
            DataError: the file is malformed; the message names the file and the line.
        """

    @abstractmethod
    def where(self, path: Path, row: int) -> str:
        """Return the place of a row in a file, for messages (``a.csv, line 7``)."""

    def labels(self, path: Path) -> list[str]:
        """Return the texts of the target in a file that has no types; empty if it has."""
        return []

    def hint(self, names: list[str]) -> str:
        """Return what else may be wrong if a column is missing, for messages; empty if nothing is known."""
        return ""

    def paths(self) -> list[str]:
        """Return the files, training part first."""
        return [path for path in (self.path, self.validation_path, self.test_path) if path]

    def find(self, context: DataContext) -> list[Path]:
        """Return the files where they are, training part first.

        Raises:
            DataUnavailable: one is missing; the message names the nearest file name.
        """
        return [find_file(path, context) for path in self.paths()]

    def status(self, context: DataContext) -> str:
        """Return ``cached`` if the files are at their own paths, ``mirrored`` if in the mirror, else ``missing``."""
        return file_status(self.paths(), context)

    def fingerprint(self, context: DataContext) -> str | None:
        """Return paths, lengths and modification times of the files; None if one is missing."""
        if self.status(context) == "missing":
            return None
        return files_fingerprint(self.find(context))

    def load(self, context: DataContext) -> Dataset:
        import pandas as pd

        given = zip((self.path, self.validation_path, self.test_path), range(3), strict=True)
        codes = [code for path, code in given if path]
        files = self.find(context)
        frames = [self._checked(path, self.read(path)) for path in files]
        for path, frame in zip(files[1:], frames[1:], strict=True):
            same_columns(files[0], frames[0], path, frame)
        if several := mixed(frames):
            frames = [self._checked(path, self.read(path, several)) for path in files]
            for column in mixed(frames):
                others = ", ".join(map(str, files[1:]))
                raise DataError(f"{files[0]}: column {column!r} holds numbers here or in {others}, but not in both")
        table = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
        self._check_numbers(files, [len(frame) for frame in frames], table)
        try:
            dataset = Dataset.from_frame(
                self.name or stem(self.path),
                table,
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
        if dataset.classes and pd.api.types.is_numeric_dtype(table[self.target].dtype):
            labels = [label for path in files for label in self.labels(path)]
            dataset = replace(dataset, classes=self._classes(files[0], dataset, labels))
        if len(frames) > 1:
            parts = np.repeat(np.array(codes, dtype=np.int8), [len(frame) for frame in frames])
            dataset = replace(dataset, split=parts)
        return replace(dataset, costs=self._costs(files[0], dataset.feature_names))

    def _checked(self, path: Path, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table without dropped columns.

        Raises:
            DataError: a column occurs twice or is missing, there are no rows, a row has no target, or a value is
                infinite.
        """
        import pandas as pd

        if frame.columns.duplicated().any():
            twice = frame.columns[frame.columns.duplicated()][0]
            raise DataError(f"{path}: two columns are called {twice!r}")
        named = [("target", self.target), ("size", self.size), ("query", self.query), ("split", self.split)]
        named += [("categorical", column) for column in self.categorical] + [("drop", c) for c in self.drop]
        for what, column in named:
            if column is not None and column not in frame.columns:
                known = did_you_mean(column, frame.columns) + self.hint([str(name) for name in frame.columns])
                raise DataError(f"{path}: there is no column {column!r} ({what}); {known}")
        if not len(frame):
            raise DataError(f"{path}: the table has no rows")
        if (missing := frame[self.target].isna()).any():
            place = self.where(path, int(missing.to_numpy().argmax()))
            raise DataError(f"{place}: target {self.target!r} misses {missing.sum()} value(s); remove such rows")
        frame = frame.drop(columns=self.drop)
        for column in frame.columns:
            if pd.api.types.is_numeric_dtype(frame[column].dtype):
                infinite = np.isinf(frame[column].to_numpy(dtype=np.float64, na_value=np.nan))
                if infinite.any():
                    row = int(infinite.argmax())
                    raise DataError(f"{self.where(path, row)}, column {column!r}: the value is infinite")
        return frame

    def _classes(self, path: Path, dataset: Dataset, labels: list[str]) -> tuple[str, ...]:
        """Return the classes as they are written in the file, but without zeros that end decimals (``1`` for ``1.0``).

        Raises:
            DataError: two labels are one number.
        """
        classes, codes = list(dataset.classes), np.asarray(dataset.target).tolist()
        found: dict[int, str] = {}
        for code, label in sorted(set(zip(codes, labels, strict=False))):
            classes[code] = without_zeros(label)
            if without_zeros(found.setdefault(code, label)) != classes[code]:
                raise DataError(
                    f"{path}: labels {found[code]!r} and {label!r} of the target {self.target!r} are the same number; "
                    "write them alike, or as texts such as 'c1'"
                )
        return tuple(classes)

    def _check_numbers(self, files: list[Path], lengths: list[int], table: pd.DataFrame) -> None:
        """Refuse a numeric column with a few texts, which would silently become a categorical one.

        Raises:
            DataError: a value is a text although numbers are required; at least 90 % of the values are numbers; or most
                are numbers, many of them distinct, and the others are one or two repeated texts.
        """
        import pandas as pd

        must = {self.size} | ({self.target} if self.task in ("regression", "ranking") else set())
        free = {*self.categorical, self.query, self.split, self.target} - must
        for column in table.columns:
            values = table[column]
            kind = values.dtype
            if column in free or isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(kind):
                continue
            present = values.notna().to_numpy()
            written = values
            if getattr(self, "decimal", ".") == ",":  # as in `read_exact`, a point makes a text
                written = values.str.replace(".", "?", regex=False).str.replace(",", ".", regex=False)
            texts = present & pd.to_numeric(written, errors="coerce").isna().to_numpy()
            share = 1 - texts.sum() / max(int(present.sum()), 1)
            if not texts.any() or not (column in must or share >= _NEARLY_ALL or is_marked(values, present, texts)):
                continue
            row = int(texts.argmax())
            advice = ""
            if hasattr(self, "missing"):
                marker = shlex.quote(str(values.iloc[row]))
                advice = f"; if it marks a missing value, add it to missing (bench fit: --missing {marker})"
            if column not in must:
                advice += f"; if the column holds categories, set categorical = [{column!r}] (bench fit: --categorical)"
            file = int(np.searchsorted(np.cumsum(lengths), row, side="right"))
            place = self.where(files[file], row - sum(lengths[:file]))
            raise DataError(f"{place}, column {column!r}: {values.iloc[row]!r} is not a number{advice}")

    def _costs(self, path: Path, features: tuple[str, ...]) -> Costs | None:
        if not self.groups:
            return None if self.price_each is None else Costs(np.full(len(features), self.price_each))
        member = np.full(len(features), -1)
        for number, (group, pattern) in enumerate(self.groups.items()):
            matched = np.array([fnmatchcase(name, pattern) for name in features])
            if not matched.any():
                raise DataError(f"{path}: no feature's name matches {pattern!r} (group {group!r})")
            if (member[matched] >= 0).any():
                twice = features[int(np.flatnonzero(matched & (member >= 0))[0])]
                raise DataError(f"{path}: feature {twice!r} is in two groups")
            member[matched] = number
        own = np.where(member >= 0, 0.0, 1.0) if self.price_each is None else np.full(len(features), self.price_each)
        return Costs(own, member, np.array([self.group_prices.get(group, 0.0) for group in self.groups]))
