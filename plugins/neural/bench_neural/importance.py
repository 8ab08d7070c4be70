"""Static orders: PT-S by permutation importance (Breiman 2001) per price, CAE by its trained selectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_neural.policy import Network, softmax
from bench_neural.view import Units, View

__all__ = ["importance_order", "permutation_importance", "selected_order"]


def permutation_importance(
    view: View,
    predictor: Network,
    values: NDArray[np.float32],
    target: NDArray[np.float32],
    classes: int,
    rng: np.random.Generator,
    repeats: int,
) -> NDArray[np.float64]:
    """The rise of the mean loss, with all units known, when a unit's values are permuted among the rows.

    Args:
        view, predictor: the fitted predictor of partial inputs.
        values: float32 (rows, values), of rows that the predictor was not trained on.
        target: float32 (rows,): class codes, or standardised values.
        classes: number of classes; 0 for regression (squared error).
        rng: draws the permutations.
        repeats: permutations of each unit.

    Returns:
        float64 (units,): nats, or variances of the target.
    """

    def loss(shown: NDArray[np.float32]) -> float:
        outputs = predictor(view.inputs(shown, np.ones((len(shown), view.units.count), dtype=bool)))
        if not classes:
            return float(((outputs[:, 0] - target) ** 2).mean())
        right = softmax(outputs[:, :classes])[np.arange(len(target)), target.astype(np.int64)]
        return float(-np.log(np.maximum(right, 1e-12)).mean())

    base, rises = loss(values), np.zeros(view.units.count)
    for unit in range(view.units.count):
        columns = np.flatnonzero(view.unit_of_value == unit)
        for _ in range(repeats):
            shown = values.copy()
            shown[:, columns] = values[rng.permutation(len(values))][:, columns]
            rises[unit] += (loss(shown) - base) / repeats
    return rises


def importance_order(view: View, importance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Units by importance per price, the greatest first; the price of a group counts for its first unit only.

    An importance that is not positive is multiplied by the price instead, so that of two equally useless units the
    cheaper one comes first.
    """
    known = np.zeros((1, view.units.count), dtype=bool)
    order: list[int] = []
    for _ in range(view.units.count):
        price = view.units.ratio_prices(known)[0]
        ratio = np.where(importance > 0, importance / price, importance * price)
        order.append(min(np.flatnonzero(~known[0]).tolist(), key=lambda u: (-ratio[u], price[u], u)))
        known[0, order[-1]] = True
    return np.array(order, dtype=np.int64)


def selected_order(logits: NDArray[np.float64], units: Units) -> NDArray[np.int64]:
    """Order units by trained selectors.

    First, each selector takes the remaining unit of greatest logit − log price; then the other units follow by their
    mean logit − log price. Of equal units, the first comes first. A group's price counts for its first unit only.

    Args:
        logits: float64 (selectors, units); not more selectors than units.
        units: the units.

    Returns:
        All units, int64 (units,).
    """
    known = np.zeros((1, units.count), dtype=bool)
    order: list[int] = []
    mean = logits.mean(axis=0)
    while len(order) < units.count:
        scores = logits[len(order)] if len(order) < len(logits) else mean
        scores = np.where(known[0], -np.inf, scores - np.log(units.ratio_prices(known)[0]))
        order.append(int(scores.argmax()))
        known[0, order[-1]] = True
    return np.array(order, dtype=np.int64)
