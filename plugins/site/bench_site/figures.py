"""Trade-off curves as data for the site's own script, one file for each panel, shared by all pages that show it.

A file is a script, not JSON, since a page that is opened from a disk may not fetch files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from bench_analysis import Panel, has_band

from bench_site.sources import SHARES, drawn, ranked

__all__ = ["as_data_script", "curve_data", "drawn_at_first"]

_DIGITS = 4
_MOST_CURVES = 8
_BEST = 2


def drawn_at_first(panel: Panel) -> list[str]:
    """Return the methods whose curves are visible at first: all, or the best two at each share if there are many."""
    if len(panel.curves) <= _MOST_CURVES:
        return [curve.method for curve in panel.curves]
    largest = panel.largest if panel.cost != "cost" else 1.0
    methods = [place.method for share in SHARES for place in ranked(panel, share * largest)[:_BEST]]
    return list(dict.fromkeys(methods or [curve.method for curve in panel.curves[:_MOST_CURVES]]))


def curve_data(panel: Panel, pages: Mapping[str, str]) -> dict[str, Any]:
    """Return a panel's curves as plain data.

    Args:
        panel: the curves.
        pages: method → address of its page from the site's root, for methods that have one.

    Returns:
        ``x``, ``y``: titles of the axes; ``end``: least end of the x axis; ``goal``; ``first``: the methods visible at
        first; ``lines``: for each method its name, page, and ``points`` [cost, quality, half the width of the interval
        or null]. Costs and qualities that are shares are in percent.
    """
    scale = 100.0 if panel.quality.percent else 1.0
    across = 100.0 if panel.cost == "cost" else panel.largest
    lines = []
    for curve in panel.curves:
        steps = drawn(curve)
        band = has_band(curve)
        points = [
            [_short(across * x), _short(scale * y), _short(scale * half) if band and np.isfinite(half) else None]
            for x, y, half in zip(curve.cost[steps], curve.quality[steps], curve.margin[steps], strict=True)
        ]
        lines.append({"name": curve.method, "page": pages.get(curve.method, ""), "points": points})
    return {
        "x": "Mean cost, % of the price of all features" if panel.cost == "cost" else f"Mean {panel.cost}",
        "y": panel.quality.title + (" %" if panel.quality.percent else ""),
        "end": 100.0 if panel.cost == "cost" else 0.0,
        "goal": panel.quality.goal,
        "share": panel.quality.percent,
        "first": drawn_at_first(panel),
        "lines": lines,
    }


def as_data_script(key: str, data: Any) -> str:
    """Return a script that hands data to the site's script under a key.

    ``<`` is escaped, so that no name in the data can end a script element.
    """
    text, name = (
        json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
        for value in (data, key)
    )
    return f"(window.benchData??={{}})[{name}]={text};\n"


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
