"""Sets of features for budgets, by eliminating features of least gain per price; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bench_baselines.forward_selection.prices import MeanPrices

__all__ = ["Subset", "affordable_in_order", "eliminate", "fill"]

Subset = tuple[int, ...]
"""Features, ascending."""

_SLACK = 1e-12
"""A set fits a budget if its price exceeds it by at most this share, since prices are sums of rounded numbers."""
_SHARE_REMOVED = 0.15
"""Share of the features that may be removed before gains are recomputed."""


def eliminate(
    gains: Callable[[Subset], Mapping[Subset, float]], prices: MeanPrices, budgets: Sequence[float]
) -> Iterator[tuple[float, Subset]]:
    """Return a set for each budget, from all features on, by recursive elimination.

    The feature or group of least gain per price saved is removed, one after the other. Gains are recomputed when a
    share of the features has been removed. A group's price is saved only with its last feature, so a group may also be
    removed at once. Free features are kept. When a budget is reached, `fill` uses the rest of it; the elimination for
    the next budget continues from the set before filling.

    Args:
        gains: returns, for a set, the gain of each of its features and of its features in each group; computes them at
            every call.
        prices: of the features.
        budgets: maximum costs of a set.

    Yields:
        A budget and its set, by descending budget.

    Source: Guyon et al., Gene selection for cancer classification using support vector machines, 2002 (recursive
    feature elimination), with gains per price.
    """
    now: Subset = tuple(range(prices.features))
    last: dict[int, float] = {}
    for budget in sorted(set(budgets), reverse=True):
        limit = budget * (1 + _SLACK)
        while now and prices.of_set(now) > limit:
            gained = dict(gains(now))
            last.update({unit[0]: gain for unit, gain in gained.items() if len(unit) == 1})
            most, start = max(1, int(_SHARE_REMOVED * len(now))), len(now)
            while now and prices.of_set(now) > limit and start - len(now) < most:
                worst = _worst(now, gained, prices)
                if worst is None:
                    break
                now = tuple(f for f in now if f not in worst)
                gained = {
                    left: gain for unit, gain in gained.items() if (left := tuple(f for f in unit if f not in worst))
                }
        yield budget, fill(now, last, prices, budget)


def _worst(now: Subset, gained: Mapping[Subset, float], prices: MeanPrices) -> Subset | None:
    """Return the unit of least gain per price saved; in a tie, the one that saves most."""
    spent, best, best_key = prices.of_set(now), None, (float("inf"), 0.0, 0)
    for unit, gain in gained.items():
        saved = spent - prices.of_set([f for f in now if f not in unit])
        if saved > 0:
            key = (max(gain, 0.0) / saved, -saved, unit[0])
            if key < best_key:
                best, best_key = unit, key
    return best


def fill(now: Subset, gains: Mapping[int, float], prices: MeanPrices, budget: float) -> Subset:
    """Add features to a set for the rest of a budget: repeatedly the one of greatest gain per price that fits.

    Args:
        now: the set.
        gains: of features outside of it; those without a gain above 0 are not added.
        prices: of the features.
        budget: most that the set may cost.
    """
    limit = budget * (1 + _SLACK)
    rest = {f for f, gain in gains.items() if gain > 0} - set(now)
    while True:
        spent = prices.of_set(now)
        extra = {f: prices.of_set((*now, f)) - spent for f in rest}
        fits = [f for f in rest if spent + extra[f] <= limit]
        if not fits:
            return tuple(sorted(now))
        best = max(fits, key=lambda f: (gains[f] / extra[f] if extra[f] > 0 else float("inf"), gains[f], -f))
        now = (*now, best)
        rest.remove(best)


def affordable_in_order(order: Sequence[int], prices: MeanPrices, budget: float, start: Subset = ()) -> Subset:
    """Return the features that fit a budget, taken in an order; those that do not fit are skipped.

    Args:
        order: features, the best first.
        prices: of the features.
        budget: most that the set may cost.
        start: features that are in the set from the beginning.
    """
    now = start
    for feature in order:
        if feature not in now and prices.of_set((*now, feature)) <= budget * (1 + _SLACK):
            now = (*now, feature)
    return tuple(sorted(now))
