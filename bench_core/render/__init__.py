"""From numbers to pages: Markdown, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["differing", "write_files"]


def write_files(files: Mapping[Path, bytes]) -> list[Path]:
    """Write files whole, each through a temporary name; those that hold the same bytes already are left alone.

    Returns:
        The files that changed.
    """
    changed = differing(files)
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_bytes(files[path])
        os.replace(temporary, path)
    return changed


def differing(files: Mapping[Path, bytes]) -> list[Path]:
    """Files that are missing on the disk or hold something else.

    Parquet files are compared by content: their bytes tell which version wrote them.
    """
    return [path for path, data in files.items() if not (path.exists() and _same(path, data))]


def _same(path: Path, data: bytes) -> bool:
    there = path.read_bytes()
    if there == data or path.suffix != ".parquet":
        return there == data
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return bool(pq.read_table(pa.BufferReader(there)).equals(pq.read_table(pa.BufferReader(data))))
    except (pa.ArrowInvalid, OSError):
        return False
