"""Data sets: a named table of features and a target.

A `Dataset` holds every feature as one column of a float matrix. Numbers are kept unchanged, missing values are NaN,
and categories given as text become codes (the texts are kept). `bench_core.protocol.encode` later computes the matrix
that methods get; it is fitted on the training part only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.canonical import content_hash, plain
from bench_core.contract.costs import Costs, count_units
from bench_core.contract.decisions import Rows
from bench_core.contract.errors import DataError
from bench_core.contract.facts import SPLIT_NAMES, DataFacts, Task
from bench_core.contract.readonly import locked

if TYPE_CHECKING:
    import pandas as pd

_ARRAYS = ("values", "target", "sizes", "query", "split")


@dataclass(frozen=True)
class Part:
    """Rows with labels, from which a method may learn.

    Attributes:
        X: float64 (rows, columns), encoded.
        y: int64 class codes (rows,) for classification, float64 (rows,) for regression and ranking grades.
        sizes: float64 (rows,) item sizes, or None when prices do not depend on size.
        query: int64 (rows,) query ids, for ranking; None otherwise.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    sizes: NDArray[np.float64] | None = None
    query: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.X)

    def rows(self) -> Rows:
        """The same rows without labels, as a policy gets them."""
        return Rows(self.X, self.sizes, self.query)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named table: features, a target, a task; optionally item sizes, query ids, a given split, own prices.

    Its arrays are read-only views of the arrays that it was made from.

    Attributes:
        name: its name in messages and tables.
        task: ``binary``, ``multiclass``, ``regression`` or ``ranking``.
        values: float (rows, features); NaN is a missing value; a text category is its code.
        feature_names: unique, non-empty, in column order.
        target: int64 codes into ``classes``, or float64 values (regression) or grades (ranking).
        classes: names of the classes, in code order; empty for regression and ranking.
        categorical: indices of the features that are categories (codes or the integers of the source).
        categories: feature index → texts of its codes, for categories that were text.
        sizes: float64 (rows,) item sizes ≥ 0, for prices that grow with them.
        query: int64 (rows,) query ids, for ranking.
        split: int8 (rows,): 0 train, 1 validation, 2 test: the split that comes with the data.
        costs: the prices that come with the data, used by the cost scheme ``from-data``.
        provenance: where the data comes from: source, licence, anything worth printing.
        origin: for a table whose last bits depend on the machine (descriptors of images, fitted prices): the inputs'
            hashes, the steps, their versions and parameters, as plain JSON. `content` hashes this instead of ``values``
            and ``costs``, so it must contain everything that they depend on. By default None: `content` hashes both to
            the last bit.

    Raises:
        DataError: no rows, one class, an infinite value, names that are empty or not unique, lengths that differ.
    """

    name: str
    task: Task
    values: NDArray[np.floating[Any]]
    feature_names: tuple[str, ...]
    target: NDArray[Any]
    classes: tuple[str, ...] = ()
    categorical: tuple[int, ...] = ()
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    sizes: NDArray[np.float64] | None = None
    query: NDArray[np.int64] | None = None
    split: NDArray[np.int8] | None = None
    costs: Costs | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    origin: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if wrong := self._wrong():
            raise DataError(f"data set {self.name!r}: {wrong}")
        for name in _ARRAYS:
            if (held := getattr(self, name)) is not None:
                object.__setattr__(self, name, locked(held))

    def _wrong(self) -> str:
        rows = len(self.target)
        if self.task not in get_args(Task):
            return f"task must be one of {', '.join(get_args(Task))}, not {self.task!r}"
        if self.values.ndim != 2 or self.values.dtype.kind != "f":
            return f"values must be a 2-D float array, not {self.values.ndim}-D {self.values.dtype}"
        if rows == 0 or self.values.shape[0] == 0:
            return "it has no rows"
        if self.values.shape != (rows, len(self.feature_names)):
            names = len(self.feature_names)
            return f"values have shape {self.values.shape}, but there are {rows} targets and {names} feature names"
        if not self.feature_names:
            return "it has no features"
        if wrong := self._wrong_names() or self._wrong_values() or self._wrong_target():
            return wrong
        for label, column in (("sizes", self.sizes), ("query", self.query), ("split", self.split)):
            if column is not None and column.shape != (rows,):
                return f"{label} must have one entry per row ({rows}), not shape {column.shape}"
        if self.split is not None and not np.isin(self.split, range(len(SPLIT_NAMES))).all():
            return f"split codes must be 0 to {len(SPLIT_NAMES) - 1} ({', '.join(SPLIT_NAMES)})"
        for index in (*self.categorical, *self.categories):
            if not 0 <= index < len(self.feature_names):
                return f"categorical names feature {index}, it has {len(self.feature_names)} (counted from 0)"
        if self.sizes is not None and not (np.isfinite(self.sizes) & (self.sizes >= 0)).all():
            return "item sizes must be finite and not negative"
        if self.task == "ranking" and self.query is None:
            return "a ranking data set needs query ids"
        if self.costs is not None and self.costs.n_features != len(self.feature_names):
            return f"its own prices are for {self.costs.n_features} features, it has {len(self.feature_names)}"
        return ""

    def _wrong_names(self) -> str:
        if len(set(self.feature_names)) != len(self.feature_names):
            twice = [name for name, count in Counter(self.feature_names).items() if count > 1]
            return f"feature names must be unique; twice: {', '.join(map(repr, twice[:5]))}"
        if invalid := [name for name in self.feature_names if not isinstance(name, str)]:
            return f"feature names must be texts, not {invalid[0]!r}"
        empty = [i for i, name in enumerate(self.feature_names) if not name.strip()]
        return f"feature {empty[0]} (counted from 0) has an empty name" if empty else ""

    def _wrong_values(self) -> str:
        # A sum is finite unless a NaN or an infinity is in it: one pass for the usual, clean table.
        with np.errstate(invalid="ignore", over="ignore"):
            if np.isfinite(self.values.sum()):
                return ""
            infinite = np.isinf(self.values)
        for column in np.flatnonzero(infinite.any(axis=0)):
            return f"feature {self.feature_names[column]!r} holds {infinite[:, column].sum()} infinite value(s)"
        return ""

    def _wrong_target(self) -> str:
        if self.task in ("regression", "ranking"):
            if self.target.dtype.kind != "f":
                return f"the target of a {self.task} task must be float64, not {self.target.dtype}"
            if not np.isfinite(self.target).all():
                return f"the target holds {int((~np.isfinite(self.target)).sum())} values that are not finite"
            return ""
        if self.target.dtype.kind != "i":
            return f"the target of a {self.task} task must be class codes (int64), not {self.target.dtype}"
        if len(self.classes) < 2:
            held = f" ({self.classes[0]!r})" if self.classes else ""
            return f"classification needs at least two classes, it has {len(self.classes)}{held}"
        if self.task == "binary" and len(self.classes) != 2:
            return f"a binary task has two classes, not {len(self.classes)}"
        if self.target.min() < 0 or self.target.max() >= len(self.classes):
            return f"class codes must be 0..{len(self.classes) - 1}"
        if self.target.min() == self.target.max():
            return f"every row is of one class ({self.classes[int(self.target[0])]!r})"
        return ""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def n_features(self) -> int:
        """Number of features: the units that are acquired and paid for."""
        return len(self.feature_names)

    @cached_property
    def content(self) -> str:
        """SHA-256 of everything that can change a result; the name and the provenance are left out.

        If there is an `origin`, it is hashed instead of the values and the prices.
        """
        costs = None if self.costs is None else self.costs.as_plain()
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        header: dict[str, Any] = {
            "task": self.task,
            "features": list(self.feature_names),
            "classes": list(self.classes),
            "categorical": [int(i) for i in self.categorical],
            "categories": {str(i): list(texts) for i, texts in sorted(self.categories.items())},
            "costs": costs,
        }
        if self.origin is not None:
            del arrays["values"]
            header["origin"] = plain(self.origin)
            if costs is not None:
                header["costs"] = {key: costs[key] for key in ("groups", "classes")}
        return content_hash(header, arrays)

    @classmethod
    def from_frame(
        cls,
        name: str,
        frame: pd.DataFrame,
        target: str,
        *,
        task: Task | None = None,
        categorical: Sequence[str] = (),
        size: str | None = None,
        query: str | None = None,
        split: str | None = None,
        **others: Any,
    ) -> Dataset:
        """A data set from a pandas table.

        Args:
            name: its name in messages.
            frame: one row per example.
            target: name of the target column.
            task: the task. None guesses it: text, booleans, categories and integers with at most 20 distinct values
                are classes; anything else is regression.
            categorical: names of number columns that are categories (text columns always are).
            size: name of the column with item sizes; it is not a feature.
            query: name of the column with query ids; it is not a feature.
            split: name of the column with ``train``, ``validation`` or ``test``; it is not a feature.
            **others: further fields of `Dataset`.

        Raises:
            DataError: a named column is missing, the target has missing values, or the table is malformed.
        """
        from bench_core.contract.frames import fields_of_frame

        try:
            fields = fields_of_frame(frame, target, task, categorical, size, query, split)
        except DataError as error:
            raise DataError(f"data set {name!r}: {error}") from None
        return cls(name=name, **{**fields, **others})


def facts_of(dataset: Dataset) -> DataFacts:
    """The facts of a loaded data set."""
    own = dataset.costs
    return DataFacts(
        name=dataset.name,
        task=dataset.task,
        n_classes=len(dataset.classes),
        feature_names=dataset.feature_names,
        n_units=dataset.n_features if own is None else count_units(own),
        missing=bool(np.isnan(dataset.values).any()),
        queries=dataset.query is not None,
        priced=own is not None,
        n_rows=dataset.n_rows,
    )
