"""Prices of features, acquisition groups and evaluations as weighted groups of columns (CSTC Eq. 12, 22)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs
from bench_models.kernels_penalty import group_excess
from bench_models.prices import MeanPrices

__all__ = ["Penalty"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Penalty:
    """Groups of columns; a group is paid once if any of its columns has weight.

    Attributes:
        weights: float64 (groups,): price of each group, above 0.
        ptr, rows: int64: column t is in the groups ``rows[ptr[t]:ptr[t + 1]]``.
    """

    weights: Floats
    ptr: Ints
    rows: Ints

    @classmethod
    def build(
        cls, costs: Costs, features_of: Sequence[Ints], sizes: Floats | None = None, evaluation: Floats | None = None
    ) -> Penalty:
        """Build the groups from prices.

        A path pays a feature's price if any of the feature's columns has weight on it (F of CSTC Eq. 20), and likewise
        an acquisition group's price. It pays for the evaluation of each column with weight (Eq. 21). Prices that grow
        with item size enter by their mean over the training rows.

        Args:
            costs: prices and groups of the data set.
            features_of: per column, the features it uses.
            sizes: float64 (rows,) of the training part, or None.
            evaluation: float64 (columns,): price of evaluating each column; None for plain features.
        """
        prices = MeanPrices.at(costs, sizes)
        weights: list[float] = []
        place: dict[tuple[str, int], int] = {}

        def row(kind: str, number: int, weight: float) -> int | None:
            if weight <= 0:
                return None
            key = (kind, number)
            if key not in place:
                place[key] = len(weights)
                weights.append(float(weight))
            return place[key]

        ptr: list[int] = [0]
        rows: list[int] = []
        for column, used in enumerate(features_of):
            mine = [row("feature", int(f), prices.own[f]) for f in used]
            if costs.groups is not None:
                opened = sorted({int(costs.groups[f]) for f in used} - {-1})
                mine += [row("group", g, prices.group_price[g]) for g in opened]
            if evaluation is not None:
                mine.append(row("evaluation", column, float(evaluation[column])))
            rows.extend(r for r in mine if r is not None)
            ptr.append(len(rows))
        return cls(np.array(weights), np.array(ptr, dtype=np.int64), np.array(rows, dtype=np.int64))

    def of(self, columns: Ints) -> tuple[Ints, Ints]:
        """``ptr`` and ``rows`` of the given columns, in their order."""
        parts = [self.rows[self.ptr[t] : self.ptr[t + 1]] for t in columns]
        ptr = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        return ptr, np.concatenate([*parts, np.zeros(0, dtype=np.int64)]).astype(np.int64)

    def sum_over(self, per_group: Floats) -> Floats:
        """Sum over each column's groups: float64 (columns,)."""
        running = np.concatenate([[0.0], np.cumsum(per_group[self.rows])])
        return np.asarray(running[self.ptr[1:]] - running[self.ptr[:-1]])

    def excess(self, pull: Floats, prices: Floats) -> Floats:
        """Each column's pull, less its part of the prices of its groups; 0 for all columns if zero weights are optimal.

        This is the proximal operator of ``Σ_r prices[r] ‖β_r‖₂``. The columns of a group share its price: a group is
        bought if the norm of what its columns pull beyond the prices of their other groups exceeds its price.

        Args:
            pull: float64 (columns,), at least 0: absolute gradient of the loss at weight 0, less the l1 norm's weight.
            prices: float64 (groups,): price of each group; 0 for a group that is paid already.

        Returns:
            float64 (columns,). If two groups overlap and neither contains the other, it is approached from above, in at
            most 200 rounds, until no value changes by more than 1e-9 of the greatest pull.

        Source: Jenatton, Mairal, Obozinski, Bach, Proximal methods for hierarchical sparse coding, JMLR 12, 2011,
        Algorithm 1 (one round suffices where groups are nested).
        """
        return np.asarray(group_excess(pull, prices, self.ptr, self.rows))

    def smallest_factor(self, pull: Floats) -> float:
        """The smallest factor by which all prices can be multiplied so that zero weights are optimal.

        Args:
            pull: float64 (columns,), at least 0, as in `excess`; columns without a group are ignored.
        """
        pull = np.where(np.diff(self.ptr) > 0, pull, 0.0)
        prices = self.sum_over(self.weights)
        low = float((pull[prices > 0] / prices[prices > 0]).max(initial=0.0))
        if low <= 0:
            return 0.0

        def too_low(factor: float) -> bool:
            return bool(self.excess(pull, factor * self.weights).max() > 1e-9 * pull.max())

        high = low
        while too_low(high):
            low, high = high, 2 * high
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if too_low(middle) else (low, middle)
        return high
