"""The page's figures: what is drawn, its numbers as tables, and the links to it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench_core.suites import Suite
from bench_leaderboard.analysis.curves import FEW_SEEDS, LEVELS, Curve, Panel, has_band
from bench_leaderboard.analysis.fronts import REFERENCE_POINT
from bench_leaderboard.render.figure import Figure
from bench_leaderboard.render.markdown import number, plain_number, table, text

__all__ = ["curve_section", "figure_section"]


def curve_section(suite: Suite, figures: Sequence[Figure]) -> list[str]:
    """The section of trade-off curves: rules, figures and numbers; nothing when there is no curve."""
    drawn = [figure for figure in figures if figure.kind == "curve" and figure.panel is not None]
    if not drawn:
        return []
    lines = ["## Trade-off curves", "", _rules(any(figure.panel and figure.panel.rejects for figure in drawn)), ""]
    for figure in drawn:
        if figure.panel is not None:
            lines += [f"### {text(figure.heading)}", "", *([text(figure.note), ""] if figure.note else [])]
            lines += [_image(suite, figure), "", _says(figure.panel), "", _numbers(suite, figure.panel), ""]
    return lines


def figure_section(suite: Suite, figures: Sequence[Figure]) -> list[str]:
    """The sections of all other figures, in the suite's order."""
    lines: list[str] = []
    section = ""
    for figure in figures:
        if figure.panel is not None:
            continue
        if figure.section != section:
            section = figure.section
            lines += [f"## {text(section)}", "", *([text(figure.note), ""] if figure.note else [])]
        lines += [_image(suite, figure), ""]
    return lines


def _image(suite: Suite, figure: Figure) -> str:
    return f"![{text(figure.alt)}]({suite.name}/{figure.file})"


def _rules(rejects: bool) -> str:
    corner = ", ".join(f"{value:g}" for value in REFERENCE_POINT)
    sentences = [
        "A method's curve: at every budget, each seed takes the policy (of all grid points) with the best quality on "
        "validation among those whose validation cost is within the budget, and counts with what that policy does on "
        "the test part; then the mean over seeds, from the least budget at which every seed can afford a policy. "
        "Steps are not interpolated: between two policies the cheaper one is used, and the figures draw it so: over "
        "each cost stands the quality of the largest budget whose mean test cost is not above it.",
        "Costs are shares of the price of all features.",
        "*Lottery* is the area of the other reading: a policy may be drawn at random for each row, from two that are "
        "corners of the family's hull on validation, with the odds that spend the budget there; what it costs and is "
        "worth is measured on the test part. Claims on rows within a share of the price read the steps, unless they "
        "say that they read the hull.",
        "*From*: cost of a family's cheapest policy. *Area*: under the curve over budgets from 0 to 1, with the worst "
        "quality where nothing can be afforded; so what only works at full price has the worst area there is.",
        "*Cost to reach*: the test cost at which the mean curve first has that share of the full model's quality, or "
        "“never”.",
        f"*Hypervolume*: of a seed's policies that validation leaves non-dominated, measured on the test part over "
        f"(coverage, accuracy, 1 − cost share) above the reference point ({corner}); a larger family has more chances.",
        "± is half the width of the 95 % interval over seeds, as in the tables; a band is the same interval of the "
        "mean quality, budget by budget.",
    ]
    if rejects:
        sentences.append("The marks' filling is the coverage.")
    return " ".join(sentences)


def _says(panel: Panel) -> str:
    """What a figure's axes mean on this data set."""
    quality = panel.quality
    direction = "more is better" if quality.goal == "max" else "less is better"
    if quality.worst is None:
        floor = f"its worst value here, {plain_number(panel.floor)}, stands where nothing can be afforded"
    else:
        floor = f"worst value {quality.worst:g}"
    full = f"that of {text(panel.reference)}" + ("" if panel.named else ", the best of all at any cost")
    paragraph = f"Quality: {text(quality.title)} ({direction}; {floor}). Full model's quality: {full}."
    if panel.cost != "cost":
        paragraph += (
            f" Cost in this table is {text(panel.cost)}, as a share of the largest of any policy "
            f"({plain_number(panel.largest)})."
        )
    few = [text(curve.method) for curve in panel.curves if not has_band(curve)]
    if few:
        which = "any method" if len(few) == len(panel.curves) else ", ".join(few)
        paragraph += f" No band for {which}: fewer than {FEW_SEEDS} seeds are done."
    return paragraph


def _numbers(suite: Suite, panel: Panel) -> str:
    head = ["Method", "Policies", "From %", "Area", "Lottery", "Full model"]
    head += [f"Cost % to reach {100 * level:g} %" for level in LEVELS]
    volumes = any(curve.volume is not None for curve in panel.curves)
    head += ["Hypervolume"] * volumes + ["Seeds"]
    expected = suite.seed_count(panel.dataset)
    body = []
    for curve in panel.curves:
        row = [text(curve.method), plain_number(curve.policies, 3), number(curve.start, percent=True)]
        row += [number(mean, panel.quality.percent) for mean in (curve.area, curve.lottery)]
        row += [_plain(curve.full, panel.quality.percent)]
        row += [_reach(curve, level) for level in LEVELS]
        if volumes:
            row.append("–" if curve.volume is None else number(curve.volume))
        done = len(curve.seeds)
        body.append([*row, f"{done}" if done == expected else f"{done} of {expected}"])
    return table(head, body)


def _plain(value: float, percent: bool) -> str:
    return f"{100 * value:.1f}" if percent else plain_number(value)


def _reach(curve: Curve, level: float) -> str:
    cost = curve.reach[level]
    return "never" if math.isnan(cost) else f"{100 * cost:.1f}"
