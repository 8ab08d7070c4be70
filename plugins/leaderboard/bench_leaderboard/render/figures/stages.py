"""Stage assignment by cost class (EMSCO Fig. 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench_leaderboard.analysis.assignments import StagesByClass
from bench_leaderboard.render.figures.canvas import bare, canvas, plain_text, shorten
from bench_leaderboard.render.figures.palette import FADED, INK, style_of

__all__ = ["stage_figure"]

_MOST_NAMES = 60


def stage_figure(panels: Sequence[tuple[str, StagesByClass]], title: str) -> bytes:
    """Mean stage of every feature, features by cost class; a panel per method.

    Args:
        panels: (method, its stages).
        title: the figure's heading.
    """
    widest = max(len(stages.features) for _, stages in panels)
    with canvas(min(12.0, max(6.0, 1.6 + 0.27 * widest)), 0.5 + 3.3 * len(panels)) as page:
        rows = page.figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        for axes, (method, stages) in zip(rows, panels, strict=True):
            _draw(axes, method, stages)
        page.save(title, "; ".join(f"{method}: {_words(stages)}" for method, stages in panels) + ".")
        return bytes(page)


def _draw(axes: Any, method: str, stages: StagesByClass) -> None:
    order = np.argsort(stages.classes, kind="stable")
    kinds = stages.classes[order]
    values = np.array([stages.stages[f].value for f in order])
    margins = np.nan_to_num([stages.stages[f].margin for f in order])
    top = max(2.0, float((values + margins).max()))
    for kind, label in enumerate(stages.labels):
        places = np.flatnonzero(kinds == kind)
        if not len(places):
            continue
        ink = style_of(kind).colour
        left, right = places[0] - 0.5, places[-1] + 0.5
        if kind % 2 == 0:
            axes.axvspan(left, right, color=FADED.light, lw=0, zorder=0)
        axes.errorbar(
            places, values[places], yerr=margins[places], fmt="o", color=ink, ecolor=ink,
            elinewidth=1.3, capsize=2.5, zorder=3,
        )  # fmt: skip
        axes.hlines(
            stages.means[kind].value, left + 0.1, right - 0.1, color=ink, lw=1.6, linestyle=(0, (4, 2))
        )
        narrow = len(places) < 3
        mean = f"mean {stages.means[kind].value:.2f}"
        axes.text(
            (left + right) / 2, 0.97, f"{label}, {mean}" if narrow else f"{label}\n{mean}",
            transform=axes.get_xaxis_transform(), ha="center", va="top", fontsize=8, color=INK.light,
            rotation=90 if narrow else 0,
        )  # fmt: skip
    tight = bool((np.bincount(kinds, minlength=1) < 3).any())
    count = len(order)
    names = [shorten(stages.features[f], 18) for f in order]
    if count <= _MOST_NAMES:
        axes.set_xticks(
            np.arange(count), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=7.5
        )
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{count} features, by cost class")
    axes.set_xlim(-0.6, count - 0.4)
    bottom = min(0.8, float((values - margins).min()) - 0.1)
    axes.set_ylim(bottom, top + (0.95 if tight else 0.32) * (top - bottom))
    axes.set_yticks(np.arange(1, int(top) + 1))
    axes.set_ylabel("Mean stage")
    axes.grid(visible=False, axis="x")
    varying = "" if stages.settled else "; classes vary by seed, the most frequent is shown"
    axes.set_title(f"{shorten(method, 30)}: mean of {stages.seeds} selected policies{varying}")
    bare(axes, "bottom")


def _words(stages: StagesByClass) -> str:
    varying = "" if stages.settled else "classes vary by seed; "
    return varying + ", ".join(
        f"{label} mean stage {mean.value:.2f}"
        for label, mean in zip(stages.labels, stages.means, strict=True)
    )
