"""The policies that are a trial's answer at some budget."""

from __future__ import annotations

import numpy as np
from bench_analysis import step_front
from numpy.typing import NDArray

__all__ = ["NONE", "ROUNDING", "Steps"]

Numbers = NDArray[np.float64]

NONE = -1
"""Position that means that no policy fits."""

ROUNDING = 1e-9
"""A cost keeps a budget that it exceeds by at most this share."""


class Steps:
    """The policies that are an answer at some budget, trial by trial.

    Args:
        groups: int64 (policies,): the trial (0, 1, …) that each belongs to.
        cost, quality: float64 (policies,) on validation; more quality is better.
        trials: how many there are.
    """

    def __init__(self, groups: NDArray[np.int64], cost: Numbers, quality: Numbers, trials: int) -> None:
        self.policies = step_front(groups, cost, quality)
        self._cost = cost[self.policies]
        self._bounds = np.searchsorted(groups[self.policies], np.arange(trials + 1))

    def at(self, budgets: Numbers) -> NDArray[np.int64]:
        """The policy of each trial at each budget, `NONE` where none fits.

        Args:
            budgets: float64 (trials, budgets).

        Returns:
            int64 (trials, budgets): positions in the arrays given at construction.
        """
        chosen = np.full(budgets.shape, NONE, dtype=np.int64)
        for trial, (start, stop) in enumerate(zip(self._bounds[:-1], self._bounds[1:], strict=True)):
            limit = budgets[trial] * (1 + ROUNDING)
            place = np.searchsorted(self._cost[start:stop], limit, side="right") - 1
            fits = place >= 0
            chosen[trial, fits] = self.policies[start:stop][place[fits]]
        return chosen

    def areas(self, quality: Numbers, floor: float) -> Numbers:
        """Area below each trial's quality over budgets from 0 to 1; ``floor`` where no policy fits; float64 (trials,).

        Args:
            quality: float64 (policies,), on the test part.
            floor: the quality where no policy fits.
        """
        areas = np.full(len(self._bounds) - 1, np.nan)
        for trial, (start, stop) in enumerate(zip(self._bounds[:-1], self._bounds[1:], strict=True)):
            if start < stop:
                begin = np.clip(self._cost[start:stop], 0.0, 1.0)
                width = np.append(begin[1:], 1.0) - begin
                areas[trial] = floor * begin[0] + float((width * quality[self.policies[start:stop]]).sum())
        return areas
