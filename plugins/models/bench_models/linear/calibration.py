"""From scores to probabilities: Platt's sigmoid; one-vs-rest for several classes.

scikit-learn's `CalibratedClassifierCV` has no public function on scores. Its sigmoid is fitted by L-BFGS on products
whose last bits depend on the BLAS kernel, and the probability may fall as the score rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Platt", "combine", "fit_platt"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Platt:
    """``P(positive) = 1 / (1 + exp(−(slope · score + shift)))``."""

    slope: float
    shift: float

    def __call__(self, scores: Floats) -> Floats:
        """P(positive) of each score: float64 (rows,)."""
        u = np.clip(self.slope * scores + self.shift, -500.0, 500.0)
        return np.asarray(1.0 / (1.0 + np.exp(-u)))


def fit_platt(scores: Floats, positive: NDArray[np.bool_], rounds: int = 100) -> Platt:
    """Platt's sigmoid by Newton's method, with his smoothed targets; the slope is never below 0.

    Targets are (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), so a fit exists even for one class or without rows. ``scores`` is
    float64 (rows,), ``positive`` bool (rows,).
    """
    up, down = int(positive.sum()), int((~positive).sum())
    target = np.where(positive, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
    shift = float(np.log((up + 1.0) / (down + 1.0)))
    spread = float(scores.std()) if len(scores) else 0.0
    if spread <= 1e-12:
        return Platt(0.0, shift)
    middle = float(scores.mean())
    z = (scores - middle) / spread
    a, b = 0.0, shift

    def loss(a: float, b: float) -> float:
        u = a * z + b
        return float((np.logaddexp(0.0, u) - target * u).sum())

    value = loss(a, b)
    for _ in range(rounds):
        p = 1.0 / (1.0 + np.exp(-np.clip(a * z + b, -500, 500)))
        miss, curve = p - target, p * (1 - p) + 1e-12
        ga, gb = float(miss @ z), float(miss.sum())
        haa, hab, hbb = float(curve @ (z * z)), float(curve @ z), float(curve.sum())
        det = haa * hbb - hab * hab
        if max(abs(ga), abs(gb)) < 1e-9 or det <= 0:
            break
        da, db = -(hbb * ga - hab * gb) / det, -(haa * gb - hab * ga) / det
        step = 1.0
        while step > 1e-8 and loss(a + step * da, b + step * db) > value:
            step /= 2
        a, b = a + step * da, b + step * db
        value = loss(a, b)
    if a < 0:
        return Platt(0.0, shift)
    return Platt(a / spread, b - a * middle / spread)


def combine(columns: list[Floats], present: list[int], n_classes: int) -> Floats:
    """One-vs-rest probabilities, normalised; a class that is not ``present`` gets 0.

    Args:
        columns: P(class) of each present class, float64 (rows,).
        present: class codes.
        n_classes: number of classes.

    Returns:
        float64 (rows, classes).
    """
    rows = len(columns[0])
    table = np.zeros((rows, n_classes))
    if len(present) == 1:
        table[:, present[0]] = 1.0
    elif len(present) == 2 and len(columns) == 1:
        table[:, present[1]] = columns[0]
        table[:, present[0]] = 1.0 - columns[0]
    else:
        for code, column in zip(present, columns, strict=True):
            table[:, code] = column
        sums = table.sum(axis=1)
        table[:, present] = np.where(sums[:, None] > 0, table[:, present], 1.0 / len(present))
        table /= table.sum(axis=1, keepdims=True)
    return table
