"""Objects that keep what is computed of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

__all__ = ["Once"]

T = TypeVar("T")


@dataclass
class Once:
    """A base class: what a function computes of an instance is computed once."""

    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, name: str, compute: Callable[[Self], T]) -> T:
        """Return the result of a function of this object, which is called the first time that a name is given."""
        if name not in self._kept:
            self._kept[name] = compute(self)
        kept: T = self._kept[name]
        return kept
