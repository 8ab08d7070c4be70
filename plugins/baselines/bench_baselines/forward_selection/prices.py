"""The limit that a budget sets."""

from __future__ import annotations

__all__ = ["limit_of"]

_SLACK = 1e-12


def limit_of(budget: float) -> float:
    """Return the most that a set for a budget may cost: slightly more, since prices are sums of rounded numbers."""
    return budget * (1 + _SLACK)
