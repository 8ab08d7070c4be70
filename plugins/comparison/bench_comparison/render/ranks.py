"""Critical difference diagram (Demšar 2006, Fig. 1): average ranks, and groups that do not differ significantly.

scikit-posthocs has a diagram, too. It joins methods by a matrix of p-values instead of the critical difference, does
not shorten long names, and its colours cannot switch with the page's scheme.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bench_leaderboard import INK, MUTED, canvas, plain_text, shorten

__all__ = ["cliques_of", "critical_difference_figure"]


def cliques_of(ranks: Sequence[float], cd: float) -> list[tuple[int, int]]:
    """Maximal groups of methods whose average ranks differ by no more than the critical difference.

    Args:
        ranks: average ranks, ascending.
        cd: the critical difference.

    Returns:
        (first, last) places in ``ranks`` of each group of at least two.
    """
    cliques: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(i for i in range(first, len(ranks)) if ranks[i] - ranks[first] <= cd + 1e-12)
        if last > first and (not cliques or last > cliques[-1][1]):
            cliques.append((first, last))
    return cliques


def critical_difference_figure(
    names: Sequence[str], ranks: Sequence[float], cd: float, title: str, note: str = ""
) -> bytes:
    """Average ranks on a line, best to the left; bars join methods whose ranks differ by no more than ``cd``.

    Args:
        names: the methods.
        ranks: their average ranks, 1 for the best.
        cd: Nemenyi's critical difference.
        title: the figure's heading.
        note: a line below, such as the number of data sets.
    """
    order = np.argsort(np.asarray(ranks), kind="stable")
    names, values = [names[i] for i in order], [float(ranks[i]) for i in order]
    count = len(names)
    half = (count + 1) // 2
    groups = cliques_of(values, cd)
    low, high = 1, max(count, 2)
    with canvas(7.4, 1.75 + 0.24 * half + 0.13 * len(groups)) as page:
        axes = page.figure.subplots()
        axes.set_axis_off()
        reach = 0.42 * (high - low)
        axes.set_xlim(low - reach, high + reach)
        axes.set_title(plain_text(title))
        axes.hlines(0, low, high, color=INK.light, lw=1.2)
        for tick in range(low, high + 1):
            axes.vlines(tick, 0, 0.28, color=INK.light, lw=1.0)
            axes.text(tick, 0.42, str(tick), ha="center", va="bottom", fontsize=8.5)
        shown = min(cd, high - low)
        axes.hlines(1.75, low, low + shown, color=INK.light, lw=1.6)
        axes.vlines([low, low + shown], 1.6, 1.9, color=INK.light, lw=1.2)
        text = f"critical difference {cd:.3g}" + (" (wider than the scale)" if cd > high - low else "")
        axes.text(low, 2.05, text, ha="left", va="bottom", fontsize=8.5)
        depth = 0.5 * len(groups) + 0.6
        for level, (first, last) in enumerate(groups):
            y = -0.5 * (level + 1)
            margin = 0.012 * (high - low)
            axes.hlines(y, values[first] - margin, values[last] + margin, color=MUTED.light, lw=4)
        for i, (name, value) in enumerate(zip(names, values, strict=True)):
            left = i < half
            line = i if left else count - 1 - i
            y = -(depth + 0.85 * (line + 0.5))
            end = low - 0.04 * (high - low) if left else high + 0.04 * (high - low)
            axes.plot([value, value, end], [0, y, y], color=INK.light, lw=0.9, solid_joinstyle="miter")
            text = f"{shorten(name, 24)}  {value:.2f}" if left else f"{value:.2f}  {shorten(name, 24)}"
            axes.text(end - 0.03 * reach if left else end + 0.03 * reach, y, text,
                      ha="right" if left else "left", va="center", fontsize=8.5)  # fmt: skip
        bottom = -(depth + 0.85 * (half + 0.6))
        if note:
            axes.text(low - reach, bottom, plain_text(note), ha="left", va="bottom", fontsize=8, color=MUTED.light)
        axes.set_ylim(bottom, 3.0)
        ranked = ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))
        joined = "; ".join(", ".join(names[a : b + 1]) for a, b in groups) or "none"
        page.save(title, f"Average ranks: {ranked}. Critical difference {cd:.3g}. Not told apart: {joined}.")
        return bytes(page)
