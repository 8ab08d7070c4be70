"""Types of parameters that many methods have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import annotated_types as at

__all__ = ["Lambdas", "distinct"]


def distinct(values: Sequence[Any]) -> bool:
    """Whether no value is there twice."""
    return len(set(values)) == len(values)


Lambdas = Annotated[tuple[Annotated[float, at.Ge(0)], ...], at.MinLen(1), at.Predicate(distinct)]
"""The type of a method's trade-offs λ, one policy (or more) each."""
