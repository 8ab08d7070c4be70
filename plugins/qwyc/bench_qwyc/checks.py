"""Checks of an ensemble's scores, prices and order, and of α."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["checked_costs", "checked_order", "checked_scores", "error_budget"]


def error_budget(alpha: float, examples: int) -> int:
    """Error budget: the greatest number of errors whose share of the examples is at most α.

    Raises:
        ValueError: α is outside [0, 1).
    """
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha must be in [0, 1), not {alpha}")
    errors = min(examples, math.floor(alpha * examples) + 1)
    while errors / examples > alpha:
        errors -= 1
    return errors


def checked_scores(scores: Any, bias: Any = 0.0) -> NDArray[Any]:
    """Scores as float32 or float64 (T, N) or (T, N, K), finite and with finite sums.

    Raises:
        ValueError: shape or type are wrong, the array is empty, or a score or a sum is NaN or infinite; the message
            names base model and example.
    """
    table = np.asarray(scores)
    if table.dtype not in (np.float32, np.float64):
        if table.dtype.kind not in "iub":
            raise ValueError(f"scores must be float32 or float64, not {table.dtype}")
        table = table.astype(np.float64)
    if table.ndim not in (2, 3) or 0 in table.shape or (table.ndim == 3 and table.shape[2] < 2):
        raise ValueError(
            "scores must have a row per base model and a column per example (and at least two classes in a third "
            f"axis), not shape {table.shape}"
        )
    if not np.isfinite(bias).all():
        raise ValueError(f"the bias must be finite, not {bias}")
    bound = np.max(np.abs(bias))
    for model, row in enumerate(table):
        largest = max(abs(float(row.max())), abs(float(row.min())))
        if not math.isfinite(largest):
            example = int(np.flatnonzero(~np.isfinite(row).reshape(len(row), -1).all(axis=1))[0])
            raise ValueError(f"base model {model} has the score {row[example]} on example {example}")
        bound = bound + largest
    if bound > np.finfo(table.dtype).max / 2:
        raise ValueError(f"the scores are so large that their sum leaves the range of {table.dtype}")
    return table


def checked_costs(costs: Any, models: int) -> NDArray[np.float64]:
    """Prices as float64 (T,); None means 1 each.

    Raises:
        ValueError: the number of prices is not T, or a price is negative, NaN or infinite.
    """
    if costs is None:
        return np.ones(models)
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (models,):
        raise ValueError(f"{models} prices are needed, one per base model, not shape {prices.shape}")
    bad = np.flatnonzero(~(np.isfinite(prices) & (prices >= 0)))
    if len(bad):
        raise ValueError(f"the price of base model {bad[0]} must be finite and not negative, not {prices[bad[0]]}")
    return prices


def checked_order(order: Sequence[int] | NDArray[Any], models: int) -> NDArray[np.int64]:
    """The order as int64 (T,).

    Raises:
        ValueError: it is not a permutation of the base models.
    """
    given = np.asarray(order)
    if given.shape != (models,) or not np.array_equal(np.sort(given), np.arange(models)):
        raise ValueError(f"order must name each of the {models} base models (0 to {models - 1}) once")
    return given.astype(np.int64)
