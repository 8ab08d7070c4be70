"""Parameter types that many methods use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import annotated_types as at

__all__ = ["Lambdas", "distinct"]


def distinct(values: Sequence[Any]) -> bool:
    """Whether all values are different."""
    return len(set(values)) == len(values)


Lambdas = Annotated[tuple[Annotated[float, at.Ge(0)], ...], at.MinLen(1), at.Predicate(distinct)]
"""The type of a list of trade-offs λ; a method makes one or more policies for each."""
