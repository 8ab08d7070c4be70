"""Types of parameters that several methods share; imported with the plugin, so without heavy imports."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, MinLen

__all__ = ["Count", "Depth", "Evaluation", "Positive", "PositiveWeight", "Prefixes"]

Count = Annotated[int, Interval(ge=1, le=100_000)]
Depth = Annotated[int, Interval(ge=1, le=12)]
Positive = Annotated[float, Gt(0)]
Evaluation = Annotated[float, Ge(0)] | Literal["scheme"]
PositiveWeight = Positive | Literal["balanced"]
Prefixes = Literal["geometric", "all"] | Annotated[tuple[Annotated[int, Ge(1)], ...], MinLen(1)]
"""Numbers of iterations, or the name of a rule for choosing them."""
