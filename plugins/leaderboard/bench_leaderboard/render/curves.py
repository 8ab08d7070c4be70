"""The page's figures: links to them, and the numbers of curves as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench_analysis import FEW_SEEDS, LEVELS, REFERENCE_POINT, Curve, Panel, has_band

from bench_core.suites import Suite
from bench_leaderboard.render.figure import Figure
from bench_leaderboard.render.markdown import number, plain_number, table, text
from bench_leaderboard.render.templates import rendered

__all__ = ["MANY_LINES", "MOST_LINES", "curve_section", "figure_section"]

MANY_LINES, MOST_LINES = 24, 12
"""A picture of curves of more methods than the first shows only as many as the second."""


def curve_section(
    suite: Suite,
    figures: Sequence[Figure],
    place: str | None = None,
    *,
    with_rules: bool = True,
    with_figures: bool = True,
) -> str:
    """The section of trade-off curves: rules, figures and numbers; empty when there is no curve.

    Args:
        suite: the suite.
        figures: all of a page, or some.
        place: the folder of figures as seen from the page, ending in a slash; the suite's by default.
        with_rules: whether the section says how curves are made.
        with_figures: whether it shows them.
    """
    panels = [(figure, figure.panel) for figure in figures if figure.kind == "curve" and figure.panel is not None]
    if not panels:
        return ""
    drawn = [(figure, panel, _without_band(panel), _numbers(suite, panel)) for figure, panel in panels if with_figures]
    return rendered(
        "curves",
        place=f"{suite.name}/" if place is None else place,
        with_rules=with_rules,
        drawn=drawn,
        rejects=any(panel.rejects for _, panel in panels),
        corner=", ".join(f"{value:g}" for value in REFERENCE_POINT),
        few_seeds=FEW_SEEDS,
        many=MANY_LINES,
        most=MOST_LINES,
    )


def figure_section(suite: Suite, figures: Sequence[Figure]) -> str:
    """The sections of all other figures, in the suite's order."""
    return rendered("figures", name=suite.name, figures=[figure for figure in figures if figure.panel is None])


def _without_band(panel: Panel) -> str:
    """The methods with too few seeds for a band."""
    few = [text(curve.method) for curve in panel.curves if not has_band(curve)]
    return "any method" if few and len(few) == len(panel.curves) else ", ".join(few)


def _numbers(suite: Suite, panel: Panel) -> str:
    head = ["Method", "Policies", "From %", "Area", "Lottery", "At full price"]
    head += [f"Cost % to reach {100 * level:g} %" for level in LEVELS]
    volumes = any(curve.volume is not None for curve in panel.curves)
    head += ["Hypervolume"] * volumes + ["Seeds"]
    expected = suite.seed_count(panel.dataset)
    body = []
    for curve in panel.curves:
        done = len(curve.seeds)
        row = [text(curve.method), plain_number(curve.policies, 3), number(curve.start, percent=True)]
        row += [number(mean, percent=panel.quality.percent) for mean in (curve.area, curve.lottery)]
        row += [_plain(curve.full, panel.quality.percent)]
        row += [_reach(curve, level) for level in LEVELS]
        if volumes:
            row.append("–" if curve.volume is None else number(curve.volume))
        body.append([*row, f"{done}" if done == expected else f"{done} of {expected}"])
    return table(head, body)


def _plain(value: float, percent: bool) -> str:
    return f"{100 * value:.1f}" if percent else plain_number(value)


def _reach(curve: Curve, level: float) -> str:
    cost = curve.reach[level]
    return "never" if math.isnan(cost) else f"{100 * cost:.1f}"
