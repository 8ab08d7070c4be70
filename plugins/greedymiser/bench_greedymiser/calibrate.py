"""From scores to class probabilities: Platt's sigmoid on the validation part, or the loss's own link.

NOTES for GM*: "class probabilities for the reject option from a sigmoid calibration on validation (Platt);
multi-class by one-vs-rest, normalised".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_greedymiser.losses import expit, softmax

__all__ = ["Clipped", "Link", "Odds", "Platt", "Soft", "fit_platt"]

Floats = NDArray[np.float64]


class Link(ABC):
    """Scores (rows, outputs) → probabilities (rows, classes); each row by itself."""

    @abstractmethod
    def probabilities(self, scores: Floats) -> Floats:
        """Float64 (rows, classes), each row summing to 1."""


def _normalised(table: Floats) -> Floats:
    """Rows divided by their sum; equal shares where the sum is 0."""
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / table.shape[1])


class Odds(Link):
    """The score is the log-odds of the second of two classes."""

    def probabilities(self, scores: Floats) -> Floats:
        second = expit(scores[:, 0])
        return np.column_stack([1 - second, second])


class Soft(Link):
    """The scores are logarithms of the classes' weights."""

    def probabilities(self, scores: Floats) -> Floats:
        return softmax(scores)


class Clipped(Link):
    """Least-squares scores of 0/1 targets, clipped to [0, 1] (and normalised when there are many)."""

    def probabilities(self, scores: Floats) -> Floats:
        clipped = np.clip(scores, 0.0, 1.0)
        if clipped.shape[1] == 1:
            return np.column_stack([1 - clipped[:, 0], clipped[:, 0]])
        return _normalised(clipped)


@dataclass(frozen=True, eq=False)
class Platt(Link):
    """σ(slope · score + shift) of each output; one-vs-rest and normalised when there are several.

    Attributes:
        slope, shift: float64 (outputs,).
    """

    slope: Floats
    shift: Floats

    def probabilities(self, scores: Floats) -> Floats:
        table = expit(scores * self.slope + self.shift)
        if table.shape[1] == 1:
            return np.column_stack([1 - table[:, 0], table[:, 0]])
        return _normalised(table)


def fit_platt(scores: Floats, y: NDArray[np.int64]) -> Platt:
    """Fit a sigmoid per output by maximum likelihood on Platt's smoothed targets.

    Args:
        scores: float64 (rows, outputs), of rows that the trees were not grown on.
        y: int64 class codes (rows,).

    Source: Platt, Probabilistic outputs for support vector machines (1999): with n₊ and n₋ rows the targets are
    (n₊ + 1) / (n₊ + 2) and 1 / (n₋ + 2), which keeps the fit finite for separable scores and for a missing class.
    """
    outputs = scores.shape[1]
    slope, shift = np.zeros(outputs), np.zeros(outputs)
    for output in range(outputs):
        is_it = y == (1 if outputs == 1 else output)
        slope[output], shift[output] = _sigmoid(scores[:, output], is_it)
    return Platt(slope, shift)


def _sigmoid(score: Floats, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and shift by Newton's method with step halving, on standardised scores."""
    n, n_positive = len(score), int(positive.sum())
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n - n_positive + 2))
    centre, spread = float(score.mean()), float(score.std())
    if not spread > 1e-12 * max(1.0, abs(centre)):
        share = float(target.mean())
        return 0.0, float(np.log(share / (1 - share)))
    x = (score - centre) / spread
    a, b = 0.0, float(np.log(target.mean() / (1 - target.mean())))

    def cost(a: float, b: float) -> float:
        z = a * x + b
        return float((np.logaddexp(0.0, z) - target * z).sum())

    now = cost(a, b)
    for _ in range(100):
        p = expit(a * x + b)
        error, weight = p - target, p * (1 - p)
        gradient = np.array([float((error * x).sum()), float(error.sum())])
        if np.abs(gradient).max() <= 1e-9 * n:
            break
        cross = float((weight * x).sum())
        hessian = np.array([[float((weight * x * x).sum()), cross], [cross, float(weight.sum())]])
        da, db = np.linalg.solve(hessian + 1e-10 * np.eye(2), gradient)
        step = 1.0
        while step > 1e-10 and not cost(a - step * da, b - step * db) < now:
            step /= 2
        if step <= 1e-10:
            break
        a, b = a - step * da, b - step * db
        now = cost(a, b)
    return a / spread, b - a * centre / spread
