"""Conversion of prices to LightGBM's penalties, one per column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from bench_models.prices import MeanPrices
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["Penalties", "column_prices", "penalties"]

Shared = Literal["split", "each"]


def column_prices(problem: Problem, shared: Shared) -> NDArray[np.float64]:
    """Price of each column for LightGBM; float64 (columns,).

    LightGBM's penalties are per column: it has no features of several columns and no acquisition groups. ``split``
    divides a feature's price among its columns and a group's among its features (and their columns), so that the total
    is right. ``each`` charges every column the full price of both, which is right for the first column and too much
    for the others. Prices that grow with item size are averaged over the training rows.
    """
    prices = MeanPrices.of(problem)
    width = np.bincount(problem.feature_of_column, minlength=problem.n_features)
    if shared == "split":
        return np.asarray((prices.split / np.maximum(width, 1))[problem.feature_of_column])
    return np.asarray((prices.own + prices.opening)[problem.feature_of_column])


@dataclass(frozen=True, eq=False)
class Penalties:
    """LightGBM's penalties at ``cegb_tradeoff = 1``.

    Attributes:
        feature: float64 (columns,): penalty of each column, per row for ``lazy``, once for ``coupled``.
        split: ``cegb_penalty_split``, per row and split.
    """

    feature: NDArray[np.float64]
    split: float

    def parameters(self, kind: str, tradeoff: float) -> dict[str, Any]:
        """The penalties as LightGBM's parameters; empty if all are 0."""
        if tradeoff == 0 or not (self.feature.any() or self.split):
            return {}
        parameters: dict[str, Any] = {"cegb_tradeoff": tradeoff, "cegb_penalty_split": self.split}
        if self.feature.any():
            parameters[f"cegb_penalty_feature_{kind}"] = self.feature.tolist()
        return parameters


def penalties(problem: Problem, kind: str, shared: Shared, split_price: float, unit: str, scale: float) -> Penalties:
    """Penalties of a problem.

    Args:
        problem: the problem; its costs and training part are used.
        kind: ``coupled`` or ``lazy``.
        shared: see `column_prices`.
        split_price: price of evaluating one split for one row, in the unit of the prices.
        unit: ``raw`` leaves prices unscaled. ``relative`` scales them so that, at a trade-off of 1, acquiring all
            features for every row must gain as much as a perfect first tree.
        scale: LightGBM's gain per row of a perfect first tree: the target's variance, or 1 for log losses.
    """
    prices = column_prices(problem, shared)
    if unit == "raw":
        return Penalties(prices, split_price)
    sizes = problem.train.sizes
    total = float(problem.costs.total(len(problem.train), sizes).mean())
    per_row = scale / total if total > 0 else 0.0
    # A coupled penalty is subtracted once from a gain summed over rows, a lazy one once for each row.
    rows = len(problem.train) if kind == "coupled" else 1
    return Penalties(prices * per_row * rows, split_price * per_row)


def gain_scale(problem: Problem, objective: str) -> float:
    """LightGBM's gain per row of a perfect first tree."""
    return float(np.var(problem.train.y)) if objective == "regression" else 1.0
