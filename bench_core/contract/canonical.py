"""Canonical JSON and content hashes: the names of trials and of data.

Canonical JSON is UTF-8 with sorted keys and no white space. Floats are written as Python's shortest round-trip
``repr``; NaN and infinity are refused. Equal values have equal texts, so the SHA-256 of the text can serve as a name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def plain(value: Any, infinite: Callable[[float], str | None] = lambda value: None, key: str = "") -> Any:
    """Convert ``value`` to plain JSON types: NumPy scalars and arrays, tuples, sets, mappings and paths are converted.

    JSON cannot express floats that are not finite: each is replaced by what ``infinite`` returns for it, by default
    None. Text that UTF-8 cannot encode is escaped (`writable`).

    Raises:
        TypeError: a value has no plain JSON form; the message has its type and its ``key`` in the nearest mapping.
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), infinite, key)
    if isinstance(value, float):
        return value if value - value == 0.0 else infinite(value)
    if isinstance(value, str):
        return writable(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        return {(name := writable(str(key))): plain(item, infinite, name) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, infinite, key) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item, infinite, key) for item in value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no plain JSON form" + (f" (key {key[:100]!r})" if key else ""))


def writable(text: str) -> str:
    r"""Return ``text`` in a form that UTF-8 can encode: a lone surrogate becomes its escape (``\udc80``)."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def canonical_json(value: Any) -> str:
    """The canonical JSON text of a plain value.

    Raises:
        TypeError: the value contains something that JSON cannot express.
        ValueError: it contains NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_text(text: str) -> str:
    """Hexadecimal SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(header: Any, arrays: Mapping[str, np.ndarray | None]) -> str:
    """SHA-256 over a plain header and named arrays (dtype, shape, little-endian bytes; −0.0 counts as 0.0).

    Args:
        header: plain JSON value hashed first.
        arrays: name → array of numbers or booleans, or None; hashed in sorted order of names.
    """
    digest = hashlib.sha256(canonical_json(header).encode())
    for name in sorted(arrays):
        if (array := arrays[name]) is None:
            digest.update(f"|{name}:none".encode())
            continue
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        if array.dtype.kind == "f":
            array = array + array.dtype.type(0.0)
            array[np.isnan(array)] = np.nan
        digest.update(f"|{name}:{array.dtype.str}:{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def source_hash(folder: Path) -> str:
    """SHA-256 over the Python files below ``folder`` (relative path and bytes, in sorted order), or over one file."""
    digest = hashlib.sha256()
    root = folder if folder.is_dir() else folder.parent
    for path in sorted(folder.rglob("*.py") if folder.is_dir() else [folder]):
        digest.update(f"|{path.relative_to(root).as_posix()}|".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
