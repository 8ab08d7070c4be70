"""From prices to LightGBM's penalties, one per column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs, Problem

__all__ = ["Penalties", "column_prices", "penalties"]

Shared = Literal["split", "each"]


def column_prices(problem: Problem, shared: Shared) -> NDArray[np.float64]:
    """What LightGBM is told that each column costs; float64 (columns,).

    LightGBM knows columns only: neither features of several columns nor acquisition groups. ``split`` shares a
    feature's price among its columns and a group's among its features (and their columns), so that all of them
    together cost what they do; ``each`` charges the whole of both to every column, which is right for the first
    one and too much for the others. Prices that grow with item size are averaged over the training rows.
    """
    costs, sizes = problem.costs, problem.train.sizes
    width = np.bincount(problem.feature_of_column, minlength=problem.n_features)
    price = costs.feature_prices(sizes).mean(axis=0)
    part = np.maximum(width, 1) if shared == "split" else np.ones(problem.n_features)
    if costs.groups is not None and costs.group_prices is not None and len(costs.group_prices):
        group_price = Costs(costs.group_prices).feature_prices(sizes).mean(axis=0)
        members = np.bincount(costs.groups[costs.groups >= 0], minlength=len(group_price))
        share = group_price / np.maximum(members, 1) if shared == "split" else group_price
        price = price + np.where(costs.groups >= 0, share[costs.groups], 0.0)
    own: NDArray[np.float64] = (price / part)[problem.feature_of_column]
    return own


@dataclass(frozen=True, eq=False)
class Penalties:
    """LightGBM's penalties at ``cegb_tradeoff = 1``.

    Attributes:
        feature: float64 (columns,): per row for ``lazy``, once for ``coupled``.
        split: ``cegb_penalty_split``, per row and split.
    """

    feature: NDArray[np.float64]
    split: float

    def parameters(self, kind: str, tradeoff: float) -> dict[str, Any]:
        """As LightGBM's parameters; none at all when nothing is charged."""
        if tradeoff == 0 or not (self.feature.any() or self.split):
            return {}
        parameters: dict[str, Any] = {"cegb_tradeoff": tradeoff, "cegb_penalty_split": self.split}
        if self.feature.any():
            parameters[f"cegb_penalty_feature_{kind}"] = self.feature.tolist()
        return parameters


def penalties(problem: Problem, kind: str, shared: Shared, split_price: float, unit: str, scale: float) -> Penalties:
    """Penalties of a problem.

    Args:
        problem: its costs and training part.
        kind: ``coupled`` or ``lazy``.
        shared: see `column_prices`.
        split_price: price of evaluating one split for one row.
        unit: ``raw``: prices as they are. ``relative``: at a trade-off of 1, acquiring everything for every row must
            bring the loss reduction of a perfect model.
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
    """LightGBM's gain per row of a tree that explains everything at the start."""
    return float(np.var(problem.train.y)) if objective == "regression" else 1.0
