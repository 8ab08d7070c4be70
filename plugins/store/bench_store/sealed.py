"""Sealed JSON: canonical text whose first key is a checksum over the rest.

Edited, truncated or mixed-up files are detected before their contents are used. Canonical JSON is UTF-8 with sorted
keys, without white space, NaN and infinity.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["seal", "unseal"]

_KEY = "checksum"
_HEAD = f'{{"{_KEY}":"'.encode()
_BODY = len(_HEAD) + 64 + 2


def seal(body: Mapping[str, Any]) -> bytes:
    """The canonical JSON of a body, with its SHA-256 under ``checksum``.

    Args:
        body: plain JSON values under at least one key; every key sorts after ``checksum``.

    Raises:
        ValueError: a key sorts before ``checksum``, there is no key, or a number is not finite.
        TypeError: JSON cannot express a value.
    """
    if not body or min(body) <= _KEY:
        raise ValueError(f"a sealed body has keys, and all of them sort after {_KEY!r}")
    options: dict[str, Any] = {"sort_keys": True, "ensure_ascii": False, "allow_nan": False}
    text = json.dumps(body, separators=(",", ":"), **options).encode()
    return b"".join([_HEAD, hashlib.sha256(text).hexdigest().encode(), b'",', memoryview(text)[1:]])


def unseal(data: bytes) -> dict[str, Any]:
    """The body of a sealed file.

    Raises:
        ValueError: it has no checksum, or was changed.
    """
    if not data.startswith(_HEAD) or data[_BODY - 2 : _BODY] != b'",':
        raise ValueError("it does not begin with a checksum")
    digest = hashlib.sha256(b"{")
    digest.update(memoryview(data)[_BODY:])
    if digest.hexdigest().encode() != data[len(_HEAD) : _BODY - 2]:
        raise ValueError("it does not match its checksum")
    try:
        body: dict[str, Any] = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    del body[_KEY]
    return body
