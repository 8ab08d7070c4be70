"""What the site says about a method: on which kinds of data it is good, and how fast it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from bench_records import times_of

from bench_site.sources import Published

__all__ = ["Facts", "Strengths", "facts_of", "strengths"]

_BUDGET = 20.0
"""Percent of the price; the nearest budget of the comparison is taken."""
_SHOWN = 3
_GROUPS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("all data sets", lambda one: True),
    ("up to 20 features", lambda one: one["features"] <= 20),
    ("more than 20 features", lambda one: one["features"] > 20),
    ("up to 1,000 rows", lambda one: one["rows"] <= 1000),
    ("more than 1,000 rows", lambda one: one["rows"] > 1000),
)


class Group(NamedTuple):
    """A method's quality on a kind of data.

    Attributes:
        title: the kind of data.
        sets: number of data sets.
        quality: mean chance-corrected quality, in percent; the prices of a data set and near-duplicates count once.
        gap: mean distance to the best method of each data set, in percent of what all features bring.
    """

    title: str
    sets: int
    quality: float
    gap: float


class Strengths(NamedTuple):
    """Where a method is good: by kind of data, and the data sets with the least and the largest gap to the best.

    Attributes:
        budget: in percent of the price.
        groups: kinds of data.
        near, far: (data set, gap as in `Group`) pairs with the smallest and the largest gaps.
    """

    budget: float
    groups: list[Group]
    near: list[tuple[str, float]]
    far: list[tuple[str, float]]


class Facts(NamedTuple):
    """How fast a method is: medians over its trials.

    Attributes:
        trials: number of trials.
        fit: seconds to fit a family.
        row: microseconds to decide a row; None if it was not measured.
    """

    trials: int
    fit: float
    row: float | None


def strengths(live: Mapping[str, Any], method: str) -> Strengths | None:
    """Return where a method is good at about 20 % of the price; None if it is on no data set.

    Args:
        live: see `bench_site.live.live_data`.
        method: its name there.
    """
    names = [one["name"] for one in live.get("methods", ())]
    if method not in names:
        return None
    own_place = names.index(method)
    place = min(range(len(live["budgets"])), key=lambda at: abs(live["budgets"][at] - _BUDGET))
    gaps: list[tuple[Mapping[str, Any], float, float]] = []
    for one in live["sets"]:
        own = one["methods"][own_place]
        if own is not None:
            best = max(values[place] for values in one["methods"] if values is not None)
            gaps.append((one, 100 * own[place], 100 * (best - own[place])))
    if not gaps:
        return None
    prices = sorted({one["prices"] for one, *_ in gaps})
    groups = [*_GROUPS, *((name, lambda one, name=name: one["prices"] == name) for name in prices if len(prices) > 1)]
    rows = [_group(title, [found for found in gaps if fits(found[0])]) for title, fits in groups]
    ordered = sorted(gaps, key=lambda found: (found[2], found[0]["name"]))
    near, far = ordered[:_SHOWN], ordered[::-1][:_SHOWN]
    return Strengths(
        live["budgets"][place],
        [row for row in rows if row is not None],
        [(one["name"], gap) for one, _, gap in near],
        [(one["name"], gap) for one, _, gap in far],
    )


def _group(title: str, found: Sequence[tuple[Mapping[str, Any], float, float]]) -> Group | None:
    """Means over families of data sets, each the mean over its data sets of their means over prices."""
    if not found:
        return None
    families: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for one, quality, gap in found:
        families.setdefault(one["family"], {}).setdefault(one["dataset"], []).append((quality, gap))
    quality, gap = (
        fmean(fmean(fmean(pair[at] for pair in prices) for prices in of.values()) for of in families.values())
        for at in (0, 1)
    )
    return Group(title, len({one["dataset"] for one, *_ in found}), quality, gap)


def facts_of(use: str, published: Sequence[Published]) -> Facts | None:
    """Return how fast a method is, over all suites; None without a measured trial."""
    fits: list[float] = []
    rows: list[float] = []
    for suite in published:
        if suite.records is None:
            continue
        trials = suite.records.trials.items()
        names = (name for (*_, label), mine in trials if suite.uses.get(label) == use for name in mine)
        more_fits, more_rows = times_of(suite.records, names)
        fits += more_fits
        rows += more_rows
    return Facts(len(fits), median(fits), median(rows) if rows else None) if fits else None
