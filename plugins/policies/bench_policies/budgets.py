"""Give methods with fixed sets of features the goal's budget, so that they use it up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_core import Method
from bench_policies.goals import Goal

__all__ = ["within_budget"]

_SIZED = (0.95, 1.0)
"""Shares of the goal's budget where prices depend on sizes, and the mean price differs a little between parts. Without
sizes it is the budget alone: of several sets, the noise of the validation rows would choose a cheaper one, although the
goal does not ask for cheap answers; the method itself weighs smaller sets by their loss."""


def within_budget(
    parameters: Mapping[str, Any], method: type[Method], goal: Goal, full: float, sized: bool = False
) -> Mapping[str, Any]:
    """Return a method's parameters, with the goal's budget where it has a parameter ``budgets`` that is not given.

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
