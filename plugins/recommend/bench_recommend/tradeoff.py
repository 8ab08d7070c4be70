"""The trade-off curve of a recommendation as a figure, with the methods' names beside their curves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench_policies.measures import MEASURES, MSE

if TYPE_CHECKING:
    from bench_recommend.recommending import Recommendation

__all__ = ["draw_tradeoff", "spread"]

_MOST_NAMED = 6
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def spread(places: list[float], gap: float) -> list[float]:
    """Move places as little as possible, so that neighbours are at least a gap apart; their order stays.

    Args:
        places: ascending.
        gap: the least distance.
    """
    count = np.arange(len(places)) * gap
    # Subtract multiples of the gap, find the nearest ascending sequence (isotonic regression), and add them again.
    from sklearn.isotonic import IsotonicRegression

    if len(places) < 2:
        return places
    moved = IsotonicRegression().fit_transform(np.arange(len(places)), np.array(places) - count)
    return [float(place) for place in np.asarray(moved) + count]


def draw_tradeoff(recommendation: Recommendation, path: Path) -> bool:
    """Draw quality by mean cost of the methods that ran on all splits, as SVG; return whether there was a curve.

    The methods of the front, the recommended one and the best of the others have colours and names; the rest is grey.
    """
    curve = recommendation.curve
    if not len(curve):
        return False
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    measure = MSE if recommendation.dataset["task"] == "regression" else MEASURES[recommendation.goal.measure]
    curve = curve.assign(shown=measure.factor * curve["quality"]).sort_values(["method", "cost", "budget"])
    on_front = curve.groupby("method")["front"].sum()
    best = curve.groupby("method")["quality"].max()
    ranked = sorted(best.index, key=lambda name: (name != recommendation.best, -on_front[name], -best[name], name))
    named = ranked[:_MOST_NAMED]
    figure = Figure(figsize=(7.6, 4.4), layout="constrained")
    axes = figure.subplots()
    for name in ranked[_MOST_NAMED:]:
        part = curve[curve["method"] == name]
        axes.plot(part["cost"], part["shown"], color="#bbbbbb", linewidth=0.8, zorder=1)
    ends = []
    for name, colour in zip(named, _COLOURS, strict=False):
        part = curve[curve["method"] == name]
        width = 2.4 if name == recommendation.best else 1.3
        axes.plot(part["cost"], part["shown"], "o-", color=colour, linewidth=width, markersize=3.5, zorder=3)
        ends.append((float(part["shown"].iloc[-1]), float(part["cost"].iloc[-1]), str(name), colour))
    front = curve[curve["front"].astype(bool)].sort_values("cost")
    axes.plot(front["cost"], front["shown"], color="black", linestyle=":", linewidth=1.2, zorder=2)
    low, high = axes.get_ylim()
    right = max(float(curve["cost"].max()), 1e-9)
    ends.sort()
    places = spread([end[0] for end in ends], (high - low) * 0.055)
    for (shown, cost, name, colour), place in zip(ends, places, strict=True):
        text = f"{name} (recommended)" if name == recommendation.best else name
        axes.annotate(
            text, (cost, shown), (right * 1.04, place), color=colour, fontsize=8, va="center",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6},
        )  # fmt: skip
    axes.set_xlim(left=min(0.0, float(curve["cost"].min())), right=right * 1.5)
    axes.set_xlabel("mean cost of a row, in the unit of the prices (dotted: the front)")
    units = {
        "Right answers %": "right answers, % of all rows",
        "Mean squared error": "mean squared error (less is better)",
    }
    axes.set_ylabel(units.get(measure.heading, measure.heading))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    with matplotlib.rc_context({"svg.hashsalt": "budgetbench"}):
        figure.savefig(path, metadata={"Date": None})
    return True
