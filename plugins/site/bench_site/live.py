"""Data of the live picture: kinds of methods, and methods, on the scale of a suite's comparison.

Every number is the comparison's own: means and intervals over data sets from ``losses.json``, qualities on each data
set from ``scale.json``. The script averages the latter for a choice of sizes, by the comparison's rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import splits_so_far

from bench_site.sources import Published

__all__ = ["answering", "live_data"]


def answering(published: Sequence[Published]) -> Published | None:
    """Return the suite with the answer, as the front page chooses it: that with the most independent data sets.

    The first among equals; None if no suite has a comparison and curves.
    """
    compared = [suite for suite in published if "scale" in suite.description and suite.panels]
    return max(compared, key=_families, default=None)


def _families(suite: Published) -> int:
    """Return the number of independent data sets of a suite's first view that recommends a method, else 0."""
    views = (suite.description.get("losses") or {}).get("views", ())
    return next((view["families"] for view in views if any(step["recommended"] for step in view["steps"])), 0)


def live_data(suite: Published, pages: Mapping[str, str]) -> dict[str, Any]:
    """Return the data of the live picture of a suite; without data sets if its comparison has none.

    Args:
        suite: a suite with a comparison.
        pages: method → address of its page from the site's root.

    Returns:
        ``splits``: how many have been run, if not all; ``budgets``: in percent of the price; ``kinds``: name, what its
        methods do; ``methods``: name, page and kind; ``views``: for each task and kind of prices ``families``,
        ``recommended`` (kind and method at each budget, or null), ``kinds`` and ``methods`` (index in the lists above →
        [mean, low, high] at each budget); ``sets``: for each data set and cost scheme its name, family, kind of prices,
        task, features, rows, and the qualities of ``methods`` and ``kinds`` at each budget, null if missing.
    """
    answer, scale = suite.description.get("losses") or {}, suite.description.get("scale") or {}
    if not scale.get("sets"):
        return {"sets": []}
    titles = {view["prices"]: view["title"] for view in answer["views"]}
    read = {kind["name"]: kind["read"] for kind in answer["kinds"]}
    sets = [
        {
            "name": suite.headings.get((one["dataset"], one["costs"]), one["dataset"]),
            "dataset": one["dataset"],
            "prices": titles[one["prices"]],
            **{key: one[key] for key in ("family", "task", "features", "rows", "methods", "kinds")},
        }
        for one in scale["sets"]
    ]
    return {
        "splits": splits_so_far((row["dataset"], row["done"], row["expected"]) for row in suite.description["rows"]),
        "budgets": [round(100 * budget, 1) for budget in scale["budgets"]],
        "kinds": [{"name": name, "read": read.get(name, "")} for name in scale["kinds"]],
        "methods": [
            {"name": name, "page": pages.get(name, ""), "kind": answer["methods"][name]["kind"]}
            for name in scale["methods"]
        ],
        "views": [_view(view, scale) for view in answer["views"] if view["steps"]],
        "sets": sets,
    }


def _view(view: Mapping[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"task": view["task"], "prices": view["title"], "families": view["families"]}
    for what in ("kinds", "methods"):
        by_name = [{row["name"]: row["quality"] for row in step[what]} for step in view["steps"]]
        found[what] = {
            place: [rows[name] for rows in by_name]
            for place, name in enumerate(scale[what])
            if all(name in rows for rows in by_name)
        }
    taken = [step["recommended"] for step in view["steps"]]
    found["recommended"] = [one and {key: one[key] for key in ("kind", "method")} for one in taken]
    return found
