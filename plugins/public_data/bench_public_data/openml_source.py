"""The data source ``openml``: data sets of OpenML by number, from the cache, a mirror or the server, in that order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from bench_core import DataContext, DataError, Dataset, DataSource, DataUnavailable, Task, did_you_mean
from bench_public_data.openml_client import download, from_mirror, mirrored_folder
from bench_public_data.rows import given_split, row_range
from bench_public_data.table_cache import CachedTable, code_texts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OpenML"]

# Rows and columns (with the target) as OpenML shows them; a download of another shape is refused.
_SHAPES = {
    37: (768, 9),
    44: (4601, 58),
    554: (70000, 785),
    1486: (34465, 119),
    1590: (48842, 15),
    1596: (581012, 55),
    41150: (130064, 51),
}
_READY_MADE = {44: "spambase", 554: "mnist", 1486: "nomao", 1590: "adult", 1596: "covertype", 41150: "miniboone"}


@dataclass(frozen=True)
class OpenML(DataSource):
    """A data set of OpenML (openml.org) by its number.

    Rows are numbered from 0 in the order of OpenML's file, before any row is left out.

    Attributes:
        id: OpenML's number of the data set.
        target: name of the target column; None takes OpenML's default target.
        task: ``binary``, ``multiclass``, ``regression``; None: classes for a nominal target, else guessed from the
            target's values.
        categorical: ``declared``: columns that OpenML declares nominal are categories, coded in the order of their
            sorted names. ``numbers``: nominal columns whose values are all numbers, such as 0/1 indicators, are
            numeric instead.
        also_categorical: names of numeric columns that hold categories.
        classes: keep only rows of these classes; empty keeps all.
        rows: keep only this range of rows: ``"0:5000"``, ``"first:5000"``; empty keeps all.
        split: ``"first:60000"``: these rows are the training part, all others the test part.
        train_rows, validation_rows, test_rows: ranges of rows for a given split, instead of ``split``
            (``train_rows = "16281:"``, ``test_rows = ":16281"``). Rows in none of them are left out.
        dtype: type of the values; ``float32`` halves the memory and is exact for integers below 2**24.
        name: name of the data set in tables; empty takes OpenML's name.
    """

    network: ClassVar[bool] = True

    id: Annotated[int, Ge(1)]
    target: str | None = None
    task: Literal["binary", "multiclass", "regression"] | None = None
    categorical: Literal["declared", "numbers"] = "declared"
    also_categorical: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    rows: str = ""
    split: str = ""
    train_rows: str = ""
    validation_rows: str = ""
    test_rows: str = ""
    dtype: Literal["float64", "float32"] = "float64"
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("rows", "split", "train_rows", "validation_rows", "test_rows"):
            if getattr(self, what):
                row_range(getattr(self, what), what)
        parts = self.train_rows or self.validation_rows or self.test_rows
        if self.split and parts:
            raise ValueError("give split or train_rows, validation_rows and test_rows, not both")
        if parts and not (self.train_rows and self.test_rows):
            raise ValueError("a given split needs train_rows and test_rows")

    def place(self, context: DataContext) -> CachedTable:
        """Return the table's place in the cache."""
        return CachedTable(context.cache / "openml", str(self.id))

    def hint(self) -> str:
        """Return how the data can be made available, for error messages."""
        if self.id in _READY_MADE:
            way = f"run bench data fetch {_READY_MADE[self.id]}, with a network"
        else:
            way = "it is downloaded when it is first used with a network and without offline"
        return f"{way}; or set BUDGETBENCH_MIRROR to a mirror that holds openml_cache/"

    def status(self, context: DataContext) -> str:
        """Return ``cached``, ``mirrored`` or ``missing``."""
        if self.place(context).note() is not None:
            return "cached"
        return "mirrored" if mirrored_folder(context.mirror, self.id) is not None else "missing"

    def fingerprint(self, context: DataContext) -> str | None:
        """Return OpenML's number and the content hash of the cached table; None if it is not cached yet."""
        note = self.place(context).note()
        return None if note is None else f"openml-{self.id}:{note['content']}"

    def fetch(self, context: DataContext) -> None:
        """Put the table into the cache; a cached table is verified, and fetched again if damaged."""
        self.table(context)

    def table(self, context: DataContext) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Return OpenML's complete table and its note (name, target, licence, source, content hash).

        Raises:
            DataUnavailable: the table is neither cached nor mirrored and cannot be downloaded.
            DataError: the mirror's copy cannot be read, or the table has an unexpected shape.
        """
        place = self.place(context)
        cached = place.read()
        if cached is not None:
            return cached
        mirrored = mirrored_folder(context.mirror, self.id)
        if mirrored is None and context.offline:
            raise DataUnavailable(
                f"OpenML data set {self.id} is not in {place.folder}, and downloads are disabled (offline)", self.hint()
            )
        with place.filling() as scratch:
            cached = place.read()  # another process may have written it meanwhile
            if cached is not None:
                return cached
            if mirrored is not None:
                frame, about = from_mirror(mirrored, self.id, scratch)
            else:
                frame, about = download(self.id, scratch, self.hint())
            if frame.shape != _SHAPES.get(self.id, frame.shape):
                raise DataError(
                    f"OpenML data set {self.id} from {mirrored or 'the server'} has shape {frame.shape} "
                    f"(rows, columns), not {_SHAPES[self.id]}"
                )
            place.write(frame, about)
            cached = place.read()
        if cached is None:
            raise DataUnavailable(f"{place.data_path} changed while it was written", self.hint())
        return cached

    def load(self, context: DataContext) -> Dataset:
        frame, note = self.table(context)
        name = self.name or str(note["name"])
        target = self._target(name, frame, note)
        chosen, parts = self._rows(name, frame, target)
        if len(chosen) < len(frame):
            frame = frame.iloc[chosen]
        frame, texts = _coded(frame, target, numbers=self.categorical == "numbers")
        for column in self.also_categorical:
            if column not in frame.columns:
                raise DataError(
                    f"data set {name!r}: also_categorical names {column!r}; {did_you_mean(column, frame.columns)}"
                )
        task: Task | None = self.task
        dataset = Dataset.from_frame(
            name,
            frame,
            target,
            task=task,
            categorical=[*texts, *(column for column in self.also_categorical if column not in texts)],
            provenance={"source": str(note["source"]), "licence": str(note["licence"]), "table": str(note["content"])},
        )
        index = {column: i for i, column in enumerate(dataset.feature_names)}
        return replace(
            dataset,
            values=dataset.values.astype(self.dtype, copy=False),
            categories={index[column]: levels for column, levels in texts.items()},
            split=parts,
        )

    def _target(self, name: str, frame: pd.DataFrame, note: dict[str, Any]) -> str:
        target = self.target or note["target"]
        if not target:
            raise DataError(f"data set {name!r}: OpenML has no default target; set target = '<column>'")
        if target not in frame.columns:
            raise DataError(
                f"data set {name!r}: there is no column {target!r}; {did_you_mean(str(target), frame.columns)}"
            )
        return str(target)

    def _rows(self, name: str, frame: pd.DataFrame, target: str) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the numbers of the rows to keep, ascending, and the part of each if there is a given split."""
        parts: np.ndarray | None = None
        rows = np.arange(len(frame))
        if self.split or self.train_rows:
            rows, parts = given_split(
                name,
                len(frame),
                train=self.train_rows or self.split,
                validation=self.validation_rows,
                test=self.test_rows,
            )
        mask = np.ones(len(rows), dtype=bool)
        if self.rows:
            chosen = np.zeros(len(frame), dtype=bool)
            chosen[row_range(self.rows, "rows")] = True
            mask &= chosen[rows]
        if self.classes:
            labels = frame[target].astype(str).to_numpy(dtype=str)[rows]
            for label in self.classes:
                if not (labels == label).any():
                    raise DataError(
                        f"data set {name!r}: no row has class {label!r}; {did_you_mean(label, labels.tolist())}"
                    )
            mask &= np.isin(labels, self.classes)
        if not mask.any():
            raise DataError(f"data set {name!r}: rows = {self.rows!r} selects none of the {len(frame)} rows")
        return rows[mask], None if parts is None else parts[mask]


def _coded(frame: pd.DataFrame, target: str, *, numbers: bool) -> tuple[pd.DataFrame, dict[str, tuple[str, ...]]]:
    """Return the table with numeric features, and the category names by feature, in the order of their codes."""
    import pandas as pd

    columns: dict[str, Any] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for name in frame.columns:
        column = frame[name]
        if name == target or pd.api.types.is_numeric_dtype(column.dtype):
            columns[name] = column
            continue
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            raise DataError(f"feature {name!r} holds dates, which are not supported")
        codes, levels = code_texts(column)
        values = _as_numbers(levels) if numbers else None
        if values is None:
            columns[name], texts[name] = codes, levels
        else:
            columns[name] = np.where(np.isnan(codes), np.nan, values[np.nan_to_num(codes).astype(np.int64)])
    return pd.DataFrame(columns, index=frame.index), texts


def _as_numbers(levels: tuple[str, ...]) -> np.ndarray | None:
    """Return the texts as numbers, float64; None if one is not a finite number, or there are none."""
    try:
        values = np.array([float(level) for level in levels])
    except ValueError:
        return None
    return values if len(values) and np.isfinite(values).all() else None
