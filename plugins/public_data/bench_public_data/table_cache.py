"""The cache of downloaded tables: a Parquet file and a JSON note per table, verified on every read.

A table is cached if its note holds the length and SHA-256 of its Parquet file. Both files are written under a temporary
name and renamed, the note last, so that an interrupted download or a killed process never leaves an invalid table.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench_core import DataUnavailable, content_hash

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CachedTable", "code_texts", "table_hash"]

_FORMAT = 1


@dataclass(frozen=True)
class CachedTable:
    """A table's place in the cache, whether or not the table is there.

    Attributes:
        folder: directory of the source (``<cache>/openml``).
        name: name of the table in it (``37``).
    """

    folder: Path
    name: str

    @property
    def data_path(self) -> Path:
        """The Parquet file."""
        return self.folder / f"{self.name}.parquet"

    @property
    def note_path(self) -> Path:
        """The JSON note with the table's length, checksum and description."""
        return self.folder / f"{self.name}.json"

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """Lock the place against other processes and threads, and yield a temporary folder, deleted afterwards.

        Temporary files of a killed process are deleted first.

        Raises:
            DataUnavailable: the cache cannot be written.
        """
        from filelock import FileLock

        lock = FileLock(self.folder / f"{self.name}.lock")
        scratch = self.folder / f".{self.name}.scratch"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except OSError as error:
            raise DataUnavailable(
                f"the cache {self.folder} cannot be written: {error}", "set BUDGETBENCH_CACHE to a writable directory"
            ) from error
        try:
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            lock.release()

    def note(self) -> dict[str, Any] | None:
        """Return the table's note; None if the table is not cached, or the file's length differs from the note."""
        try:
            note: dict[str, Any] = json.loads(self.note_path.read_text(encoding="utf-8"))
            fits = note["format"] == _FORMAT and note["bytes"] == self.data_path.stat().st_size
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return note if fits else None

    def read(self) -> tuple[pd.DataFrame, dict[str, Any]] | None:
        """Return the table and its note; None if it is not cached or is damaged."""
        import pyarrow.parquet as pq

        note = self.note()
        if note is None or _file_hash(self.data_path) != note["sha256"]:
            return None
        # The threads of pq.read_table can outlive the interpreter, which then aborts.
        return pq.ParquetFile(self.data_path).read(use_threads=False).to_pandas(use_threads=False), note

    def write(self, frame: pd.DataFrame, about: Mapping[str, Any]) -> None:
        """Write a table to the cache, replacing the one there. Call it within `filling`.

        Args:
            frame: numeric and categorical columns (`pandas` dtypes); the index is dropped.
            about: plain JSON values for the note: name, target, licence, source.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f".{self.name}.tmp"
        try:
            frame.reset_index(drop=True).to_parquet(temporary, compression="zstd")
            note = {
                **about,
                "format": _FORMAT,
                "rows": len(frame),
                "columns": len(frame.columns),
                "bytes": temporary.stat().st_size,
                "sha256": _file_hash(temporary),
                "content": table_hash(frame),
            }
            _flush(temporary)
            temporary.replace(self.data_path)
            temporary.write_text(json.dumps(note, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            _flush(temporary)
            temporary.replace(self.note_path)
        finally:
            temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def code_texts(column: pd.Series[Any]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the codes of a text or categorical column, float64 with NaN where missing, and its sorted texts."""
    import pandas as pd

    codes, values = pd.factorize(column)
    texts = np.array([str(value) for value in values], dtype=object)
    levels, rank = np.unique(texts.astype(str), return_inverse=True) if len(texts) else (texts, texts)
    # Missing values have the code -1, which selects the last entry.
    place = np.append(rank.astype(np.float64), np.nan)
    return place[codes], tuple(str(level) for level in levels)


def table_hash(frame: pd.DataFrame) -> str:
    """Return the SHA-256 of a table's columns in order: names, numbers as float64, texts by value.

    Storage types (uint8 or float64, text or category) do not change it, so Parquet, ARFF and CSV give the same hash.
    """
    import pandas as pd

    header: list[Any] = []
    arrays: dict[str, np.ndarray | None] = {}
    for i, name in enumerate(frame.columns):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            arrays[f"{i:06d}"], texts = column.to_numpy(dtype=np.float64, na_value=np.nan), None
        else:
            arrays[f"{i:06d}"], coded = code_texts(column)
            texts = list(coded)
        header.append([str(name), texts])
    return content_hash(header, arrays)
