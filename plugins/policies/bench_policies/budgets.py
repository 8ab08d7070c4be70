"""Pass the goal's budget to methods with fixed sets of features, so that they choose sets which use it fully."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_core import Method
from bench_policies.goals import Goal

__all__ = ["within_budget"]

_SIZED = (0.95, 1.0)
"""Shares of the goal's budget that are tried if prices depend on sizes, as the mean price then differs between parts.
Without sizes only the budget itself is tried: given several sets, noise on the validation rows would sometimes choose a
cheaper one, which the goal does not ask for. The method itself considers smaller sets, by their loss."""


def within_budget(
    parameters: Mapping[str, Any], method: type[Method], goal: Goal, full: float, sized: bool = False
) -> Mapping[str, Any]:
    """Return a method's parameters; if it has ``budgets`` and they are not given, they are set to the goal's budget.

    Args:
        parameters: those that differ from the defaults.
        method: its class. ``budgets`` are shares of the full price.
        goal: the goal.
        full: price of all features.
        sized: whether prices depend on the item's size.
    """
    if goal.budget is None or not 0 < goal.budget < full or "budgets" in parameters:
        return parameters
    if "budgets" not in getattr(method, "__dataclass_fields__", {}):
        return parameters
    return {**parameters, "budgets": [share * (goal.budget / full) for share in (_SIZED if sized else (1.0,))]}
