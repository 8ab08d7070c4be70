"""The data source ``svmlight``: SVMlight and LETOR files, with query ids or group files, graded or binary relevance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import NDArray

from bench_core import DataContext, DataError, Dataset, DataSource
from bench_public_data.local_files import file_status, files_fingerprint, find_file, stem
from bench_public_data.svmlight_format import line_of_feature, read_groups, read_svmlight

__all__ = ["SvmLight"]

_LEAST_ROWS = 1000


@dataclass(frozen=True)
class SvmLight(DataSource):
    """SVMlight / LETOR text files of your own, also compressed (.gz, .bz2, .xz).

    A line is ``<target> [qid:<query>] <index>:<value> … [# comment]``; features that a line does not name are 0.
    Without ``qid:``, a group file (a line with the number of rows of each query, as in LightGBM) gives the queries.
    A relative path is looked up in the working directory, then in the mirror.

    Attributes:
        path: the data; its training part when ``test_path`` is given.
        test_path, validation_path: further files, for a given split.
        query_path, test_query_path, validation_query_path: group files. By default ``<name>.query`` in the data's
            directory, if it exists (``a.query`` or ``a.txt.query`` for ``a.txt.xz``).
        task: None: ``ranking`` if there are queries, else classes if there are at most 20 targets, all integers, else
            regression.
        relevant_from: the least relevant grade: it and greater ones become 1, lower ones 0; None keeps the grades.
        repeat_irrelevant: how many times a row that is not relevant is repeated (10 gives CSTC §6.3's skewed set).
        features: number of features; None takes the highest index in all files.
        first_index: the index of the first feature in the files.
        most_values: the largest number of values (rows × features) that is accepted, since the table is dense (8 bytes
            a value). Fewer than 1000 rows count as 1000, since features have names and prices, too.
        name: name of the data set in tables; empty takes the file's name.
    """

    network: ClassVar[bool] = False

    path: Annotated[str, MinLen(1)]
    test_path: str = ""
    validation_path: str = ""
    query_path: str = ""
    test_query_path: str = ""
    validation_query_path: str = ""
    task: Literal["binary", "multiclass", "regression", "ranking"] | None = None
    relevant_from: float | None = None
    repeat_irrelevant: Annotated[int, Ge(1)] = 1
    features: Annotated[int, Ge(1)] | None = None
    first_index: Literal[0, 1] = 1
    most_values: Annotated[int, Ge(1)] = 500_000_000
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation_path and not self.test_path:
            raise ValueError("validation_path needs test_path")
        if Path(self.path) in map(Path, filter(None, (self.test_path, self.validation_path))):
            raise ValueError(f"path and test_path (or validation_path) are the same file, {self.path!r}")
        if self.repeat_irrelevant > 1 and self.relevant_from is None:
            raise ValueError("repeat_irrelevant needs relevant_from")

    @property
    def own_split(self) -> bool:
        return bool(self.test_path)

    def paths(self) -> list[str]:
        """Return the data files, training part first, then the group files given as parameters."""
        data = (self.path, self.validation_path, self.test_path)
        groups = (self.query_path, self.validation_query_path, self.test_query_path)
        return [path for path in (*data, *groups) if path]

    def status(self, context: DataContext) -> str:
        """Return ``cached`` if the files are at their own paths, ``mirrored`` if in the mirror, else ``missing``."""
        return file_status(self.paths(), context)

    def fingerprint(self, context: DataContext) -> str | None:
        """Return paths, lengths and modification times of the data and group files; None if one is missing."""
        if self.status(context) == "missing":
            return None
        files = []
        for _, path, groups in self._parts(context):
            files.extend([path] if groups is None else [path, groups])
        return files_fingerprint(files)

    def load(self, context: DataContext) -> Dataset:
        parts = self._parts(context)
        tables = [read_svmlight(path, self.first_index) for _, path, _ in parts]
        width = max(table.values.shape[1] for table in tables)
        if self.features is not None:
            for (_, path, _), table in zip(parts, tables, strict=True):
                if table.values.shape[1] > self.features:
                    raise DataError(
                        f"{path}: it names feature {table.values.shape[1] - 1 + self.first_index}, but features = "
                        f"{self.features}"
                    )
            width = self.features
        rows = sum(len(table.target) for table in tables)
        self._check_size(rows, width, [path for _, path, _ in parts], [t.values.shape[1] for t in tables])
        values = np.zeros((rows, width))
        start = 0
        for table in tables:
            values[start : start + len(table.target), : table.values.shape[1]] = table.values.toarray()
            start += len(table.target)
        target = np.concatenate([table.target for table in tables])
        query = self._queries(parts, [table.query for table in tables], [len(table.target) for table in tables])
        split = None
        if len(parts) > 1:
            split = np.repeat(
                np.array([code for code, _, _ in parts], dtype=np.int8), [len(table.target) for table in tables]
            )
        if self.relevant_from is not None:
            target = (target >= self.relevant_from).astype(np.float64)
            order = np.repeat(np.arange(len(target)), np.where(target == 0, self.repeat_irrelevant, 1))
            values, target = values[order], target[order]
            query = None if query is None else query[order]
            split = None if split is None else split[order]
        task, codes, classes = self._target(target, ranking=query is not None)
        if task == "ranking" and query is None:
            raise DataError(f"{parts[0][1]}: ranking needs queries: no line has qid:, and there is no group file")
        try:
            return Dataset(
                name=self.name or stem(self.path),
                task=task,
                values=values,
                feature_names=tuple(f"f{i + self.first_index}" for i in range(width)),
                target=codes,
                classes=classes,
                query=query,
                split=split,
                provenance={"source": ", ".join(path.name for _, path, _ in parts)},
            )
        except DataError as error:
            raise DataError(f"{parts[0][1]}: {error}") from None

    def _check_size(self, rows: int, width: int, paths: list[Path], widths: list[int]) -> None:
        """Refuse a table that would be too large, before memory is allocated for it.

        Raises:
            DataError: the table would have more than ``most_values`` values; the message names file, line and feature.
        """
        counted = max(rows, _LEAST_ROWS) * width
        if counted <= self.most_values:
            return
        if self.features is None:
            widest = paths[widths.index(width)]
            feature = width - 1 + self.first_index
            where = f"{widest}, line {line_of_feature(widest, feature)}: feature number {feature}"
        else:
            where = f"{paths[0]}: features = {width}"
        raise DataError(
            f"{where} makes a dense table of {rows} x {width} numbers, counted as {counted}; to allow it, set "
            f"most_values = {counted} (now {self.most_values})"
        )

    def _parts(self, context: DataContext) -> list[tuple[int, Path, Path | None]]:
        """Return part (0 train, 1 validation, 2 test), data file and group file of each part."""
        named = (
            (0, self.path, self.query_path),
            (1, self.validation_path, self.validation_query_path),
            (2, self.test_path, self.test_query_path),
        )
        parts = []
        for code, path, groups in named:
            if not path:
                continue
            file = find_file(path, context)
            parts.append((code, file, find_file(groups, context) if groups else _group_file(file)))
        return parts

    def _queries(
        self, parts: list[tuple[int, Path, Path | None]], given: list[NDArray[np.int64] | None], lengths: list[int]
    ) -> NDArray[np.int64] | None:
        """Return the query ids of all rows: from ``qid:``, or from group files, numbered across the files.

        Raises:
            DataError: some files have queries and some do not.
        """
        queries: list[NDArray[np.int64]] = []
        first = 0
        for (_, path, groups), query, rows in zip(parts, given, lengths, strict=True):
            if query is None and groups is not None:
                sizes = read_groups(groups, rows, path)
                query = np.repeat(np.arange(len(sizes)) + first, sizes)
                first += len(sizes)
            if query is not None:
                queries.append(query)
        if not queries:
            return None
        if len(queries) < len(parts):
            without = [
                path for (_, path, groups), query in zip(parts, given, strict=True) if query is None and groups is None
            ]
            raise DataError(f"{without[0]}: no queries (qid: or a group file), unlike the other files")
        return np.concatenate(queries)

    def _target(
        self, target: NDArray[np.float64], *, ranking: bool
    ) -> tuple[Literal["binary", "multiclass", "regression", "ranking"], NDArray[np.generic], tuple[str, ...]]:
        task = self.task
        levels, codes = np.unique(target, return_inverse=True)
        if task is None:
            few_integers = bool((levels == np.round(levels)).all()) and len(levels) <= 20
            classes = "binary" if len(levels) <= 2 else "multiclass"
            task = "ranking" if ranking else classes if few_integers else "regression"  # type: ignore[assignment]
        kind = task or "regression"
        if kind in ("ranking", "regression"):
            return kind, target, ()
        texts = tuple(str(int(level)) if level == round(level) else str(level) for level in levels)
        return kind, codes.astype(np.int64), texts


def _group_file(path: Path) -> Path | None:
    plain = path.name.removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")
    for name in (f"{stem(path)}.query", f"{plain}.query"):
        if (path.parent / name).is_file():
            return path.parent / name
    return None
