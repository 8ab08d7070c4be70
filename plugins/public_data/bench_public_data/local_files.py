"""Files of one's own: where a path points, plain or compressed reading, and a cheap fingerprint."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from bench_core import DataContext, DataError, DataUnavailable, did_you_mean

__all__ = ["file_status", "files_fingerprint", "find_file", "read_bytes", "stem"]

_UNPACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}


def _places(path: str, context: DataContext) -> list[Path]:
    given = Path(path).expanduser()
    if given.is_absolute() or context.mirror is None:
        return [given]
    return [given, context.mirror / given]


def find_file(path: str, context: DataContext) -> Path:
    """The file a path names: relative to the working directory, else to the mirror.

    Raises:
        DataUnavailable: it is in neither place; the message says both.
    """
    places = _places(path, context)
    for place in places:
        if place.is_file():
            return place
    near = next((place.parent for place in places if place.parent.is_dir()), None)
    names = sorted(file.name for file in near.iterdir()) if near else []
    hint = did_you_mean(Path(path).name, names) if names else ""
    searched = " nor ".join(repr(str(place.absolute())) for place in places)
    raise DataUnavailable(
        f"there is no file {searched}" + (f"; in that directory: {hint}" if hint else ""),
        "paths are relative to the working directory, then to the mirror (BUDGETBENCH_MIRROR)",
    )


def file_status(paths: Sequence[str], context: DataContext) -> str:
    """``cached`` when every file is at its own path, ``mirrored`` when the mirror has some, else ``missing``."""
    states = []
    for path in paths:
        places = [place.is_file() for place in _places(path, context)]
        if not any(places):
            return "missing"
        states.append(places[0])
    return "cached" if all(states) else "mirrored"


def files_fingerprint(paths: Sequence[Path]) -> str:
    """Names, lengths and times of change of files."""
    parts = []
    for path in paths:
        about = path.stat()
        parts.append(f"{path.absolute()}:{about.st_size}:{about.st_mtime_ns}")
    return "|".join(parts)


def read_bytes(path: Path) -> bytes:
    """A file's bytes, decompressed by the ending of its name (.gz, .bz2, .xz).

    Raises:
        DataError: it is empty, or not what its ending says.
    """
    try:
        data = _UNPACK.get(path.suffix.lower(), bytes)(path.read_bytes())
    except (OSError, ValueError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    if not data.strip():
        raise DataError(f"{path}: the file is empty")
    return data


def stem(path: str | Path) -> str:
    """A file's name without its endings: ``train.txt.xz`` → ``train``."""
    name = Path(path).name
    for suffix in _UNPACK:
        name = name.removesuffix(suffix)
    return name.rsplit(".", 1)[0] or name
