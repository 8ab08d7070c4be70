"""Cost-benefit greedy within a budget: a pure function of a loss of sets and of prices."""

from __future__ import annotations

import math
from collections.abc import Callable

from bench_models.prices import MeanPrices

__all__ = ["Subset", "limit_of", "select"]

_SLACK = 1e-12

Subset = tuple[int, ...]
"""Features, ascending."""


def limit_of(budget: float) -> float:
    """Return the most that a set for a budget may cost: slightly more, since prices are sums of rounded numbers."""
    return budget * (1 + _SLACK)


def select(
    loss: Callable[[Subset], float], prices: MeanPrices, budget: float, patience: int = 0, lazy_above: int = 0
) -> Subset:
    """The set of features for a budget.

    Args:
        loss: loss of a set, lower is better; called repeatedly for the same set, so it should cache.
        prices: of the features.
        budget: most that a set may cost.
        patience: number of consecutive additions without a new lowest loss after which the search ends; 0: when no
            feature fits.
        lazy_above: with more features than this, gains that cannot matter are not recomputed.

    Returns:
        The set of lowest loss among the empty set, the sets of the greedy search, the best single feature that fits,
        and all features if they fit; in a tie the cheapest, then the first in this order.
    """
    limit = limit_of(budget)
    everything = tuple(range(prices.features))
    first_step = [(f,) for f in everything if prices.of_set((f,)) <= limit]
    candidates = [(), *_greedy(loss, prices, limit, patience, prices.features > lazy_above)]
    candidates += first_step
    if prices.full <= limit:
        candidates.append(everything)
    return min(candidates, key=lambda subset: (loss(subset), prices.of_set(subset)))


def _greedy(
    loss: Callable[[Subset], float], prices: MeanPrices, limit: float, patience: int, lazy: bool
) -> list[Subset]:
    """The sets of the greedy search, from one feature on.

    A step adds the feature with the greatest gain per price; a gain is a fall of the loss. If no feature has a gain, it
    adds the feature that raises the loss least, and the cheapest of several such features. Remaining ties go to the
    lower feature index.
    """
    now: Subset = ()
    way: list[Subset] = []
    rest = list(range(prices.features))
    last: dict[int, float] = {}  # the last computed gain of each feature
    least, waited = loss(()), 0
    while True:
        spent, before = prices.of_set(now), loss(now)
        extra = {f: prices.of_set((*now, f)) - spent for f in rest}
        rest = [f for f in rest if spent + extra[f] <= limit]
        if not rest or (patience and waited >= patience):
            return way

        def rank(f: int, gain: float, extra: dict[int, float] = extra) -> tuple[float, float, float, int]:
            ratio = 0.0 if gain <= 0 else gain / extra[f] if extra[f] > 0 else math.inf
            return ratio, gain, -extra[f], -f

        best, best_rank = -1, (-math.inf, -math.inf, -math.inf, 0)
        for f in sorted(rest, key=lambda f: rank(f, last.get(f, math.inf)), reverse=True):
            # Gains mostly shrink as the set grows: a feature that could not win with its last gain is not recomputed.
            if lazy and best >= 0 and f in last and rank(f, last[f]) < best_rank:
                break
            last[f] = before - loss(tuple(sorted((*now, f))))
            if rank(f, last[f]) > best_rank:
                best, best_rank = f, rank(f, last[f])
        now = tuple(sorted((*now, best)))
        rest.remove(best)
        way.append(now)
        waited = 0 if loss(now) < least else waited + 1
        least = min(least, loss(now))
