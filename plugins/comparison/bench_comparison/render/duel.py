"""Choosing features row by row against the best fixed subset: a dot for each data set, a row for each budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_leaderboard import INK, MUTED, bare, canvas, style_of

from bench_comparison.findings import per_cent, signed

__all__ = ["duel_figure"]

JsonObject = Mapping[str, Any]

_EDGE = 0.5
"""Larger differences are drawn at the edge, as arrows, with their names and sizes."""


def duel_figure(view: JsonObject) -> bytes:
    """Differences of quality, dynamic less fixed; the mean with its interval below each row's dots.

    Args:
        view: of an answer.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter

    steps = view["dynamic"]
    ahead, behind = style_of(2).colour, style_of(1).colour
    with canvas(6.8, 1.5 + 0.72 * len(steps)) as page:
        axes = page.figure.subplots()
        axes.set_xlim(-_EDGE * 1.08, _EDGE * 1.08)
        axes.set_ylim(len(steps) - 0.3, -0.75)
        axes.axvline(0, color=MUTED.light, lw=1.2)
        for row, step in enumerate(steps):
            for one in sorted(step["datasets"], key=lambda one: one["name"]):
                value = one["difference"]
                if value is None:
                    continue
                marker = "o" if abs(value) <= _EDGE else ">" if value > 0 else "<"
                place = min(max(value, -_EDGE), _EDGE)
                colour = ahead if value > 0 else behind
                axes.plot(place, row - 0.13, marker=marker, ms=7, color=colour, alpha=0.55, mew=0)
            for side, align in ((1, "right"), (-1, "left")):
                beyond = [one for one in step["datasets"] if side * (one["difference"] or 0) > _EDGE]
                names = ", ".join(f"{one['name']} {signed(one['difference'])}" for one in beyond)
                axes.text(side * _EDGE, row + 0.13, names, color=MUTED.light, fontsize=10, va="center", ha=align)
            value, low, high = step["difference"]
            if low is not None:
                axes.plot([max(low, -_EDGE), min(high, _EDGE)], [row + 0.2] * 2, color=INK.light, lw=2.2)
            axes.plot(value, row + 0.2, marker="D", ms=6, color=INK.light)
        axes.text(-_EDGE, -0.55, "← fixed subset is better", color=behind, fontsize=12, va="center")
        axes.text(_EDGE, -0.55, "row by row is better →", color=ahead, fontsize=12, va="center", ha="right")
        axes.yaxis.set_major_locator(FixedLocator(list(range(len(steps)))))
        axes.set_yticklabels([f"{per_cent(step['budget'])} of the price" for step in steps])
        axes.xaxis.set_major_locator(FixedLocator([-0.5, -0.25, 0, 0.25, 0.5]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:+.0f} %" if value else "0"))
        axes.tick_params(labelsize=12, length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("difference, of what all features bring\n● a data set   ◆ mean with 95 % interval", fontsize=12)
        bare(axes, "left")
        title = "Row by row, or a fixed subset?"
        axes.set_title(title, fontsize=14, pad=10)
        said = "; ".join(f"{per_cent(s['difference'][0], 1)} at {per_cent(s['budget'])}" for s in steps)
        page.save(title, f"Mean difference, row by row less the best fixed subset: {said}.")
        return bytes(page)
