"""The texts in entries of a suite's sections: among them are the names of everything that a page shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

__all__ = ["texts_in"]


def texts_in(value: Any) -> Iterator[str]:
    """Every text in an entry; ``history.SERIES`` is given as ``SERIES``."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, str):
        yield value.removeprefix("history.")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts_in(key)
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
