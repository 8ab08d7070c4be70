"""Data of the live picture on the home page: every method's quality at budgets, on every data set of a comparison.

Quality is chance-corrected: 0 is what the policy without features gets, 1 what the best method of the data set gets
that may buy everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bench_analysis import Panel

from bench_site.sources import Published, at_share

__all__ = ["BUDGETS", "live_data", "prices_of"]

BUDGETS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""Shares of the price of all features."""
_SHOWN_AT_FIRST = 5


def prices_of(costs: str, answer: Mapping[str, Any], dataset: str) -> str:
    """Return the kind of a cost scheme's prices: by the answer's views where they say it, else by its name."""
    for view in answer.get("views", ()):
        if view["prices"] != "all" and any(
            one["name"] == dataset and costs in one["costs"] for one in view.get("datasets", ())
        ):
            return str(view["prices"])
    return re.sub(r"[\s-]*\d+$", "", costs) or costs


def live_data(suite: Published, pages: Mapping[str, str]) -> dict[str, Any]:
    """Return the data of the live picture of a suite; without data sets if nothing can be corrected for chance.

    Args:
        suite: a suite with a comparison.
        pages: method → address of its page from the site's root.

    Returns:
        ``budgets``; ``sets``: for each data set and cost scheme its name, kind of prices, task, number of features and
        of rows, and ``quality``: for each method its chance-corrected quality at every budget, null where it affords
        nothing; ``methods``: name, page and kind; ``first``: methods shown at first; ``recommended``: the method named
        at each budget of the answer, if there is one.
    """
    answer = suite.description.get("losses") or {}
    names: dict[str, None] = {}
    sets = []
    for panel in suite.panels:
        about = suite.facts(panel.dataset)
        quality = _corrected(panel) if panel.cost == "cost" else {}
        if not about or not quality:
            continue
        names |= dict.fromkeys(quality)
        sets.append(
            {
                "name": suite.headings.get((panel.dataset, panel.costs), panel.dataset),
                "family": panel.dataset,
                "prices": prices_of(panel.costs, answer, panel.dataset),
                "task": {"binary": "classification", "multiclass": "classification"}.get(about["task"], about["task"]),
                "features": about["features"],
                "rows": sum(about["rows"].values()),
                "quality": quality,
            }
        )
    told = answer.get("methods", {})
    methods = [
        {"name": name, "page": pages.get(name, ""), "kind": told.get(name, {}).get("kind", "")} for name in names
    ]
    recommended = _recommended(answer)
    first = list(dict.fromkeys([name for _, name in recommended if name in names]))
    first += [name for name in _best_at_a_fifth(sets) if name not in first]
    return {
        "budgets": [round(100 * budget, 1) for budget in BUDGETS],
        "sets": sets,
        "methods": methods,
        "first": first[:_SHOWN_AT_FIRST],
        "recommended": recommended,
    }


def _recommended(answer: Mapping[str, Any]) -> list[tuple[float, str]]:
    steps: Sequence[Mapping[str, Any]] = (answer.get("views") or [{}])[0].get("steps", ())
    named = [(step["budget"], step.get("recommended") or {}) for step in steps]
    return [(round(100 * budget, 1), str(one["method"])) for budget, one in named if one.get("method")]


def _corrected(panel: Panel) -> dict[str, list[float | None]]:
    """Return the chance-corrected quality by method; empty where everything is not clearly better than nothing."""
    sign = 1.0 if panel.quality.goal == "max" else -1.0
    free = [quality for curve in panel.curves if (quality := at_share(curve, 0.0)) is not None]
    if not free:
        return {}
    empty = sorted(free)[len(free) // 2]  # the empty policy completes every family; a method may also guess for free
    best = max(panel.curves, key=lambda curve: sign * curve.full)
    room = sign * (best.full - empty)
    doubt = float(best.margin[-1]) if np.isfinite(best.margin[-1]) else 0.0
    if room <= max(doubt, 1e-3 * abs(best.full)):
        return {}
    qualities: dict[str, list[float | None]] = {}
    for curve in panel.curves:
        values = [at_share(curve, share) for share in BUDGETS]
        qualities[curve.method] = [
            None if value is None else round((sign * value - sign * empty) / room, 4) for value in values
        ]
    return qualities


def _best_at_a_fifth(sets: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the methods by their mean quality at 20 % of the price, best first, of those on the most data sets."""
    place = BUDGETS.index(0.2)
    found: dict[str, list[float]] = {}
    for one in sets:
        for name, values in one["quality"].items():
            if values[place] is not None:
                found.setdefault(name, []).append(values[place])
    most = max(map(len, found.values()), default=0)
    means = {name: sum(values) / len(values) for name, values in found.items() if 2 * len(values) > most}
    return sorted(means, key=lambda name: (-means[name], name))
