"""Lotteries over the policies of a family: a policy may be drawn at random for each row.

That is a policy, too; its expected cost and quality are the mixtures of those it draws from. On validation the best
lotteries at all budgets are the corners of the family's hull and their mixtures. Which policies, and how often each, is
decided on validation; what they cost and are worth is measured on the test part. So a hull is never drawn through test
points, and may lie below the steps.

Only quantities that are means over rows mix so (error, accuracy, squared error, coverage times accuracy).
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
        budget: float64 (policies,): validation cost of the policies that no cheaper one equals, ascending in each seed;
            all seeds one after the other.
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
