"""Fill a set of features up to a budget; a pure function."""

from __future__ import annotations

from collections.abc import Mapping

from bench_models.prices import MeanPrices

from bench_baselines.forward_selection.search import Subset, limit_of

__all__ = ["fill"]


def fill(start: Subset, gains: Mapping[int, float], prices: MeanPrices, budget: float) -> Subset:
    """Add features to a set, up to a budget: repeatedly the one of greatest gain per price that fits.

    Args:
        start: the set.
        gains: gain of each feature that may be added; those without a gain above 0 are not.
        prices: prices of the features.
        budget: most that the set may cost.

    Source: Khuller, Moss, Naor, The budgeted maximum coverage problem, 1999 (greedy by gain per price).
    """
    now, limit = start, limit_of(budget)
    rest = {f for f, gain in gains.items() if gain > 0} - set(now)
    while True:
        spent = prices.of_set(now)
        extra = {f: prices.of_set((*now, f)) - spent for f in rest}
        rest = {f for f in rest if spent + extra[f] <= limit}
        if not rest:
            return tuple(sorted(now))
        best = max(rest, key=lambda f: (gains[f] / extra[f] if extra[f] > 0 else float("inf"), gains[f], -f))
        now = (*now, best)
        rest.remove(best)
