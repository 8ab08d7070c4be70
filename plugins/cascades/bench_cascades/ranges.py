"""Checks of the methods' parameters; imported with the plugin, so light."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["check_prefixes", "check_ranges", "check_values"]


def check_ranges(method: object, whole: dict[str, tuple[int, int]], above_zero: Sequence[str]) -> None:
    """Check parameters of a method that mean the same in all of them.

    Args:
        method: has the parameters as attributes, ``evaluation`` and ``positive_weight`` maybe among them.
        whole: name → least and most.
        above_zero: names of numbers that must be above 0 and finite.

    Raises:
        ValueError: one is out of range; the message names it.
    """
    for name, (low, high) in whole.items():
        if not low <= getattr(method, name) <= high:
            raise ValueError(f"{name} must be {low} to {high}, not {getattr(method, name)}")
    for name in above_zero:
        if not 0 < getattr(method, name) < math.inf:
            raise ValueError(f"{name} must be above 0 and finite, not {getattr(method, name)}")
    evaluation = getattr(method, "evaluation", 0.0)
    if evaluation != "scheme" and not 0 <= float(evaluation) < math.inf:
        raise ValueError(f"evaluation must be 'scheme' or a price from 0, not {evaluation}")
    weight = getattr(method, "positive_weight", 1.0)
    if weight != "balanced" and not 0 < float(weight) < math.inf:
        raise ValueError(f"positive_weight must be 'balanced' or above 0, not {weight}")


def check_values(name: str, values: Sequence[float], *, zero: bool) -> None:
    """Refuse an empty list, repeated values, and values that are infinite or negative (or 0, without ``zero``).

    Raises:
        ValueError: names the parameter and the value.
    """
    if not values:
        raise ValueError(f"{name} needs at least one value")
    for value in values:
        if not (0 <= value < math.inf and (zero or value > 0)):
            least = "not negative" if zero else "above 0"
            raise ValueError(f"{name} must be finite and {least}, not {value}")
    if len(set(values)) < len(values):
        raise ValueError(f"the values of {name} must differ from each other: {list(values)}")


def check_prefixes(prefixes: str | tuple[int, ...]) -> None:
    """Refuse numbers of iterations below 1, and none at all.

    Raises:
        ValueError: says which values are wrong.
    """
    if not isinstance(prefixes, str) and (not prefixes or min(prefixes) < 1):
        raise ValueError(f"prefixes must be numbers of iterations from 1, not {list(prefixes)}")
