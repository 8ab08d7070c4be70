"""Values of a parametrized test, some of them for the weekly run only."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

__all__ = ["cases"]


def cases(values: Iterable[str], weekly: Collection[str]) -> list[Any]:
    """The values as parameters; those in ``weekly`` have the marker ``weekly``."""
    return [pytest.param(value, marks=pytest.mark.weekly if value in weekly else ()) for value in values]
