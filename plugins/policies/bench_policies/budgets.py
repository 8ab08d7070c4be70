"""Pass the goal's budget or cap to methods with a parameter ``budgets``, so that their policies use it fully."""

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
    """Return a method's parameters; if it has ``budgets`` and they are not given, they are set by the goal.

    They become the smaller of budget and cap. If the goal is a quality or the least total cost, a cheaper policy may
    be better: then shares become those below the cap and the cap, and prices are left to the method.

    Args:
        parameters: those that differ from the defaults.
        method: its class. ``budgets`` are shares of the full price if they have defaults, which are at most 1; without
            defaults they are prices.
        goal: the goal.
        full: price of all features.
        sized: whether prices depend on the item's size.
    """
    usual = getattr(getattr(method, "__dataclass_fields__", {}).get("budgets"), "default", None)
    limit = min(limit for limit in (goal.budget, goal.cap, full) if limit is not None)
    if not isinstance(usual, tuple) or "budgets" in parameters or not 0 < limit < full:
        return parameters
    shares = [part * (limit / full) for part in (_SIZED if sized else (1.0,))]
    if goal.quality is not None or goal.error_costs is not None:
        if not usual:
            return parameters
        shares = [*(share for share in usual if share < shares[0]), *shares]
    return {**parameters, "budgets": shares if usual else [share * full for share in shares]}
