"""A base class of objects that cache values computed from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

__all__ = ["Once"]

T = TypeVar("T")


@dataclass
class Once:
    """A base class whose instances cache the results of functions of themselves, by name."""

    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, name: str, compute: Callable[[Self], T]) -> T:
        """Return ``compute(self)``, called at the first use of the name and cached under it."""
        if name not in self._kept:
            self._kept[name] = compute(self)
        kept: T = self._kept[name]
        return kept
