"""SVMlight and LETOR files of one's own: sparse rows, query ids, group files, graded or binary relevance."""

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
    """SVMlight / LETOR text files of one's own (also .gz, .bz2, .xz); a relative path is looked up in the working
    directory, then in the mirror.

    A line is ``<target> [qid:<query>] <index>:<value> … [# comment]``; a feature that is not named is 0. Without
    ``qid:`` a group file (one number of rows per query, as LightGBM's) gives the queries.

    Attributes:
        path: the data; its training part when ``test_path`` is given.
        test_path, validation_path: further files: a given split.
        query_path, test_query_path, validation_query_path: group files. When not named, ``<name>.query`` beside
            the data is used if it is there (``a.query`` or ``a.txt.query`` for ``a.txt.xz``).
        task: None: ``ranking`` when there are queries, else classes when targets are at most 20 whole numbers,
            else regression.
        relevant_from: grades of at least this are relevant (1), all others not (0); None leaves the grades.
        repeat_irrelevant: how often every row that is not relevant stands (10 gives CSTC §6.3's skewed set).
        features: number of features; None takes the highest index of all files.
        first_index: the number of the first feature in the files.
        most_values: refuse data of more rows × features, since the table is dense (8 bytes each); a feature counts
            for 1000 rows at least, since it has a name and a price whatever the rows.
        name: what tables call it; empty takes the file's name.
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
        if self.repeat_irrelevant > 1 and self.relevant_from is None:
            raise ValueError("repeat_irrelevant needs relevant_from")

    def paths(self) -> list[str]:
        """The data files, training part first, then the group files that are named."""
        data = (self.path, self.validation_path, self.test_path)
        groups = (self.query_path, self.validation_query_path, self.test_query_path)
        return [path for path in (*data, *groups) if path]

    def status(self, context: DataContext) -> str:
        """``cached`` when the files are at their own paths, ``mirrored`` when in the mirror, else ``missing``."""
        return file_status(self.paths(), context)

    def fingerprint(self, context: DataContext) -> str | None:
        """Names, lengths and times of change of the data and group files; None when one is missing."""
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
                        f"{path}: feature {table.values.shape[1] - 1 + self.first_index} is named, but features = "
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
            raise DataError(f"{parts[0][1]}: ranking needs queries: there is no qid: in it and no group file beside it")
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
        """Refuse a table that would be too large, before it is made.

        Raises:
            DataError: file, line and feature number are said.
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
            f"{where} makes a dense table of {rows} x {width} numbers, counted as {counted}; if that is meant, give "
            f"most_values = {counted} (now {self.most_values})"
        )

    def _parts(self, context: DataContext) -> list[tuple[int, Path, Path | None]]:
        """(part, data file, group file) of each file."""
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
        """Query ids of all rows: from ``qid:``, else from group files, numbered on from file to file."""
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
            raise DataError(f"{without[0]}: it has no queries (qid: or a group file), unlike the other files")
        return np.concatenate(queries)

    def _target(
        self, target: NDArray[np.float64], *, ranking: bool
    ) -> tuple[Literal["binary", "multiclass", "regression", "ranking"], NDArray[np.generic], tuple[str, ...]]:
        task = self.task
        levels, codes = np.unique(target, return_inverse=True)
        if task is None:
            whole = bool((levels == np.round(levels)).all()) and len(levels) <= 20
            classes = "binary" if len(levels) <= 2 else "multiclass"
            task = "ranking" if ranking else classes if whole else "regression"  # type: ignore[assignment]
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
