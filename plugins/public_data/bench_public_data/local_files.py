"""Local files: resolve paths, read plain and compressed files, refuse large ones, and fingerprint them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from bench_core import DataContext, DataError, DataUnavailable, did_you_mean

__all__ = [
    "MOST_BYTES", "file_status", "files_fingerprint", "find_file", "read_bytes", "refuse_large", "refuse_large_parquet",
    "stem",
]  # fmt: skip

_OPEN: dict[str, Callable[[Path], IO[bytes]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}  # type: ignore[dict-item]

MOST_VALUES = 500_000_000
"""The largest number of values (rows x columns) of a table: 4 GB as float64."""

MOST_BYTES = 2**29
"""The largest size of an ARFF file, or of a compressed text file once unpacked; reading takes ten times the memory."""


def refuse_large(path: Path | str, values: int) -> None:
    """Refuse a table with too many values before memory is allocated for it.

    Args:
        path: the file, for the message.
        values: number of values, rows x columns.

    Raises:
        DataError: there are more than `MOST_VALUES` values.
    """
    if values > MOST_VALUES:
        raise DataError(f"{path}: the table has {values} values (rows x columns); at most {MOST_VALUES} are read")


def refuse_large_parquet(path: Path, file: Any) -> None:
    """Refuse a Parquet file that is too large, by its metadata, without reading its data.

    Args:
        path: the file, for the message.
        file: a `pyarrow.parquet.ParquetFile`.

    Raises:
        DataError: its columns hold more than `MOST_VALUES` values, or unpack to more than 8 · `MOST_VALUES` bytes.
    """
    metadata = file.metadata
    columns = [
        metadata.row_group(g).column(c) for g in range(metadata.num_row_groups) for c in range(metadata.num_columns)
    ]
    refuse_large(path, max(metadata.num_rows * metadata.num_columns, sum(column.num_values for column in columns)))
    unpacked = sum(column.total_uncompressed_size for column in columns)
    for c, column in enumerate(columns):
        schema = metadata.schema.column(c % metadata.num_columns)
        unpacked += max(schema.length, 0) * column.num_values
    if unpacked > 8 * MOST_VALUES:
        raise DataError(f"{path}: the columns unpack to {unpacked} bytes; at most {8 * MOST_VALUES} are read")


def _places(path: str, context: DataContext) -> list[Path]:
    given = Path(path).expanduser()
    if given.is_absolute() or context.mirror is None:
        return [given]
    return [given, context.mirror / given]


def find_file(path: str, context: DataContext) -> Path:
    """Find a file by its path, relative to the working directory, then to the mirror.

    Raises:
        DataUnavailable: it is in neither directory; the message names both, and the nearest file name.
    """
    places = _places(path, context)
    for place in places:
        if place.is_file():
            return place
    for folder in filter(Path.is_dir, places):
        raise DataUnavailable(f"{str(folder.absolute())!r} is a directory, not a file")
    near = next((place.parent for place in places if place.parent.is_dir()), None)
    names = sorted(file.name for file in near.iterdir()) if near else []
    hint = did_you_mean(Path(path).name, names) if names else ""
    searched = " nor ".join(repr(str(place.absolute())) for place in places)
    raise DataUnavailable(
        f"there is no file {searched}" + (f"; {hint}" if hint else ""),
        "paths are relative to the working directory, then to the mirror (BUDGETBENCH_MIRROR)",
    )


def file_status(paths: Sequence[str], context: DataContext) -> str:
    """Return ``cached`` (all files at their own paths), ``mirrored`` (some in the mirror only) or ``missing``."""
    states = []
    for path in paths:
        places = [place.is_file() for place in _places(path, context)]
        if not any(places):
            return "missing"
        states.append(places[0])
    return "cached" if all(states) else "mirrored"


def files_fingerprint(paths: Sequence[Path]) -> str:
    """Return a text of the files' paths, lengths and modification times."""
    parts = []
    for path in paths:
        about = path.stat()
        parts.append(f"{path.absolute()}:{about.st_size}:{about.st_mtime_ns}")
    return "|".join(parts)


def read_bytes(path: Path) -> bytes:
    """Read a file's bytes, decompressed according to its extension (.gz, .bz2, .xz).

    Raises:
        DataError: the file is empty, cannot be decompressed, or unpacks to more than `MOST_BYTES`.
    """
    unpack = _OPEN.get(path.suffix.lower())
    try:
        if unpack is None:
            data = path.read_bytes()
        else:
            with unpack(path) as file:
                data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    if unpack is not None and len(data) > MOST_BYTES:
        raise DataError(f"{path}: the file unpacks to more than {MOST_BYTES} bytes; unpack it yourself to use it")
    if not data.strip():
        raise DataError(f"{path}: the file is empty")
    return data


def stem(path: str | Path) -> str:
    """Return a file's name without its extensions: ``train.txt.xz`` → ``train``."""
    name = Path(path).name
    for suffix in _OPEN:
        name = name.removesuffix(suffix)
    return name.rsplit(".", 1)[0] or name
