"""JSON files that carry a checksum: SHA-256 of their canonical text without it.

A sealed file is canonical JSON as a whole, too: ``checksum`` is its first key, so the text that is hashed is the file
without that key. A file that was edited, cut short or mixed up is found before anything in it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bench_core.contract.canonical import canonical_json

__all__ = ["seal", "unseal"]

_KEY = "checksum"
_HEAD = f'{{"{_KEY}":"'.encode()
_BODY = len(_HEAD) + 64 + 2


def seal(body: Mapping[str, Any]) -> bytes:
    """The canonical JSON of a body with its checksum.

    Args:
        body: plain values under at least one key; every key sorts after ``checksum``.
    """
    if not body or min(body) <= _KEY:
        raise ValueError(f"a sealed body has keys, and all of them sort after {_KEY!r}")
    text = canonical_json(body).encode()
    return b"".join([_HEAD, hashlib.sha256(text).hexdigest().encode(), b'",', memoryview(text)[1:]])


def unseal(data: bytes) -> dict[str, Any]:
    """The body of a sealed file.

    Raises:
        ValueError: it has no checksum, or is not what was sealed.
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
