"""Lotteries over the policies of a family: a policy may be drawn at random for each row.

A lottery is a policy, too: its expected cost and quality are weighted means of those of the policies that it draws. On
validation, the best lotteries at all budgets are the corners of the family's upper hull and mixtures of neighbouring
corners. The policies and their weights are chosen on validation; cost and quality are measured on the test part. So the
curve is not the hull of the test points, and may lie below the steps.

This holds only for means over rows (error, accuracy, squared error, coverage times accuracy).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bench_analysis.fronts import hull

__all__ = ["lottery_areas"]

Numbers = NDArray[np.float64]


def lottery_areas(
    budget: Numbers, chosen: Numbers, quality: Numbers, bounds: NDArray[np.int64], floor: float
) -> Numbers:
    """Area under each seed's curve of lotteries over budgets from 0 to 1: float64 (seeds,).

    Args:
        budget: float64 (policies,): validation cost of the policies of each seed's step front, ascending; one seed
            after the other.
        chosen: float64 (policies,): their validation quality, ascending; more is better.
        quality: float64 (policies,): test quality.
        bounds: seed s owns ``bounds[s]:bounds[s + 1]``.
        floor: quality where nothing can be afforded.
    """
    areas = []
    for start, stop in pairwise(bounds):
        own = start + hull(budget[start:stop], chosen[start:stop])
        x, y = np.clip(budget[own], 0.0, 1.0), quality[own]
        between = float((np.diff(x) * (y[1:] + y[:-1])).sum()) / 2
        areas.append(floor * x[0] + between + y[-1] * (1.0 - x[-1]))
    return np.array(areas)
