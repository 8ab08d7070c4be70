"""Objects that several fits on the same rows share."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

__all__ = ["SharedWork"]

T = TypeVar("T")


class SharedWork:
    """Objects that several fits share, each with the seconds it took to make. The four most recently used are kept.

    Attributes:
        reused: seconds saved by reusing objects.
    """

    _MOST = 4

    def __init__(self, values: OrderedDict[Hashable, tuple[Any, float]] | None = None) -> None:
        self._values = OrderedDict() if values is None else values
        self.reused = 0.0

    def again(self) -> SharedWork:
        """The same objects, for another fit."""
        return SharedWork(self._values)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the object with a key. If no object has the key, `make` creates it."""
        if key in self._values:
            self._values.move_to_end(key)
            value, seconds = self._values[key]
            self.reused += seconds
            return cast(T, value)
        start = time.perf_counter()
        value = make()
        self._values[key] = value, time.perf_counter() - start
        while len(self._values) > self._MOST:
            self._values.popitem(last=False)
        return value
