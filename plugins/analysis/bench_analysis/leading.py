"""The curves that lead: those worth drawing where a data set has too many for one picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench_analysis.curves import Panel

__all__ = ["leading"]


def leading(panel: Panel, most: int) -> Panel:
    """A panel with some of its curves: those whose validation quality is best over the longest range of budgets.

    Ties count for all, but where all curves are equal none is counted. Among equals, a greater area under the
    validation curve comes first. The curves stay in the suite's order.

    Args:
        panel: the curves.
        most: maximum number of curves that are kept.
    """
    sign = 1.0 if panel.quality.goal == "max" else -1.0
    budgets = np.unique(np.concatenate([[0.0, 1.0], *(curve.budgets for curve in panel.curves)]))
    worst = np.full(1, sign * panel.floor)
    values = np.array([
        np.concatenate([worst, sign * curve.validation])[np.searchsorted(curve.budgets, budgets[:-1], side="right")]
        for curve in panel.curves
    ])  # fmt: skip
    widths = np.diff(budgets)
    best = values == values.max(axis=0)
    led = np.round((best & ~best.all(axis=0)) @ widths, 9)  # rounded, because the order of a sum depends on the machine
    kept = set(np.lexsort((-np.round(values @ widths, 9), -led))[:most].tolist())
    return replace(panel, curves=tuple(curve for place, curve in enumerate(panel.curves) if place in kept))
