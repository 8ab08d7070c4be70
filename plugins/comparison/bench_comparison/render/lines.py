"""The picture of the front page: quality by budget, a line with its band for each kind of method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_leaderboard import INK, MUTED, bare, canvas, plain_text, style_of

from bench_comparison.findings import listed, per_cent
from bench_comparison.kinds import EVERYTHING

__all__ = ["lines_figure", "spaced"]

JsonObject = Mapping[str, Any]

_WIDTH, _HEIGHT = 6.8, 5.2
_BETWEEN = 0.052
"""Least distance of two labels, as a share of the axis."""


def lines_figure(answer: JsonObject, view: JsonObject) -> bytes:
    """The kinds of methods on logarithmic budgets; the kinds recommended at most budgets are bold; 100 % is dashed.

    Args:
        answer: from `bench_comparison.question.loss_answer`.
        view: one of its views.
    """
    order = [kind["name"] for kind in answer["kinds"]]
    names = [name for name in order if name != EVERYTHING and _points(view, name)]
    recommended = [step["recommended"]["kind"] for step in view["steps"] if step["recommended"]]
    most = max(map(recommended.count, recommended))
    bold = [name for name in order if recommended.count(name) == most]
    with canvas(_WIDTH, _HEIGHT) as page:
        axes = page.figure.subplots()
        axes.set_xscale("log")
        lowest, highest = view["steps"][0]["budget"], view["steps"][-1]["budget"]
        axes.set_xlim(lowest * 0.36, highest * 1.13)
        tops = [high for name in names for _, _, _, high in _points(view, name)]
        axes.set_ylim(-0.02, max(1.08, *(top + 0.02 for top in tops)))
        for name in names:
            points, style = _points(view, name), style_of(order.index(name))
            x = [budget for budget, *_ in points]
            axes.fill_between(
                x, [low for _, _, low, _ in points], [high for *_, high in points], color=style.colour,
                alpha=0.16 if name in bold else 0.05, lw=0,
            )  # fmt: skip
            axes.plot(x, [value for _, value, *_ in points], color=style.colour, lw=4.2 if name in bold else 1.7)
        axes.axhline(1.0, color=MUTED.light, lw=1.4, ls=(0, (5, 3)))
        axes.text(lowest * 0.38, 1.012, "all features bought", color=MUTED.light, fontsize=12, va="bottom")
        _marks(axes, view)
        _labels(axes, view, names, order, bold)
        _ticks(axes, view)
        bare(axes, "left")
        title = "What a share of the price buys, by kind of method"
        axes.set_title(title, fontsize=14, pad=10)
        page.save(title, _words(view, names, bold))
        return bytes(page)


def _points(view: JsonObject, name: str) -> list[tuple[float, float, float, float]]:
    """Budget, mean, and low and high end of its interval, at each budget where a kind has a mean."""
    found = []
    for step in view["steps"]:
        for row in step["kinds"]:
            if row["name"] == name and row["quality"][0] is not None:
                value, low, high = row["quality"]
                found.append((step["budget"], value, value if low is None else low, value if high is None else high))
    return found


def _marks(axes: Any, view: JsonObject) -> None:
    """A dot where a method is recommended."""
    there = [step for step in view["steps"] if step["recommended"]]
    axes.plot(
        [step["budget"] for step in there], [step["recommended"]["quality"][0] for step in there], ls="none",
        marker="o", ms=8.5, color=INK.light, zorder=5,
    )  # fmt: skip
    axes.text(there[0]["budget"] * 0.38, 0.93, "● recommended", color=INK.light, fontsize=12, va="center")
    axes.text(
        there[0]["budget"] * 0.38, 0.86, "bold: kinds recommended most often", color=INK.light, fontsize=12, va="center"
    )


def _labels(axes: Any, view: JsonObject, names: Sequence[str], order: Sequence[str], bold: Sequence[str]) -> None:
    """The kinds' names at the left ends of their lines, moved apart."""
    ends = {name: _points(view, name)[0] for name in names}
    low, high = axes.get_ylim()
    places = spaced([ends[name][1] for name in names], _BETWEEN * (high - low), low + 0.03 * (high - low))
    for name, place in zip(names, places, strict=True):
        budget, value, *_ = ends[name]
        colour = style_of(order.index(name)).colour
        axes.plot([budget * 0.9, budget * 0.98], [place, value], color=colour, lw=1.0)
        axes.text(
            budget * 0.88, place, plain_text(name), color=colour, fontsize=12.5, ha="right", va="center",
            weight="bold" if name in bold else "normal",
        )  # fmt: skip


def spaced(values: Sequence[float], least: float, floor: float) -> list[float]:
    """Places near the values, in their order, no two closer than ``least``, none below ``floor``.

    Args:
        values: the places that labels should have.
        least: least distance of two labels.
        floor: least place of a label.
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    groups: list[tuple[list[int], float]] = []  # members, the lowest first, and the middle of their places
    for i in order:
        members, middle = [i], max(values[i], floor)
        while groups and middle - (len(members) - 1) * least / 2 < groups[-1][1] + (len(groups[-1][0]) + 1) * least / 2:
            before, _ = groups.pop()
            members = before + members
            middle = sum(values[m] for m in members) / len(members)
            middle = max(middle, floor + (len(members) - 1) * least / 2)
        groups.append((members, middle))
    places = [0.0] * len(values)
    for members, middle in groups:
        for place, member in enumerate(members):
            places[member] = middle + (place - (len(members) - 1) / 2) * least
    return places


def _ticks(axes: Any, view: JsonObject) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.xaxis.set_major_locator(FixedLocator([step["budget"] for step in view["steps"]]))
    axes.xaxis.set_minor_locator(NullLocator())
    percent = FuncFormatter(lambda value, _: f"{100 * value:.0f} %")
    axes.xaxis.set_major_formatter(percent)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1.0]))
    axes.yaxis.set_major_formatter(percent)
    axes.yaxis.tick_right()
    axes.tick_params(labelsize=12, length=0)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("budget, as a share of the price of all features", fontsize=12)
    axes.yaxis.set_label_position("right")
    axes.set_ylabel("of what all features bring", fontsize=12)


def _words(view: JsonObject, names: Sequence[str], bold: Sequence[str]) -> str:
    said = [
        f"{name}: " + ", ".join(f"{per_cent(value)} at {per_cent(budget)}" for budget, value, *_ in _points(view, name))
        for name in names
    ]
    return f"0 % is the empty policy, 100 % the reference with all features. Bold: {listed(bold)}. {listed(said)}."
